// Attention and scores as maps at one time, with choices for heads, samples and the like.

const CELL = { least: 9, most: 46 };
const MARK = 30; // px from which a cell has room for its number

function ramp(stops, share) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const n = Math.min(Math.floor(place), stops.length - 2);
  const mixed = stops[n].map((part, i) => part + (stops[n + 1][i] - part) * (place - n));
  return { fill: `rgb(${mixed.map(Math.round).join(" ")})`, isDark: mixed[0] * 0.3 + mixed[1] * 0.59 + mixed[2] * 0.11 < 140 };
}

class HeatMaps {
  // `spec`: observable and dims; `ramps`: stops of colours, by theme.
  constructor(place, spec, ramps) {
    this.spec = spec;
    this.ramps = ramps;
    this.choices = {};
    this.controls = element("div", { class: "map-choices" });
    this.maps = element("div", { class: "maps" });
    this.note = element("p", { class: "fine" });
    place.replaceChildren(this.controls, this.maps, this.note);
  }

  get stops() {
    const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    return this.ramps[theme];
  }

  // Lays out maps for the shape of a run: the last two dims are the sides of a map, one
  // short dim before them is laid side by side, the others are lists to choose from.
  prepare(run) {
    const { observable } = this.spec;
    const shape = run.shapes[observable];
    const key = JSON.stringify([shape, run.labels]);
    if (this.key === key) return;
    this.key = key;
    this.shape = shape;
    this.dims = run.dims[observable];
    this.known = run.labels;
    const outer = this.dims.slice(0, -2);
    this.beside = outer.findIndex((_, n) => shape[n] <= 4 && outer[n] === "head");
    if (this.beside < 0) this.beside = outer.findIndex((_, n) => shape[n] <= 4);
    this.choices = Object.fromEntries(outer.map((dim, n) => [dim, Math.min(this.choices[dim] ?? 0, shape[n] - 1)]));
    this.controls.replaceChildren(...outer.flatMap((dim, n) => (n === this.beside || shape[n] === 1 ? [] : [this.list(dim, n)])));
    this.build();
  }

  // Positions of a sample are named by its tokens, where its name lists them.
  labelsOf(n) {
    const dim = this.dims[n];
    if (this.known[dim]) return this.known[dim].map(String);
    const tokens = dim.endsWith("position") ? this.known.sample?.[this.choices.sample]?.split(" ") : null;
    return tokens?.length === this.shape[n] ? tokens : Array.from({ length: this.shape[n] }, (_, i) => String(i + 1));
  }

  list(dim, n) {
    const options = this.labelsOf(n).map((label, place) => element("option", { value: place, selected: place === this.choices[dim] }, label));
    const id = `map-${dim}`;
    const select = element("select", { id, change: () => { this.choices[dim] = Number(select.value); this.build(); this.paint(); } }, options);
    return element("span", { class: "inline-choice" }, element("label", { for: id }, dim), select);
  }

  build() {
    const [rows, columns] = this.shape.slice(-2);
    const count = this.beside < 0 ? 1 : this.shape[this.beside];
    const room = Math.min(330, this.maps.clientWidth || 330) / Math.min(count, 2) - 50;
    const side = Math.min(CELL.most, Math.max(CELL.least, Math.floor(room / Math.max(rows, columns))));
    this.sideLabels = [this.labelsOf(this.dims.length - 2), this.labelsOf(this.dims.length - 1)];
    this.figures = Array.from({ length: count }, (_, n) => this.figure(n, rows, columns, side));
    this.maps.replaceChildren(...this.figures.map(({ node }) => node));
  }

  figure(n, rows, columns, side) {
    const [rowLabels, columnLabels] = this.sideLabels;
    const [rowDim, columnDim] = this.dims.slice(-2);
    const longest = Math.max(...rowLabels.map((label) => label.length));
    const left = 22 + 7 * Math.min(longest, 10);
    const cells = [];
    const marks = [];
    for (let i = 0; i < rows; i += 1) {
      for (let j = 0; j < columns; j += 1) {
        cells.push(drawn("rect", { x: left + j * side, y: 20 + i * side, width: side - 1, height: side - 1 }));
        if (side >= MARK) marks.push(drawn("text", { x: left + (j + 0.5) * side, y: 24 + (i + 0.5) * side, "text-anchor": "middle" }));
      }
    }
    const every = side < 13 ? Math.ceil(13 / side) : 1;
    const names = [
      ...rowLabels.map((label, i) => (i % every ? null : drawn("text", { x: left - 6, y: 24 + (i + 0.5) * side, "text-anchor": "end" }, label))),
      ...columnLabels.map((label, j) => (j % every || (label.length * 6.5 > side * every && columns > 4 && j % 2) ? null
        : drawn("text", { x: left + (j + 0.5) * side, y: 14, "text-anchor": "middle" }, label))),
    ].filter(Boolean);
    const width = left + columns * side + 4;
    const height = 20 + rows * side + 18;
    const svg = drawn("svg", { role: "img", width, height, viewBox: `0 0 ${width} ${height}`, class: "heatmap" },
      drawn("g", { class: "map-names" }, names,
        drawn("text", { class: "axis-name", x: left + columns * side, y: height - 4, "text-anchor": "end" }, columnDim.replace("_position", "")),
        drawn("text", { class: "axis-name", transform: `translate(11 ${20 + rows * side}) rotate(-90)` }, rowDim.replace("_position", ""))),
      cells, drawn("g", { class: "map-marks" }, marks));
    const title = this.beside < 0 ? "" : `${this.dims[this.beside]} ${this.labelsOf(this.beside)[n]}`;
    return { cells, marks, svg, title, node: element("figure", { class: "map" }, element("figcaption", {}, title), svg) };
  }

  // Shows the maps of a record; scores have a sign, attention has none.
  show(run, record, timeText) {
    if (!run.rows[this.spec.observable] || run.count === 0) return;
    this.prepare(run);
    this.latest = [run, record, timeText];
    this.paint();
  }

  paint() {
    const [run, record, timeText] = this.latest;
    const size = this.shape.reduce((all, side) => all * side, 1);
    const values = run.rows[this.spec.observable].subarray(record * size, (record + 1) * size);
    const { largest, isSigned } = this.extent(run);
    const stops = isSigned ? this.stops.signed : this.stops.mass;
    this.figures.forEach((figure, n) => {
      const start = this.offset(n);
      figure.cells.forEach((cell, place) => {
        const value = values[start + place];
        const share = isSigned ? 0.5 + value / (2 * largest) : value / largest;
        const { fill, isDark } = Number.isNaN(value) ? { fill: "none", isDark: false } : ramp(stops, share);
        cell.setAttribute("fill", fill);
        const mark = figure.marks[place];
        if (!mark) return;
        mark.textContent = Number.isNaN(value) ? "" : shortText(value);
        mark.setAttribute("fill", isDark ? "#fff" : "#16181c");
      });
      figure.svg.setAttribute("aria-label", this.describe(figure, values.subarray(start, start + figure.cells.length), timeText));
    });
    this.note.textContent = `At ${timeText}; the darkest colour is ${numberText(largest, 3)}${isSigned ? " in size" : ""}.`;
  }

  // Colours mean the same at all times: their scale is that of the whole run.
  extent(run) {
    if (this.extentOf === run && this.extentCount === run.count) return this.range;
    let [low, high] = [0, 0];
    for (const value of run.rows[this.spec.observable]) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    this.extentOf = run;
    this.extentCount = run.count;
    this.range = { largest: Math.max(high, -low) || 1, isSigned: low < -1e-12 };
    return this.range;
  }

  offset(n) {
    let start = 0;
    this.dims.slice(0, -2).forEach((dim, place) => { start = start * this.shape[place] + (place === this.beside ? n : this.choices[dim]); });
    return start * this.shape.at(-2) * this.shape.at(-1);
  }

  describe({ title }, values, timeText) {
    const [rowLabels, columnLabels] = this.sideLabels;
    let best = 0;
    values.forEach((value, n) => { if (value > values[best]) best = n; });
    const [i, j] = [Math.floor(best / columnLabels.length), best % columnLabels.length];
    const [rowDim, columnDim] = this.dims.slice(-2);
    return `${this.spec.observable} ${title} at ${timeText}: largest ${numberText(values[best])} at ${rowDim} ${rowLabels[i]}, ${columnDim} ${columnLabels[j]}.`;
  }
}

function shortText(value) {
  const size = Math.abs(value);
  if (size < 0.005) return "0";
  return (size < 10 ? value.toFixed(2) : value.toPrecision(2)).replace("-", "−").replace(/^(−?)0\./, "$1.");
}
