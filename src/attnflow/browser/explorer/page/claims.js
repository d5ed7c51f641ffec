// The paper's claims: recorded verdicts, and beside them what this run says.

const CHIPS = { holds: "holds", fails: "fails", inconclusive: "inconclusive", unchecked: "unchecked" };
const HERE = { holds: "so in this run", fails: "not so in this run", inconclusive: "not decided" };

class ClaimTable {
  // `open(changes)`: go to the setting of a cell of a validity map.
  constructor(place, experiment, open) {
    this.cells = new Map();
    this.maps = [];
    const live = experiment.claims.filter((claim) => claim.live);
    const mapped = experiment.claims.filter((claim) => !claim.live && claim.map);
    const rest = experiment.claims.filter((claim) => !claim.live && !claim.map);
    const row = (claim) => this.row(claim, experiment, open);
    const parts = [];
    if (live.length) parts.push(this.table(live.map(row), "With comparisons that this page makes in its own run"));
    if (mapped.length) parts.push(this.table(mapped.map(row), "With a validity map"));
    if (rest.length) {
      parts.push(element("details", {}, element("summary", {}, restText(rest.length, parts.length > 0)), this.table(rest.map(row), "")));
    }
    place.replaceChildren(...parts);
  }

  table(rows, caption) {
    return element("div", { class: "scroll" }, element("table", { class: "claims" },
      caption ? element("caption", { class: "above" }, caption) : null,
      element("thead", {}, element("tr", {}, ["claim", "statement", "recorded verdict", "compared in this run"].map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, rows)));
  }

  row(claim, experiment, open) {
    const here = element("td", { "data-label": "compared in this run" }, element("span", { class: "fine" }, claim.live ? "…" : "nothing: the recorded verdict alone"));
    const scope = element("span", { class: "fine place" });
    this.cells.set(claim.id, { claim, here, scope });
    const map = claim.map ? new FieldMap(claim.map, experiment, open) : null;
    if (map) this.maps.push(map);
    return element("tr", { "data-claim": claim.id },
      element("td", {}, element("span", { class: "id" }, claim.id), element("span", { class: "fine place" }, claim.place)),
      element("td", { class: "prose" },
        element("p", { html: claim.statementHtml }),
        claim.correctedHtml ? element("p", { class: "correction fine", html: claim.correctedHtml }) : null,
        map ? element("details", { class: "validity" }, element("summary", {}, "Validity map"), map.node) : null),
      element("td", { "data-label": "recorded verdict" }, chip(claim.verdict, claim.reading ?? CHIPS[claim.verdict] ?? "not judged"), scope),
      here);
  }

  // `stages` have the names that a verdict's words may speak of.
  show(verdicts, setting, stages, conditions) {
    const byId = new Map(verdicts.map((verdict) => [verdict.id, verdict]));
    for (const [id, { claim, here, scope }] of this.cells) {
      scope.textContent = assumedText(claim, conditions);
      if (!claim.live) continue;
      const verdict = byId.get(id);
      if (!verdict) here.replaceChildren(element("span", { class: "fine" }, "nothing at this setting"));
      else here.replaceChildren(...verdict.parts.map((part) => comparison(part, stages)), element("span", { class: "fine place" }, shareText(verdict)));
    }
    for (const map of this.maps) map.show(setting);
  }
}

function restText(count, isMore) {
  const more = isMore ? " more" : "";
  if (count === 1) return `One${more} claim of this paper, judged over runs of its own`;
  return `${count}${more} claims of this paper, judged over runs of their own`;
}

function comparison({ verdict, text }, stages) {
  return element("div", { class: "comparison" }, chip(verdict, HERE[verdict]), element("span", { class: "fine place", html: withStages(text, stages) }));
}

// How much of the claim's predicate that is.
function shareText({ compared, of }) {
  if (compared === of) return "The whole predicate, in one run of this setting.";
  return `${compared} of ${of} parts of the predicate; the others are judged in Python alone.`;
}

// Words with names of stages and powers of ten typeset; all else is escaped.
function withStages(words, stages) {
  const safe = element("span", {}, words).innerHTML.replace(/\b\d[\d.]*e[-+]\d+/g, (number) => numberText(Number(number)));
  const plain = (name) => name.replace(/[^\w]/g, "\\$&");
  return stages.reduce((text, { name, shown }) => text.replace(new RegExp(`\\b${plain(name)}\\b`, "g"), () => shown.html), safe);
}

function chip(verdict, words) {
  const mark = { holds: "✓", fails: "✗" }[verdict] ?? "?";
  return element("span", { class: `chip ${verdict ?? ""}` }, `${mark} ${words}`);
}
