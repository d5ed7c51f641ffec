// The stage table: what the paper's formula gives beside what this run shows.

class StageTable {
  constructor(place) {
    this.place = place;
  }

  // `stages` with name, meaning, detected, formula, note; `others` of the run beside it.
  show(stages, others, clock) {
    this.place.hidden = stages.length === 0;
    if (!stages.length) return;
    const besides = others ? new Map(others.map((stage) => [stage.name, stage])) : null;
    const rows = stages.map((stage) => {
      const beside = besides?.get(stage.name);
      return element("tr", {},
        element("th", { scope: "row" }, element("span", { html: stage.shown.html })),
        element("td", { class: "prose", html: stage.meaningHtml }),
        element("td", { class: "num", "data-label": "formula" }, stage.formula === null && stage.why ? element("span", { class: "fine" }, stage.why) : numberText(stage.formula), stage.formulaHtml ? element("span", { class: "fine formula-text", html: stage.formulaHtml }) : null),
        element("td", { class: "num", "data-label": "detected" }, stage.detected === null ? element("span", { class: "fine" }, stage.note) : numberText(stage.detected, 5)),
        besides ? element("td", { class: "num", "data-label": "compared" }, beside ? numberText(beside.detected, 5) : "–") : null,
        element("td", { class: "num", "data-label": "ratio" }, ratioText(stage)));
    });
    const heads = ["stage ends", "when", "formula", "detected", ...(besides ? ["compared"] : []), "detected ÷ formula"];
    this.place.replaceChildren(element("table", { class: "stages" },
      element("caption", {}, `Times in ${clock.unit === "step" ? "steps" : "training time"}. A solid line in the panels is a detected time, a dotted one the paper's formula.`),
      element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, rows)));
  }
}

function ratioText({ detected, formula }) {
  if (detected === null || formula === null || !(formula > 0)) return "–";
  return (detected / formula).toFixed(3);
}
