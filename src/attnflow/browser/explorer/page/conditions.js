// Conditions of the paper's theorems at the current setting, and by how much they are met.

const conditionName = (item) => element("th", { scope: "row", html: item.nameHtml });

function conditionRow(item) {
  return element("tr", {},
    conditionName(item),
    element("td", { class: "prose" }, element("span", { html: item.whatHtml }), item.reading ? element("span", { class: "fine place" }, item.reading) : null),
    element("td", { class: "num" }, numberText(item.value)),
    element("td", { class: "num" }, allowedText(item)),
    element("td", {}, chip({ true: "holds", false: "fails" }[item.met], metText(item))));
}

function allowedText({ least, most, strict }) {
  if (least !== null && least === most) return `= ${Number.isFinite(least) ? numberText(least) : "∞"}`;
  const [above, below] = strict ? [">", "<"] : ["≥", "≤"];
  const ends = [least === null || least === -Infinity ? "" : `${above} ${numberText(least)}`, most === null || most === Infinity ? "" : `${below} ${numberText(most)}`];
  return ends.filter(Boolean).join(", ") || "–";
}

function metText({ met, slack }) {
  if (met === null) return "no number decides";
  const factor = slack !== null && Number.isFinite(slack) && slack > 0 ? (met ? slack : 1 / slack) : null;
  if (factor !== null && Math.abs(factor - 1) < 0.005) return met ? "met, on the border" : "not met, on the border";
  if (met) return factor === null ? "met" : `met by a factor of ${numberText(factor, 3)}`;
  return factor === null ? "not met" : `missed by a factor of ${numberText(factor, 3)}`;
}

// As HTML, for names that are typeset.
function conditionCount(items) {
  const decided = items.filter(({ met }) => met !== null);
  const missed = decided.filter(({ met }) => !met);
  const others = items.length - decided.length;
  const rest = others ? `; ${others} that no number decides` : "";
  const words = missed.length ? ` Missed: ${missed.map((item) => `${item.nameHtml} (${metText(item)})`).join(", ")}.` : "";
  return `${decided.length - missed.length} of ${decided.length} met${rest}.${words}`;
}

// The conditions that a claim assumes, in a few words; none where it assumes none.
function assumedText(claim, items) {
  const own = items.filter(({ name }) => claim.under.includes(name));
  if (!own.length) return "";
  const missed = own.filter(({ met }) => met === false);
  return missed.length ? `here its conditions are missed: ${missed.map((item) => item.name).join(", ")}` : "here its conditions are met, as far as numbers decide them";
}
