// Attention and scores as maps at one time, with choices for heads, samples and the like.

const CELL = 46; // px at most
const MARK = 30; // px from which a cell has room for its number
const LETTER = 6.5;
const LONG = 60; // cells of a single row from which it is drawn as a profile
const LEGIBLE = 0.05; // two digits after the point say nothing of smaller numbers

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
    this.figureCount = count;
    this.sideLabels = [this.labelsOf(this.dims.length - 2), this.labelsOf(this.dims.length - 1)];
    const longest = Math.max(...this.sideLabels[0].map((label) => label.length));
    const left = 28 + LETTER * Math.min(longest, 14);
    const whole = Math.min(350, this.maps.clientWidth || 350);
    const room = (columns <= 6 ? whole / Math.min(count, 2) - 12 : whole) - left - 4;
    const width = Math.min(CELL, room / columns);
    const height = Math.min(CELL, Math.max(width, Math.min(CELL, 300 / rows)));
    this.isProfile = Math.min(rows, columns) === 1 && Math.max(rows, columns) > LONG;
    this.figures = Array.from({ length: count }, (_, n) => (this.isProfile ? this.profile(n, whole) : this.figure(n, { rows, columns, left, width, height })));
    this.maps.replaceChildren(...this.figures.map(({ node }) => node));
  }

  figure(n, { rows, columns, left, width, height }) {
    const [rowDim, columnDim] = this.dims.slice(-2).map((dim) => dim.replace("_position", ""));
    const [cells, marks] = [[], []];
    const gap = Math.min(width, height) > 6 ? 1 : 0;
    for (let i = 0; i < rows; i += 1) {
      for (let j = 0; j < columns; j += 1) {
        cells.push(drawn("rect", { x: left + j * width, y: 20 + i * height, width: width - gap, height: height - gap }));
        if (width >= MARK && height >= MARK / 2) marks.push(drawn("text", { x: left + (j + 0.5) * width, y: 24 + (i + 0.5) * height, "text-anchor": "middle" }));
      }
    }
    const [right, bottom] = [left + columns * width, 20 + rows * height];
    const svg = drawn("svg", { role: "img", width: right + 4, height: bottom + 18, viewBox: `0 0 ${right + 4} ${bottom + 18}`, class: "heatmap" },
      drawn("g", { class: "map-names" }, this.sideNames(left, width, height),
        drawn("text", { class: "axis-name", x: right, y: bottom + 14, "text-anchor": "end" }, columnDim),
        drawn("text", { class: "axis-name", transform: `translate(11 ${bottom}) rotate(-90)` }, rowDim)),
      cells, drawn("g", { class: "map-marks" }, marks));
    return { cells, marks, ...this.framed(n, svg) };
  }

  // The only row or column of a map as a plot of its values, from its first entry to its
  // last: hundreds of cells could not be told apart.
  profile(n, whole) {
    const [left, top, width, height] = [58, 10, whole - 66, 170];
    const long = this.sideLabels[0].length === 1 ? 1 : 0;
    const labels = this.sideLabels[long];
    const x = linearScale(1, labels.length);
    const at = (place) => left + x.place(place) * width;
    const names = x.ticks(4).filter(({ value }) => Number.isInteger(value) && value > 0);
    const axis = drawn("g", { class: "axes" });
    const line = drawn("path", { class: "curve", stroke: "var(--signal)" });
    const svg = drawn("svg", { role: "img", width: whole, height: top + height + 36, viewBox: `0 0 ${whole} ${top + height + 36}`, class: "heatmap profile" },
      axis, line,
      drawn("g", { class: "map-names" },
        names.map(({ value, label }) => drawn("text", { x: at(value), y: top + height + 16, "text-anchor": "middle" }, label)),
        drawn("text", { class: "axis-name", x: left + width, y: top + height + 32, "text-anchor": "end" }, `${this.dims.at(long - 2).replace("_position", "")}, from ${labels[0]} to ${labels.at(-1)}`)));
    const paint = (values, { low, high }) => {
      const y = scaleFor("linear", [[low, high]]);
      const py = (value) => top + (1 - y.place(value)) * height;
      axis.replaceChildren(...y.ticks(4).flatMap(({ value, label }) => [
        drawn("line", { class: "grid", x1: left, x2: left + width, y1: py(value), y2: py(value) }),
        drawn("text", { x: left - 8, y: py(value) + 4, "text-anchor": "end" }, label),
      ]));
      const points = Array.from(values, (value, place) => `${at(place + 1).toFixed(1)} ${py(value).toFixed(1)}`).filter((_, place) => Number.isFinite(values[place]));
      line.setAttribute("d", points.length ? `M${points.join("L")}` : "");
    };
    return { paint, ...this.framed(n, svg) };
  }

  framed(n, svg) {
    const title = this.figureCount < 2 ? "" : `${this.dims[this.beside]} ${this.labelsOf(this.beside)[n]}`;
    return { svg, title, node: element("figure", { class: "map" }, element("figcaption", {}, title), svg) };
  }

  // A label as `render` has typeset it.
  name(label) {
    return labelRuns(this.spec.words[label] ?? { text: label });
  }

  // Labels of rows and columns, as many as have room.
  sideNames(left, width, height) {
    const [rowLabels, columnLabels] = this.sideLabels;
    const every = Math.ceil(13 / height);
    const widest = Math.max(...columnLabels.map((label) => label.length)) * LETTER + 6;
    const each = Math.ceil(widest / width);
    const rows = rowLabels.flatMap((label, i) => (i % every ? [] : [drawn("text", { x: left - 6, y: 24 + (i + 0.5) * height, "text-anchor": "end" }, this.name(label))]));
    const columns = columnLabels.flatMap((label, j) => {
      if (j % each || (each > 1 && j + each > columnLabels.length)) return [];
      return [drawn("text", { x: left + (each > 1 ? j : j + 0.5) * width, y: 14, "text-anchor": each > 1 ? "start" : "middle" }, this.name(label))];
    });
    return [...rows, ...columns];
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
    const extent = this.extent(run);
    const { largest, isSigned } = extent;
    const stops = isSigned ? this.stops.signed : this.stops.mass;
    this.figures.forEach((figure, n) => {
      const start = this.offset(n);
      const own = values.subarray(start, start + this.shape.at(-2) * this.shape.at(-1));
      figure.svg.setAttribute("aria-label", this.describe(figure, own, timeText));
      figure.paint?.(own, extent);
      figure.cells?.forEach((cell, place) => {
        const value = own[place];
        const share = isSigned ? 0.5 + value / (2 * largest) : value / largest;
        const { fill, isDark } = Number.isNaN(value) ? { fill: "none", isDark: false } : ramp(stops, share);
        cell.setAttribute("fill", fill);
        const mark = figure.marks[place];
        if (!mark) return;
        mark.textContent = Number.isNaN(value) || largest < LEGIBLE ? "" : shortText(value);
        mark.setAttribute("fill", isDark ? "#fff" : "#16181c");
      });
    });
    const [from, to] = this.isProfile ? [extent.low, extent.high] : [isSigned ? -largest : 0, largest];
    this.note.textContent = `At ${timeText}; ${this.isProfile ? "over the whole run" : "colours"} from ${numberText(from, 3)} to ${numberText(to, 3)}.`;
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
    this.range = { low, high, largest: Math.max(high, -low) || 1, isSigned: low < -1e-12 };
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
  return (size < 0.995 ? value.toFixed(2) : value.toPrecision(2)).replace("-", "−").replace(/^(−?)0\./, "$1.");
}
