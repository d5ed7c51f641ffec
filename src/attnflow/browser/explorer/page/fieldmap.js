// A map over two knobs from a stored sweep: the point of this setting on it, and a click
// on a cell opens that cell's setting.

class FieldMap {
  constructor(map, experiment, open) {
    this.map = map;
    this.knobs = [map.x, map.y].map((name) => experiment.knobs.find((knob) => knob.name === name) ?? { name, scale: "linear", shown: { text: name, html: name, runs: null } });
    this.open = open;
    this.readout = element("p", { class: "fine readout", "aria-hidden": "true" }); // a cell's own name says it
    this.svg = this.draw();
    this.node = element("figure", { class: "field" }, map.shown ? element("figcaption", { html: map.shown.html }) : null, this.svg, this.legend(), this.readout);
  }

  get range() {
    const known = this.map.values.flat().filter((value) => value !== null);
    return [Math.min(0, ...known), Math.max(...known, Math.min(0, ...known) + 1e-12)];
  }

  draw() {
    const { xs, ys, values } = this.map;
    const [left, top, width, height] = [62, 8, 330, 240];
    const [columns, rows] = [xs.length, ys.length];
    this.frame = { left, top, width, height, columns, rows };
    const [low, high] = this.range;
    const cells = ys.flatMap((y, i) => xs.map((x, j) => {
      const value = values[i][j];
      const share = value === null ? 0 : (value - low) / (high - low);
      const cell = drawn("rect", {
        x: left + (j * width) / columns, y: top + ((rows - 1 - i) * height) / rows, width: width / columns + 0.4, height: height / rows + 0.4,
        class: value === null ? "unknown" : "cell", "fill-opacity": value === null ? null : (0.06 + 0.94 * share).toFixed(3),
        role: "button", tabindex: i === 0 && j === 0 ? 0 : -1,
        "aria-label": `${this.knobs[0].shown.text} ${numberText(x)}, ${this.knobs[1].shown.text} ${numberText(y)}: ${numberText(value, 3)}. Open this setting`,
        click: () => this.go(i, j),
        keydown: (event) => this.key(event, i, j),
        pointerenter: () => this.say(i, j),
        focus: () => this.say(i, j),
      });
      return cell;
    }));
    this.cells = cells;
    this.point = drawn("circle", { class: "point", r: 5.5, cx: -99, cy: -99 });
    const every = (count, room) => Math.max(1, Math.ceil(count / room));
    const names = [
      ...xs.map((x, j) => (j % every(columns, 5) ? null : drawn("text", { x: left + ((j + 0.5) * width) / columns, y: top + height + 15, "text-anchor": "middle" }, numberText(x, 2)))),
      ...ys.map((y, i) => (i % every(rows, 7) ? null : drawn("text", { x: left - 6, y: top + ((rows - 0.5 - i) * height) / rows + 4, "text-anchor": "end" }, numberText(y, 2)))),
      drawn("text", { class: "axis-name", x: left + width, y: top + height + 31, "text-anchor": "end" }, labelRuns(this.knobs[0].shown)),
      drawn("text", { class: "axis-name", transform: `translate(12 ${top}) rotate(-90)`, "text-anchor": "end" }, labelRuns(this.knobs[1].shown)),
    ].filter(Boolean);
    const [full, tall] = [left + width + 12, top + height + 38];
    return drawn("svg", { class: "fieldmap", viewBox: `0 0 ${full} ${tall}`, width: full, height: tall, role: "group", "aria-label": `Map over ${this.knobs[0].shown.text} and ${this.knobs[1].shown.text}` },
      cells, drawn("rect", { class: "frame", x: left, y: top, width, height }), drawn("g", {}, names), this.point);
  }

  legend() {
    const [low, high] = this.range;
    return element("p", { class: "fine map-legend" }, `${this.map.label ?? this.map.title ?? ""}: pale ${numberText(low, 3)}, full ${numberText(high, 3)}; hatched is unknown. Click a cell to open its run.`);
  }

  say(i, j) {
    const { xs, ys, values } = this.map;
    this.readout.textContent = `${this.knobs[0].shown.text} = ${numberText(xs[j])}, ${this.knobs[1].shown.text} = ${numberText(ys[i])}: ${numberText(values[i][j], 3)}`;
  }

  go(i, j) {
    this.open({ ...(this.map.setting ?? {}), [this.map.x]: this.map.xs[j], [this.map.y]: this.map.ys[i] });
  }

  key(event, i, j) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.go(i, j);
    } else if (step) {
      event.preventDefault();
      const { rows, columns } = this.frame;
      const [row, column] = [Math.min(Math.max(i + step[0], 0), rows - 1), Math.min(Math.max(j + step[1], 0), columns - 1)];
      this.cells[i * columns + j].setAttribute("tabindex", -1);
      const next = this.cells[row * columns + column];
      next.setAttribute("tabindex", 0);
      next.focus();
    }
  }

  // The point of a setting; outside of the map there is none.
  show(setting) {
    const { left, top, width, height } = this.frame;
    const x = placeAmong(this.map.xs, setting[this.map.x], this.knobs[0].scale);
    const y = placeAmong(this.map.ys, setting[this.map.y], this.knobs[1].scale);
    const isInside = x !== null && y !== null;
    this.point.setAttribute("cx", isInside ? left + x * width : -99);
    this.point.setAttribute("cy", isInside ? top + (1 - y) * height : -99);
  }
}

// Where a value lies along cells that are centred at `values`, from 0 to 1.
function placeAmong(values, value, scale) {
  const exact = values.indexOf(value);
  if (exact >= 0) return (exact + 0.5) / values.length;
  if (typeof value !== "number") return null;
  const on = (v) => (scale === "log" ? Math.log(v) : v);
  for (let n = 0; n + 1 < values.length; n += 1) {
    const share = (on(value) - on(values[n])) / (on(values[n + 1]) - on(values[n]));
    if (share >= 0 && share <= 1) return (n + 0.5 + share) / values.length;
  }
  return null;
}
