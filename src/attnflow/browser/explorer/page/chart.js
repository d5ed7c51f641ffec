// One panel: curves over time, stages behind them, a cursor shared with other panels.

const LABEL_GAP = 14;
const WIDE = 520; // px from which names fit beside the ends of curves
const OTHERS = { text: "others", html: "others", runs: null };

class Chart {
  // `on`: hover(time | null), seek(time), rescale(panel, kind).
  constructor(panel, number, on) {
    this.panel = panel;
    this.number = number;
    this.on = on;
    this.colours = coloursOf(panel.series);
    this.hidden = new Set(panel.series.flatMap((series, n) => (series.off ? [n] : [])));
    this.svg = drawn("svg", { role: "img", class: "plot" });
    this.legend = element("div", { class: "legend", role: "group", "aria-label": `Curves of ${panel.title}` });
    this.scaleButton = element("button", { type: "button", class: "quiet scale", click: () => on.rescale(this, this.kind === "log" ? "linear" : "log") });
    this.node = element("figure", { class: number === 0 ? "chart first" : "chart" },
      element("div", { class: "chart-head" }, element("h3", { html: panel.shown.html }), this.scaleButton),
      this.legend, this.svg);
    this.nameScale(panel.scales[1]);
    this.fillLegend();
    this.listen();
    // Asked while drawing, the width of one panel would lay out all others anew.
    this.outer = 0;
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width === this.outer || !contentRect.width) return;
      this.outer = contentRect.width;
      if (this.scene) this.redraw();
    }).observe(this.node);
  }

  // As a ResizeObserver has it: a rounded width would be drawn anew at once.
  measure() {
    this.outer = this.node.getBoundingClientRect().width;
  }

  nameScale(kind) {
    this.kind = kind;
    this.scaleButton.textContent = `${kind} y`;
    this.scaleButton.setAttribute("aria-label", `${kind} y, ${this.panel.title}: change to ${kind === "log" ? "linear" : "log"}`);
  }

  // An entry for each series. One is shared by what is shown for context only, and by
  // each of the `equal` groups of series, which are drawn as one curve.
  fillLegend(equal = []) {
    const { series } = this.panel;
    const context = series.flatMap(({ kind }, n) => (kind === "other" ? [n] : []));
    const shared = context.length > 1 ? [context, ...equal] : equal;
    const members = series.flatMap((_, n) => {
      const group = shared.find((places) => places.includes(n));
      return !group ? [[n]] : n === group[0] ? [group] : [];
    });
    this.entries = members.map((places) => {
      const [n, ...more] = places;
      const isContext = places === context && more.length > 0;
      const shown = isContext ? OTHERS : more.length ? sharedName(places.map((place) => series[place].shown)) : series[n].shown;
      const swatch = element("i", { class: "swatch" });
      swatch.style.background = this.colours[n];
      const value = element("span", { class: "value" });
      const button = element("button", {
        type: "button", class: "entry", click: () => this.toggle(places),
        "aria-pressed": String(this.isShown(places)), title: more.length ? places.map((place) => series[place].shown.text).join(", ") : null,
      }, swatch, element("span", { html: shown.html }), " ", value);
      return { places, shown, isContext, button, value };
    });
    this.equal = equal;
    this.legend.replaceChildren(...this.entries.map(({ button }) => button));
  }

  // Says which curves are one. While a run grows, groups part but none is formed, since
  // curves that begin together may part later.
  regroup({ run }) {
    const series = this.panel.series.map(({ kind }, n) => (kind === "other" ? [] : [this.own[n], this.others[n]].filter(Boolean)));
    const found = coinciding(series, scaleFor(this.kind, series.flat()));
    const isKept = (group) => found.some((other) => group.every((n) => other.includes(n)));
    const equal = run.outcome ? found : this.equal.filter(isKept);
    if (JSON.stringify(equal) !== JSON.stringify(this.equal)) this.fillLegend(equal);
  }

  isShown(places) {
    return places.some((n) => !this.hidden.has(n));
  }

  toggle(places) {
    const isShown = !this.isShown(places);
    for (const n of places) this.hidden[isShown ? "delete" : "add"](n);
    this.entries.find((entry) => entry.places === places).button.setAttribute("aria-pressed", String(isShown));
    if (this.scene) this.redraw();
  }

  redraw() {
    this.draw(this.scene);
    this.point(this.record);
  }

  listen() {
    const time = (event) => {
      const box = this.svg.getBoundingClientRect();
      const place = (event.clientX - box.left - this.frame.left) / this.frame.width;
      return this.x.value(Math.min(Math.max(place, 0), 1));
    };
    this.svg.addEventListener("pointermove", (event) => {
      if (!this.x) return;
      if (event.pointerType === "mouse" && !event.buttons) this.on.hover(time(event));
      else if (event.buttons) this.on.seek(time(event));
    });
    this.svg.addEventListener("pointerdown", (event) => this.x && this.on.seek(time(event)));
    this.svg.addEventListener("pointerleave", () => this.on.hover(null));
  }

  // Curves of a run by number of series; null where it has none.
  curves(run) {
    return run ? this.panel.series.map((series) => seriesOf(run, series.selector)) : [];
  }

  // `scene`: run, before (the run that this one replaces), other (to compare with),
  // xKind, stages, clock.
  draw(scene) {
    this.scene = scene;
    const { run, other } = scene;
    this.own = this.curves(run);
    this.others = this.curves(other);
    const before = scene.before ? this.curves(scene.before) : [];
    this.regroup(scene);
    this.seen = new Set(this.entries.flatMap(({ places, isContext }) => (!this.isShown(places) ? [] : isContext ? places.filter((n) => !this.hidden.has(n)) : places.slice(0, 1))));
    const visible = (curves) => curves.filter((curve, n) => curve && this.seen.has(n));
    this.layout();
    this.x = timeScale(scene);
    this.y = scaleFor(this.kind, [...visible(this.own), ...visible(this.others), ...(run.outcome ? [] : visible(before))]);
    const clip = `clip-${this.number}`;
    const paths = (curves, which, times) => curves.map((curve, n) => (curve && this.seen.has(n)
      ? drawn("path", { class: `curve ${which}${this.panel.series[n].kind === "other" ? " context" : ""}`, d: this.path(times, curve), stroke: this.colours[n], "data-series": this.panel.series[n].selector })
      : null));
    const { left, top, width, height } = this.frame;
    this.cursorLayer = drawn("g", { class: "cursor", "aria-hidden": "true" });
    this.svg.replaceChildren(
      drawn("clipPath", { id: clip }, drawn("rect", { x: left, y: top - 1, width, height: height + 2 })),
      drawn("g", { class: "bands" }, this.bands(scene.stages)),
      drawn("g", { class: "axes" }, this.axes(scene)),
      drawn("g", { "clip-path": `url(#${clip})` },
        run.outcome ? [] : paths(before, "before", scene.before?.times),
        paths(this.others, "other", other?.times),
        paths(this.own, "own", run.times)),
      drawn("g", { class: "ends" }, this.endLabels()),
      this.cursorLayer,
    );
    this.svg.setAttribute("aria-label", this.summary(scene));
    for (const { places, button } of this.entries) button.hidden = places.every((n) => !this.own[n] && !this.others[n]);
    this.node.hidden = this.own.every((curve) => !curve);
  }

  layout() {
    if (!this.outer) this.measure();
    this.outer ||= 600;
    const { outer } = this;
    const isFirst = this.number === 0;
    const tall = isFirst ? Math.min(320, Math.max(210, outer * 0.42)) : Math.min(230, Math.max(180, outer * 0.5));
    const names = this.named().map(({ shown }) => shown.text.length);
    this.hasEnds = outer >= WIDE && names.length > 0 && names.length <= 8;
    const right = this.hasEnds ? Math.min(190, 16 + 7 * Math.max(...names)) : 12;
    const left = 58;
    const isNamed = this.scene.stages.length && isFirst;
    // A long name of the axis has a line of its own, above those of the stages.
    const own = isNamed && this.panel.axis?.text.length * 6.5 + 10 > left ? 14 : 0;
    const top = isNamed ? 34 + own : this.panel.axis ? 24 : 10;
    this.frame = { left, top, width: Math.max(outer - left - right, 40), height: tall - top - 32, outer, tall };
    this.svg.setAttribute("viewBox", `0 0 ${outer} ${tall}`);
    this.svg.setAttribute("height", tall);
  }

  px(time) {
    return this.frame.left + this.x.place(time) * this.frame.width;
  }

  py(value) {
    return this.frame.top + (1 - this.y.place(value)) * this.frame.height;
  }

  // Points nearer than half a pixel to the last one are left out: nobody sees them.
  path(times, values) {
    const [shownX, shownY] = [this.x.kind === "log" ? 0 : -Infinity, this.y.kind === "log" ? 0 : -Infinity];
    let text = "";
    let isOpen = false;
    let [lastX, lastY] = [0, 0];
    for (let n = 0; n < values.length; n += 1) {
      if (!(times[n] > shownX && values[n] > shownY) || !Number.isFinite(values[n])) {
        isOpen = false;
        continue;
      }
      const [x, y] = [this.px(times[n]), this.py(values[n])];
      if (isOpen && n < values.length - 1 && Math.abs(x - lastX) < 0.5 && Math.abs(y - lastY) < 0.5) continue;
      text += `${isOpen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      isOpen = true;
      [lastX, lastY] = [x, y];
    }
    return text;
  }

  axes({ clock }) {
    const { left, top, width, height } = this.frame;
    const bottom = top + height;
    const marks = [];
    for (const tick of this.y.ticks(height > 180 ? 5 : 4)) {
      const y = this.py(tick.value);
      if (tick.major) marks.push(drawn("line", { class: "grid", x1: left, x2: left + width, y1: y, y2: y }));
      marks.push(drawn("line", { class: "tick", x1: left - (tick.major ? 4 : 2.5), x2: left, y1: y, y2: y }));
      if (tick.label) marks.push(drawn("text", { x: left - 8, y: y + 3.5, "text-anchor": "end" }, tick.label));
    }
    let free = -Infinity;
    for (const tick of this.x.ticks(width / 70)) {
      const x = this.px(tick.value);
      marks.push(drawn("line", { class: "tick", x1: x, x2: x, y1: bottom, y2: bottom + (tick.major ? 4 : 2.5) }));
      const half = tick.label.length * 3.3;
      if (!tick.label || x - half < free || x + half > left + width - this.clockRoom(clock)) continue;
      free = x + half + 8;
      marks.push(drawn("text", { x, y: bottom + 16, "text-anchor": "middle" }, tick.label));
    }
    if (this.panel.axis) marks.push(drawn("text", { class: "axis-name", x: 10, y: 15 }, labelRuns(this.panel.axis)));
    marks.push(drawn("path", { class: "spine", d: `M${left} ${top}V${bottom}H${left + width}` }));
    marks.push(drawn("text", { class: "axis-name", x: left + width, y: bottom + 16, "text-anchor": "end" }, labelRuns(clock.shown)));
    return marks;
  }

  clockRoom(clock) {
    return clock.shown.text.length * 6.4 + 8;
  }

  // Bands between detected times; names above them in the first panel.
  bands(stages) {
    const { left, top, width, height } = this.frame;
    const inside = (time) => time !== null && this.px(time) >= left - 0.5 && this.px(time) <= left + width + 0.5;
    const ends = stages.filter((stage) => inside(stage.detected)).sort((a, b) => a.detected - b.detected);
    const edges = [left, ...ends.map((stage) => this.px(stage.detected)), left + width];
    const marks = [];
    for (let n = 0; ends.length && n + 1 < edges.length; n += 2)
      marks.push(drawn("rect", { class: "band", x: edges[n], y: top, width: Math.max(edges[n + 1] - edges[n], 0), height }));
    for (const stage of ends) {
      const x = this.px(stage.detected);
      marks.push(drawn("line", { class: "detected", x1: x, x2: x, y1: top, y2: top + height }));
    }
    for (const stage of stages.filter(({ formula }) => inside(formula))) {
      const x = this.px(stage.formula);
      marks.push(drawn("line", { class: "formula", x1: x, x2: x, y1: top, y2: top + height }));
      if (this.number === 0) marks.push(drawn("path", { class: "formula-mark", d: `M${x - 4} ${top + height}h8l-4 -7z` }));
    }
    if (this.number === 0) marks.push(...this.stageNames(ends));
    return marks;
  }

  // Two rows of names, so that neighbours do not cover each other; a third is left out.
  stageNames(ends) {
    const free = [-Infinity, -Infinity];
    const { left, width, top } = this.frame;
    const isFirst = ({ shown, detected }, n) => ends.findIndex((other) => other.shown.text === shown.text && other.detected === detected) === n;
    return ends.filter(isFirst).flatMap((stage) => {
      const room = stage.shown.text.length * 6.2 + 8;
      const x = Math.min(Math.max(this.px(stage.detected), left + room / 2), left + width - room / 2);
      const row = free.findIndex((end) => x - room / 2 >= end);
      if (row < 0) return [];
      free[row] = x + room / 2;
      return [drawn("text", { class: "stage-name", x, y: top - 10 - 12 * row, "text-anchor": "middle" }, labelRuns(stage.shown))];
    });
  }

  // Entries of visible curves with a name of their own.
  named() {
    return this.entries.filter(({ places: [n], isContext }) => !isContext && this.own[n] && this.seen.has(n));
  }

  endLabels() {
    if (!this.hasEnds) return [];
    const { left, top, width, height } = this.frame;
    const labels = this.named().flatMap(({ places: [n], shown }) => {
      const last = this.own[n].findLast((value) => Number.isFinite(value));
      return last === undefined ? [] : [{ n, shown, y: Math.min(Math.max(this.py(last), top), top + height) }];
    }).filter(({ y }) => Number.isFinite(y)).sort((a, b) => a.y - b.y);
    for (let n = 1; n < labels.length; n += 1) labels[n].y = Math.max(labels[n].y, labels[n - 1].y + LABEL_GAP);
    const spill = labels.length ? Math.max(labels.at(-1).y - top - height, 0) : 0;
    for (let n = labels.length - 1, limit = top + height; n >= 0 && spill; n -= 1, limit -= LABEL_GAP) labels[n].y = Math.min(labels[n].y, limit);
    return labels.map(({ n, shown, y }) => drawn("text", { x: left + width + 7, y: y + 4, fill: this.colours[n], class: "end" }, labelRuns(shown)));
  }

  // The cursor at a record of the run; values go into the legend.
  point(record) {
    this.record = record;
    const { run, other } = this.scene;
    if (!this.cursorLayer || run.count === 0) return;
    const time = run.times[record];
    const { top, height } = this.frame;
    const x = this.px(time);
    const marks = [];
    if (Number.isFinite(x)) marks.push(drawn("line", { x1: x, x2: x, y1: top, y2: top + height }));
    const beside = other?.count ? nearestRecord(other.times, other.count, time) : null;
    for (const { places: [n], isContext, value } of this.entries) {
      if (isContext || !this.own[n]) continue;
      const reference = beside === null || !this.others[n] ? NaN : this.others[n][beside];
      value.textContent = valueText(this.own[n][record], reference, beside !== null);
    }
    this.own.forEach((curve, n) => {
      const value = curve ? curve[record] : NaN;
      const y = this.py(value);
      if (curve && this.seen.has(n) && Number.isFinite(y) && Number.isFinite(x) && y >= top - 1 && y <= top + height + 1)
        marks.push(drawn("circle", { cx: x, cy: y, r: 3.2, fill: this.colours[n] }));
    });
    this.cursorLayer.replaceChildren(...marks);
  }

  summary({ run, stages, clock }) {
    const curves = this.named().map(({ places: [n], shown }) => {
      const curve = this.own[n];
      const [first, last] = [curve.find(Number.isFinite), curve.findLast((value) => Number.isFinite(value))];
      return `${shown.text} from ${numberText(first)} to ${numberText(last)}`;
    });
    const until = run.count ? `${clock.label} ${numberText(run.times[0])} to ${numberText(run.times[run.count - 1])}` : "nothing yet";
    const ends = stages.filter(({ detected }) => detected !== null).map(({ shown, detected }) => `${shown.text} at ${numberText(detected)}`);
    return `${this.panel.title}, ${until}: ${curves.join("; ")}.${ends.length ? ` Stages: ${ends.join(", ")}.` : ""}`;
  }
}

// The name of curves that are one: both names of two, the first of more.
function sharedName([first, second, ...more]) {
  const runs = ({ text, runs }) => runs ?? [{ text, italic: false, level: 0 }];
  const words = more.length ? ` and ${more.length + 1} equal ones` : " = ";
  const last = more.length ? { text: "", html: "", runs: [] } : second;
  return { text: first.text + words + last.text, html: first.html + words + last.html, runs: [...runs(first), ...runs({ text: words }), ...runs(last)] };
}

function valueText(value, reference, isCompared) {
  if (!isCompared) return numberText(value);
  const difference = value - reference;
  const sign = difference > 0 ? "+" : "";
  return `${numberText(value)} (${Number.isFinite(difference) ? `${sign}${numberText(difference, 3)}` : "–"})`;
}

// One axis of time for all panels. A logarithm begins at the first positive record.
function timeScale({ run, before, other, xKind }) {
  const shown = [run, other, run.outcome ? null : before].filter((one) => one?.count);
  const last = Math.max(...shown.map((one) => one.times[one.count - 1]), 0);
  if (xKind !== "log") return linearScale(0, last || 1);
  const firsts = shown.map((one) => one.times.find((time) => time > 0)).filter((time) => time > 0);
  return logScale(Math.min(...firsts, last || 1), last || 1);
}
