// Files made in the page: CSV of the records, SVG and PNG of the panels.

function save(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Every recorded number: a column for each entry of each observable.
function csvText(run, clock) {
  const columns = [];
  for (const [name, values] of Object.entries(run.rows)) {
    const shape = run.shapes[name];
    const size = shape.reduce((all, side) => all * side, 1);
    for (let entry = 0; entry < size; entry += 1) columns.push({ title: entryName(run, name, shape, entry), values, size, entry });
  }
  const lines = [[clock.unit, ...columns.map(({ title }) => title)].map(quoted).join(",")];
  for (let n = 0; n < run.count; n += 1)
    lines.push([run.times[n], ...columns.map(({ values, size, entry }) => values[n * size + entry])].map((value) => (Number.isNaN(value) ? "" : value)).join(","));
  return `${lines.join("\n")}\n`;
}

function entryName(run, name, shape, entry) {
  if (!shape.length) return name;
  const places = [];
  for (let n = shape.length - 1, rest = entry; n >= 0; n -= 1) {
    places.unshift(run.labels[run.dims[name][n]]?.[rest % shape[n]] ?? rest % shape[n]);
    rest = Math.floor(rest / shape[n]);
  }
  return `${name}[${places.join(",")}]`;
}

function quoted(text) {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const COPIED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-style", "font-weight", "text-anchor"];

// A panel by itself: what the style sheet gives is written into its elements.
function aloneSvg(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((node, n) => {
    const style = getComputedStyle(node);
    for (const name of COPIED) to[n].setAttribute(name, style.getPropertyValue(name));
    to[n].removeAttribute("class");
  });
  copy.querySelectorAll("title").forEach((title) => title.remove());
  return copy;
}

// All panels under one another in one picture, with their titles.
function pictureOf(charts, title) {
  const paper = getComputedStyle(document.documentElement).getPropertyValue("--figure").trim();
  const head = getComputedStyle(charts[0].node.querySelector("h3"));
  const width = Math.max(...charts.map(({ frame }) => frame.outer)) + 24;
  let y = 44;
  const parts = [drawn("text", { x: 12, y: 28, "font-size": 17, "font-family": head.fontFamily, fill: head.color, "font-weight": 600 }, title)];
  for (const chart of charts) {
    const plot = aloneSvg(chart.svg);
    plot.setAttribute("x", 12);
    plot.setAttribute("y", y + 26);
    plot.setAttribute("width", chart.frame.outer);
    parts.push(drawn("text", { x: 12, y: y + 16, "font-size": 14, "font-family": head.fontFamily, fill: head.color, "font-weight": 600 }, chart.panel.title));
    parts.push(plot);
    y += chart.frame.tall + 40;
  }
  const picture = drawn("svg", { width, height: y, viewBox: `0 0 ${width} ${y}` }, drawn("rect", { width, height: y, fill: paper }), parts);
  return { text: `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(picture)}\n`, width, height: y };
}

async function pngOf({ text, width, height }, sharpness = 2) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = element("canvas", { width: width * sharpness, height: height * sharpness });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}
