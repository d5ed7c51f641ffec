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

const SWATCH = 16;

// What the page says beside a panel's title: colours and names, in as many rows as they need.
function legendOf(chart, { font, ink, width, top }) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `12px ${font}`;
  const parts = [];
  let [x, y] = [12, top];
  for (const { places, shown, button } of chart.entries) {
    if (button.hidden || !chart.isShown(places)) continue;
    const wide = SWATCH + 6 + pen.measureText(shown.text).width;
    if (x > 12 && x + wide > width - 12) [x, y] = [12, y + 16];
    parts.push(drawn("line", { x1: x, x2: x + SWATCH, y1: y - 4, y2: y - 4, stroke: getComputedStyle(button.querySelector(".swatch")).backgroundColor, "stroke-width": 3 }));
    parts.push(drawn("text", { x: x + SWATCH + 6, y, "font-size": 12, "font-family": font, fill: ink }, labelRuns(shown)));
    x += wide + 18;
  }
  return { parts, bottom: y };
}

// All panels under one another in one picture, with their titles; `note` says what is dashed.
function pictureOf(charts, title, note) {
  const paper = getComputedStyle(document.documentElement).getPropertyValue("--figure").trim();
  const head = getComputedStyle(charts[0].node.querySelector("h3"));
  const width = Math.max(...charts.map(({ frame }) => frame.outer)) + 24;
  const write = (y, size, words, weight = 600) => drawn("text", { x: 12, y, "font-size": size, "font-family": head.fontFamily, fill: head.color, "font-weight": weight }, words);
  const parts = [write(28, 17, title)];
  let y = 44;
  if (note) {
    parts.push(write(48, 12, note, 400));
    y += 20;
  }
  for (const chart of charts) {
    const name = chart.panel.title;
    parts.push(write(y + 16, 14, name.charAt(0).toUpperCase() + name.slice(1)));
    const legend = legendOf(chart, { font: head.fontFamily, ink: head.color, width, top: y + 36 });
    const plot = aloneSvg(chart.svg);
    plot.setAttribute("x", 12);
    plot.setAttribute("y", legend.bottom + 8);
    plot.setAttribute("width", chart.frame.outer);
    parts.push(...legend.parts, plot);
    y = legend.bottom + chart.frame.tall + 22;
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
