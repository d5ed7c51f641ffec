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
    } catch {
      formula.replaceChildren(...plain);
    }
  }
}

typeset();
