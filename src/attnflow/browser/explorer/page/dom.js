// Elements of HTML and of SVG from a tag, attributes and children.
// Attributes that are functions listen to the event of their name; `html` is text that
// `render` has escaped and typeset.

const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name === "html") node.innerHTML = value;
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

// A label inside an SVG: runs of text, raised or lowered, as `mathml.runs` gives them.
function labelRuns(label) {
  if (!label.runs) return [label.text];
  let level = 0;
  return label.runs.map((run) => {
    const shift = (level - run.level) * 0.32;
    level = run.level;
    return drawn("tspan", {
      dy: shift ? `${shift}em` : null,
      "font-size": run.level ? "72%" : null,
      "font-style": run.italic ? "italic" : null,
    }, run.text);
  });
}

// What a screen reader and a file say of a label.
function plainLabel(label) {
  return label.text;
}
