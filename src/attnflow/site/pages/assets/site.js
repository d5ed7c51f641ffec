"use strict";

/* Formulas: each carries its TeX; where KaTeX refuses it, the plain form stays. What is
   folded away waits until it is opened: a page has thousands of formulas. */
const FOLDED = "details:not([open]) > :not(summary)";

function typeset(part) {
  for (const formula of part.querySelectorAll(".tex:not([data-set])")) {
    if (formula.closest(FOLDED)) continue;
    const plain = [...formula.childNodes];
    formula.dataset.set = "katex";
    try {
      katex.render(formula.dataset.tex, formula, { strict: "ignore" });
    } catch {
      formula.dataset.set = "plain";
      formula.replaceChildren(...plain);
    }
  }
}

/* Tables: a column's head sorts by it, up and then down; what is empty stays last. */
function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      sortRows(table.tBodies[0], column, up);
    });
  });
}

function sortRows(body, column, up) {
  const keys = new Map([...body.rows].map((row) => [row, keyOf(row.cells[column])]));
  const order = (a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    if (x === "" || y === "") return (x === "") - (y === "");
    const difference = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
    return up ? difference : -difference;
  };
  body.append(...[...body.rows].sort(order));
}

function keyOf(cell) {
  return "key" in cell.dataset ? cell.dataset.key : cell.textContent.trim();
}

/* A link to a claim opens how it was judged. */
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const part = target && target.matches("tr") && target.querySelector("details");
  if (part) part.open = true;
}

/* The graph: what a statement rests on, and what rests on it, however far away. */
function traced(graph, id) {
  const edges = [...graph.querySelectorAll(".edge")].map((edge) => [edge, edge.dataset]);
  const on = new Set([id]);
  for (const [here, there] of [["to", "from"], ["from", "to"]]) {
    const waiting = [id];
    while (waiting.length) {
      const next = waiting.pop();
      for (const [edge, ends] of edges) {
        if (ends[here] !== next || on.has(edge)) continue;
        on.add(edge).add(ends[there]);
        waiting.push(ends[there]);
      }
    }
  }
  return on;
}

function makeTraceable(graph) {
  const parts = [...graph.querySelectorAll(".edge, .node")];
  const show = (node) => {
    const on = node ? traced(graph, node.dataset.id) : new Set();
    graph.classList.toggle("traced", on.size > 1);
    for (const part of parts)
      part.classList.toggle("on", on.has(part) || on.has(part.dataset.id));
  };
  for (const kind of ["pointerover", "focusin"])
    graph.addEventListener(kind, (event) => show(event.target.closest(".node")));
  for (const kind of ["pointerleave", "focusout"])
    graph.addEventListener(kind, () => show(null));
}

document.querySelectorAll("svg.graph").forEach(makeTraceable);
document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
openTarget();
typeset(document);
addEventListener("hashchange", openTarget);
document.addEventListener("toggle", (event) => typeset(event.target), true);
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll(".claims details")) part.open = true;
  typeset(document);
});
