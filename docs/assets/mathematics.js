"use strict";

/* Formulas of pages ($…$ in Markdown) and of the ledger (plain text that carries its TeX).
   Where KaTeX refuses one, the plain form stays. */
function typeset() {
  for (const formula of document.querySelectorAll(".arithmatex, .tex")) {
    const tex = formula.dataset.tex ?? formula.textContent.replace(/^\\[([]|\\[)\]]$/g, "");
    const display = formula.tagName === "DIV";
    const plain = [...formula.childNodes];
    try {
      katex.render(tex, formula, { displayMode: display, strict: "ignore" });
      if (!display) keepTogether(formula);
    } catch {
      formula.replaceChildren(...plain);
    }
  }
}

/* A line may break after a formula, and would leave a comma at the start of the next. */
function keepTogether(formula) {
  const text = formula.nextSibling;
  const box = formula.querySelector(".katex-html")?.lastElementChild;
  if (!box || text?.nodeType !== Node.TEXT_NODE || !/^[,.;:?!)]/.test(text.data)) return;
  box.append(text.data[0]);
  text.data = text.data.slice(1);
}

typeset();
