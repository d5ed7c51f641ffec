"use strict";
// Runs the kernels of an experiment, stage after stage, and yields records as they come.
// The arithmetic is all inside the modules: this file fills in inputs and hands states on.

const OUTCOMES = ["finished", "event", "event-not-reached", "out-of-steps", "diverged", "interrupted"];

function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let n = 0; n < raw.length; n += 1) bytes[n] = raw.charCodeAt(n);
  return bytes;
}

function floatsOf(text) {
  return new Float64Array(bytesOf(text).buffer);
}

class StagePlayer {
  constructor(stage, compiled) {
    this.stage = stage;
    this.exports = new WebAssembly.Instance(compiled).exports;
  }

  get heap() {
    return new Float64Array(this.exports.memory.buffer);
  }

  fill(field, values) {
    if (field.integer) {
      const cells = new BigInt64Array(this.exports.memory.buffer);
      values.forEach((value, n) => { cells[field.cell + n] = BigInt(Math.round(value)); });
    } else {
      this.heap.set(values, field.cell);
    }
  }

  read(field) {
    if (!field.integer) return this.heap.slice(field.cell, field.cell + field.size);
    const cells = new BigInt64Array(this.exports.memory.buffer);
    return Float64Array.from(cells.slice(field.cell, field.cell + field.size), Number);
  }

  begin(values, start, stop, state) {
    const { stage } = this;
    stage.inputs.forEach((field, n) => this.fill(field, values.inputs[n]));
    stage.carry.forEach((field, n) => {
      if (field.name === ".step") this.fill(field, [start]);
      else this.fill(field, state && n < stage.moved ? state[n] : values.carry[n]);
    });
    const control = { ...values.control, start, stop };
    for (const [name, value] of Object.entries(control)) this.heap[stage.control[name]] = value;
    this.exports.prepare();
    if (stage.isFlow) this.exports.begin();
  }

  // Yields { first, count, records } for stretches of marks; fewer than asked for at an end.
  // `stretch()` says how many, each time: who waits for records knows how long they take.
  *advance(marks, stretch) {
    const { cells, rowSize } = this.stage;
    const rows = cells + marks.length;
    const missing = 8 * (rows + rowSize * marks.length) - this.exports.memory.buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / 65536));
    this.heap.set(marks, cells);
    for (let first = 0, last; first < marks.length; first = last) {
      last = Math.min(first + stretch(), marks.length);
      const count = this.exports.advance(cells, first, last, rows);
      yield { first, count, records: this.heap.slice(rows + first * rowSize, rows + count * rowSize) };
      // An event on a time of records leaves the stretch complete that it is the end of.
      if (count < last || this.status().outcome !== "finished") return;
    }
  }

  status() {
    const { control } = this.stage;
    return { outcome: OUTCOMES[this.heap[control.status]], end: this.heap[control.end], steps: this.heap[control.steps] };
  }
}

class Player {
  constructor(stages, compile = (stage) => new WebAssembly.Module(bytesOf(stage.module))) {
    this.stages = stages;
    this.compiled = stages.map(compile);
  }

  // `values` has for each stage `inputs`, `carry`, `control` and `until`.
  *play(times, values, stretch = () => 64) {
    let start = 0;
    let state = null;
    for (let n = 0; n < this.stages.length; n += 1) {
      const stage = this.stages[n];
      const { horizon, until } = values[n];
      let stop = horizon === null ? Math.max(until, start) : start + horizon;
      if (!stage.isFlow) stop = Math.round(stop);
      const player = new StagePlayer(stage, this.compiled[n]);
      player.begin(values[n], start, stop, state);
      const from = times.findIndex((time) => time >= start);
      const inside = from < 0 ? [] : Array.from(times).slice(from).filter((time) => time <= stop);
      const marks = inside.length && inside[inside.length - 1] >= stop ? inside : [...inside, stop];
      for (const { first, count, records } of player.advance(Float64Array.from(marks), stretch)) {
        const kept = Math.min(count, inside.length) - first;
        yield { stage: n, first: from + first, count: Math.max(kept, 0), records };
      }
      let { outcome, end, steps } = player.status();
      if (outcome === "finished") {
        end = stop;
        if (horizon !== null) outcome = "event-not-reached";
      }
      state = stage.carry.slice(0, stage.moved).map((field) => player.read(field));
      yield { stage: n, end, outcome, steps, state };
      if (outcome !== "finished" && outcome !== "event") return;
      start = end;
    }
  }
}

// The names and numbers of a document's arrays.
const TYPES = { f8: Float64Array, i4: Int32Array, i2: Int16Array, i1: Int8Array };

class Store {
  constructor(document) {
    this.document = document;
    this.arrays = new Map();
    this.modules = new Map();
  }

  array(values) {
    if (Array.isArray(values)) return values;
    if (!this.arrays.has(values)) {
      const { type, data } = this.document.arrays[values];
      const typed = new TYPES[type](bytesOf(data).buffer);
      this.arrays.set(values, type === "f8" ? typed : Float64Array.from(typed));
    }
    return this.arrays.get(values);
  }

  module(number) {
    if (!this.modules.has(number)) {
      this.modules.set(number, new WebAssembly.Module(bytesOf(this.document.modules[number])));
    }
    return this.modules.get(number);
  }
}

// Times of records, as `Grid.times` in Python has them.
function timesOf(grid, points) {
  const { spacing, count, start, stop, whole } = grid;
  let times;
  if (points) {
    times = Array.from(points);
  } else if (spacing === "log") {
    const low = Math.log10(start);
    const high = Math.log10(stop);
    const inner = Array.from({ length: count - 1 }, (_, n) => 10 ** (low + (n * (high - low)) / (count - 2)));
    inner[0] = start;
    inner[count - 2] = stop;
    times = [0, ...inner];
  } else {
    const step = (stop - start) / (count - 1);
    times = Array.from({ length: count }, (_, n) => start + n * step);
    times[count - 1] = stop;
  }
  if (!whole) return Float64Array.from(times);
  return Float64Array.from([...new Set(times.map(rint))].sort((a, b) => a - b));
}

// The nearest integer, halves to the even one, as NumPy rounds.
function rint(x) {
  const low = Math.floor(x);
  const rest = x - low;
  if (rest !== 0.5) return Math.round(x);
  return low % 2 === 0 ? low : low + 1;
}

const equal = (a, b) => a === b || String(a) === String(b);

class Model {
  constructor(document, index = 0) {
    this.document = document;
    this.experiment = document.experiments[index];
    this.store = new Store(document);
    this.knobs = new Map(this.experiment.knobs.map((knob) => [knob.name, knob]));
    this.choices = this.experiment.knobs.filter((knob) => knob.kind === "choice");
    this.instances = new Map();
  }

  defaults() {
    return Object.fromEntries(this.experiment.knobs.map((knob) => [knob.name, knob.default]));
  }

  variant(setting) {
    return this.experiment.variants.find((variant) =>
      this.choices.every(({ name }) => equal(variant.choices[name], setting[name])));
  }

  options(setting, name) {
    return this.knobs.get(name).values.map((value) => Boolean(this.variant({ ...this.complete(setting), [name]: value })));
  }

  complete(setting) {
    return { ...this.defaults(), ...setting };
  }

  snap(setting, moved = null) {
    const whole = this.complete(setting);
    for (const { name, values, default: usual } of this.choices) {
      const value = values.find((each) => equal(each, whole[name]));
      whole[name] = value === undefined ? usual : value;
    }
    if (this.variant(whole)) return whole;
    let best = null;
    let most = -1;
    for (const { choices } of this.experiment.variants) {
      if (moved !== null && !equal(choices[moved], whole[moved])) continue;
      const same = this.choices.filter(({ name }) => equal(choices[name], whole[name])).length;
      if (same > most) {
        most = same;
        best = choices;
      }
    }
    return { ...whole, ...(best || this.experiment.variants[0].choices) };
  }

  check(setting) {
    const problems = [];
    for (const [name, value] of Object.entries(setting)) {
      const knob = this.knobs.get(name);
      if (!knob) problems.push({ knob: name, message: `There is no setting ${name} here.` });
      else {
        const message = knob.kind === "choice" ? choiceProblem(knob, value) : numberProblem(knob, value);
        if (message) problems.push({ knob: name, message });
      }
    }
    if (problems.length) return problems;
    const whole = this.complete(setting);
    const variant = this.variant(whole);
    if (!variant) {
      const names = this.choices.map(({ name }) => `${name}=${whole[name]}`).join(", ");
      return [{ knob: null, message: `The page has no kernel for ${names}: choose another combination, or run it in Python.` }];
    }
    for (const [name, value] of Object.entries(variant.fixed)) {
      if (name in whole && Number(whole[name]) !== value) {
        problems.push({ knob: name, message: `${name} cannot be changed here: it is ${value}.` });
      }
    }
    const { guards } = this.prepare(whole, variant);
    for (const guard of guards) {
      problems.push({
        knob: guard.knobs[0],
        message: `${guard.knobs.join(" and ")}: set-up takes another path at this value, for which the page has no kernel. Run it in Python.`,
      });
    }
    return problems;
  }

  // What the set-up computes of the numbers: values of each stage, times, formulas, guards.
  prepare(setting, variant) {
    const { setup } = variant;
    const exports = this.instance(setup.module);
    const reach = 8 * Math.max(0, ...[...setup.outputs, ...setup.guards, ...setup.arrays].map((x) => x.cell + x.size));
    const missing = reach - exports.memory.buffer.byteLength;
    if (missing > 0) exports.memory.grow(Math.ceil(missing / 65536));
    const heap = new Float64Array(exports.memory.buffer);
    for (const { name, cell } of setup.numbers) heap[cell] = Number(name in setting ? setting[name] : this.experiment.setting[name]);
    for (const { cell, values } of setup.arrays) heap.set(this.store.array(values), cell);
    exports.prepare();
    const read = ({ cell, size }) => heap.slice(cell, cell + size);
    const values = variant.stages.map((stage) => ({
      inputs: stage.inputs.map((each) => each === null ? null : this.store.array(each)),
      carry: stage.carry.map((each) => each === null ? null : this.store.array(each)),
      control: { ...stage.control },
      until: stage.until,
      horizon: stage.horizon,
    }));
    const grid = { ...variant.grid };
    let points = grid.points === null ? null : this.store.array(grid.points);
    const formulas = [];
    const conditions = [];
    const levels = [];
    let { pace } = variant;
    let valid = Object.entries(variant.formulasFixed).every(([name, value]) => !(name in setting) || Number(setting[name]) === value);
    let decided = Object.entries(variant.conditionsFixed).every(([name, value]) => !(name in setting) || Number(setting[name]) === value);
    for (const output of setup.outputs) {
      const result = read(output);
      if (output.part === "inputs" || output.part === "carry") values[output.stage][output.part][output.n] = result;
      else if (output.part === "control") [values[output.stage].control[output.name]] = result;
      else if (output.part === "until" || output.part === "horizon") [values[output.stage][output.part]] = result;
      else if (output.part === "grid" && output.name === "points") points = result;
      else if (output.part === "grid") [grid[output.name]] = result;
      else if (output.part === "formula") [formulas[output.n]] = result;
      else if (output.part === "level") [levels[output.n]] = result;
      else if (output.part === "pace") [pace] = result;
      else if (output.part === "condition") [conditions[output.n]] = result;
      else if (output.part === "conditionGuard" && (result[0] !== 0) !== output.answer) decided = false;
      else if (output.part === "formulaGuard" && (result[0] !== 0) !== output.answer) valid = false;
    }
    const guards = setup.guards.filter((guard) => (heap[guard.cell] !== 0) !== guard.answer);
    return { values, times: timesOf(grid, points), guards, formulas: valid ? formulas : null, conditions: decided ? conditions : null, levels, pace };
  }

  instance(number) {
    if (!this.instances.has(number)) {
      this.instances.set(number, new WebAssembly.Instance(this.store.module(number)).exports);
    }
    return this.instances.get(number);
  }

  labels(setting) {
    return (this.variant(this.complete(setting)) || this.experiment.variants[0]).labels;
  }

  // Training time per unit of the clock; null where there is no such thing.
  pace(setting) {
    const whole = this.complete(setting);
    const variant = this.variant(whole);
    return variant ? this.prepare(whole, variant).pace : null;
  }

  // Whether a record may take long.
  get slow() {
    const size = (plan) => plan.inputs.reduce((total, field) => total + field.size, 0);
    return this.experiment.plans.some((plan) => size(plan) > 20000);
  }

  unit(setting) {
    const variant = this.variant(this.complete(setting)) || this.experiment.variants[0];
    return variant.grid.whole ? "step" : "time";
  }

  // Rows of the paper's stage table: detected times beside the formulas.
  stageTimes(run) {
    const variant = this.variant(run.setting);
    const { formulas, levels } = this.prepare(run.setting, variant);
    return variant.rows.map(({ name, meaning, detector, formula, why }, n) => {
      let time = null;
      if (formula && formulas) time = "output" in formula ? formulas[formula.output] : formula.value;
      const { detected, note } = detectorTime(this.withSeries(run), detector, levels[n]);
      const known = formula && !formulas ? `known at ${knownAt(variant.formulasFixed)} alone` : why ?? "";
      return { name, meaning, detected, formula: Number.isFinite(time) ? time : null, note, why: known };
    });
  }

  // Conditions of the paper at a setting: whether each is met, and by which factor.
  conditions(setting) {
    const whole = this.complete(setting);
    const variant = this.variant(whole);
    const { conditions } = this.prepare(whole, variant);
    const numberOf = (part) => {
      if (part === null) return null;
      if ("infinite" in part) return part.infinite * Infinity;
      return "output" in part ? conditions[part.output] : part.value;
    };
    return variant.conditions.map((item) => {
      if (conditions === null) return { ...item, value: null, least: null, most: null, met: null, slack: null };
      const [value, least, most] = [item.value, item.least, item.most].map(numberOf);
      return { ...item, value, least, most, ...metBy(value, least, most, item.strict) };
    });
  }

  // How far what gradient flow conserves has moved between the first and the last state.
  drift(variant, { inputs, before, after, plan }) {
    const program = this.experiment.programs[variant.program]?.drift;
    if (!program) return null;
    const exports = this.instance(program.module);
    const missing = 8 * Math.max(...[...program.reads, program.output].map(({ cell, size }) => cell + size)) - exports.memory.buffer.byteLength;
    if (missing > 0) exports.memory.grow(Math.ceil(missing / 65536));
    const heap = new Float64Array(exports.memory.buffer);
    for (const { part, name, n, cell } of program.reads) {
      const values = part === "inputs" ? inputs[plan.inputs.findIndex((field) => field.name === name)] : part === "before" ? before[n] : after[n];
      if (!values) return null;
      heap.set(values, cell);
    }
    exports.prepare();
    return { laws: program.laws, value: heap[program.output.cell] };
  }

  // What is computed of the records by functions of the paper, as rows of their own.
  withSeries(run) {
    if (run.series) return run;
    const program = this.experiment.programs[this.variant(run.setting).program];
    const none = { ...run, series: [], judges: program?.judges ?? {} };
    if (!program || program.module === null) return none;
    const exports = this.instance(program.module);
    const cells = [...program.numbers, ...program.reads, ...program.outputs];
    const missing = 8 * Math.max(...cells.map(({ cell, size }) => cell + size)) - exports.memory.buffer.byteLength;
    if (missing > 0) exports.memory.grow(Math.ceil(missing / 65536));
    const heap = new Float64Array(exports.memory.buffer);
    for (const { name, cell } of program.numbers) heap[cell] = Number(name in run.setting ? run.setting[name] : this.experiment.setting[name]);
    const series = program.outputs.map(({ size }) => ({ size, values: new Float64Array(run.count * size).fill(NaN) }));
    const put = (row, when) => {
      for (const { observable, record, cell, size } of program.reads) {
        if (record === when) heap.set(run.rows[observable].subarray(row * size, (row + 1) * size), cell);
      }
    };
    put(0, "first");
    for (let row = 0; row < run.count; row += 1) {
      put(row, "now");
      exports.prepare();
      program.outputs.forEach(({ cell, size }, n) => series[n].values.set(heap.subarray(cell, cell + size), row * size));
    }
    // A program that holds at some numbers alone says nothing at others.
    program.fixed.forEach((fixed, n) => {
      if (Object.entries(fixed).some(([name, value]) => name in run.setting && Number(run.setting[name]) !== value)) series[n] = null;
    });
    return { ...none, series };
  }

  // What the claims compare, in this run alone.
  judge(run) {
    const known = this.withSeries(run);
    return this.experiment.claims.filter(({ id }) => id in known.judges).map(({ id }) => judged(known, id, known.judges[id]));
  }

  *play(setting, { stretch = () => 32 } = {}) {
    const whole = this.complete(setting);
    const problems = this.check(whole);
    if (problems.length) throw new Error(problems[0].message);
    const variant = this.variant(whole);
    const { values, times } = this.prepare(whole, variant);
    const plans = variant.stages.map((stage) => this.experiment.plans[stage.plan]);
    const run = blankRun(whole, times, plans[0], variant, this.experiment);
    const player = new Player(plans, (plan) => this.store.module(plan.module));
    const states = { inputs: values[0].inputs, before: values[0].carry, after: null, plan: plans[0] };
    let last = null;
    for (const part of player.play(times, values, stretch)) {
      if (part.records) {
        keepRecords(run, plans[part.stage], part);
        yield { run, done: false, outcome: null, message: "" };
      } else {
        run.stageEnds.push({ name: variant.stages[part.stage].name, end: part.end, outcome: part.outcome });
        run.outcome = part.outcome;
        states.after = part.state;
        last = part;
      }
    }
    run.drift = this.drift(variant, states);
    yield { run, done: true, outcome: run.outcome, message: MESSAGES[run.outcome]?.(last) ?? "" };
  }
}

const MESSAGES = {
  diverged: () => "Training diverged: records end where numbers are no longer finite. A smaller learning rate may help.",
  "event-not-reached": () => "A stage waited for an event that did not come within its horizon.",
  "out-of-steps": ({ end, steps }) => `The flow ends at time ${number(end)}: after ${steps} steps of the solver it hardly moves on. ` +
    "Mostly it then slides along the kink of a ReLU, which no solver's step may cross; the records up to there are shown. Descent goes on from there.",
};

function choiceProblem(knob, value) {
  if (knob.values.some((each) => equal(each, value))) return "";
  return `${knob.name}=${value} is not offered here: choose ${knob.values.join(", ")}.`;
}

function numberProblem(knob, value) {
  const given = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
  if (!Number.isFinite(given)) return `${knob.name} must be a number, and ${value} is none.`;
  const [above, below] = knob.open;
  if (given < knob.least || (above && given === knob.least)) return `${knob.name} must be ${above ? "above" : "at least"} ${knob.least}.`;
  if (given > knob.most || (below && given === knob.most)) return `${knob.name} must be ${below ? "below" : "at most"} ${knob.most}.`;
  if (knob.integer && !Number.isInteger(given)) return `${knob.name} must be a whole number.`;
  return "";
}

// A run without records yet: NaN is what was not recorded.
function blankRun(setting, times, plan, variant, experiment) {
  const dims = Object.fromEntries(experiment.observables.map((each) => [each.name, each.dims]));
  const run = { setting, times, count: 0, rows: {}, shapes: {}, dims, labels: variant.labels, stageEnds: [], outcome: null };
  for (const field of plan.row) {
    run.rows[field.name] = new Float64Array(times.length * field.size).fill(NaN);
    run.shapes[field.name] = field.shape;
  }
  return run;
}

// A row with a number that is not finite is not recorded, as in Python.
function keepRecords(run, plan, { first, count, records }) {
  for (let row = 0; row < count; row += 1) {
    const values = records.subarray(row * plan.rowSize, (row + 1) * plan.rowSize);
    if (values.every(Number.isFinite)) {
      for (const field of plan.row) {
        run.rows[field.name].set(values.subarray(field.cell, field.cell + field.size), (first + row) * field.size);
      }
    }
  }
  run.count = Math.max(run.count, first + count);
}

// One entry of an observable along time, by a selector such as `score[+,c1,v1]`.
function seriesOf(run, selector) {
  const [, name, inner] = /^([^[]+)(?:\[(.*)\])?$/.exec(selector) || [];
  const rows = run.rows[name];
  if (!rows) return null;
  const chosen = inner ? inner.split(",") : [];
  const shape = run.shapes[name];
  if (chosen.length !== shape.length) return null;
  let place = 0;
  for (let axis = 0; axis < shape.length; axis += 1) {
    const index = (run.labels[run.dims[name][axis]] || []).map(String).indexOf(chosen[axis].trim());
    if (index < 0) return null;
    place = place * shape[axis] + index;
  }
  const size = shape.reduce((a, b) => a * b, 1);
  return Float64Array.from({ length: run.count }, (_, row) => rows[row * size + place]);
}

// Whether a record was kept: all of it was finite.
function isRecorded(run, row) {
  const [[name, rows]] = Object.entries(run.rows);
  return Number.isFinite(rows[row * run.shapes[name].reduce((a, b) => a * b, 1)]);
}

// The records of a detector's series: rows of its entries, mostly one.
function recordsOf(run, { selector, series }) {
  if (selector !== undefined) {
    const values = seriesOf(run, selector);
    return values && { size: 1, values };
  }
  return run.series[series] ?? null;
}

// When a detector sees its event in a run, as `attnflow.claims.stages` has it.
function detectorTime(run, detector, level) {
  if (!detector) return { detected: null, note: "not detected in this page" };
  if ("why" in detector) return { detected: null, note: `not detected in this page: ${detector.why}` };
  if ("stageEnd" in detector) {
    const end = run.stageEnds[detector.stageEnd];
    return end && (end.outcome === "event" || end.outcome === "finished") ? { detected: end.end, note: "" } : { detected: null, note: "not reached" };
  }
  const records = recordsOf(run, detector);
  if (!records) return { detected: null, note: detector.selector ? `${detector.selector} is not recorded` : "not known at this setting" };
  const { size, values } = records;
  const times = [];
  const known = [];
  for (let row = 0; row < run.count; row += 1) {
    if (!isRecorded(run, row)) continue;
    const entries = values.subarray(row * size, (row + 1) * size);
    if (entries.some(Number.isNaN)) return { detected: null, note: "the series is not known everywhere" };
    times.push(run.times[row]);
    known.push(size === 1 ? entries[0] : entries);
  }
  const constant = "levelSeries" in detector ? run.series[detector.levelSeries]?.values[0] : detector.level.value;
  const bound = level === undefined ? constant : level;
  if (bound === undefined || Number.isNaN(bound)) return { detected: null, note: "not known at this setting" };
  const time = DETECTORS[detector.kind](times, known, bound, detector);
  return time === null ? atEnd(run, detector) : { detected: time, note: "" };
}

// A run that stops at its level has reached it at its end.
function atEnd(run, { atEnd: counts }) {
  const last = run.stageEnds[run.stageEnds.length - 1];
  return counts && last?.outcome === "event" ? { detected: last.end, note: "" } : { detected: null, note: "not reached" };
}

function crossing(times, values, level, { direction, clock, scale }, last = false) {
  const beyond = values.map((value) => (direction === "down" ? value <= level : value >= level));
  const entries = beyond.flatMap((is, n) => (is && !(n > 0 && beyond[n - 1]) ? [n] : []));
  if (!entries.length) return null;
  const row = last ? entries[entries.length - 1] : entries[0];
  if (row === 0) return times[0];
  let [low, high, goal] = [values[row - 1], values[row], level];
  if (scale === "log" && goal > 0 && low > 0 && high > 0) [low, high, goal] = [low, high, goal].map(Math.log);
  const share = (goal - low) / (high - low);
  if (!Number.isFinite(share)) return times[row];
  const [before, after] = [times[row - 1], times[row]];
  return clock === "log" && before > 0 ? before * (after / before) ** share : before + share * (after - before);
}

function extreme(times, values, sign) {
  if (!values.length) return null;
  let best = 0;
  values.forEach((value, n) => { if (sign * value > sign * values[best]) best = n; });
  return times[best];
}

const PLAIN = { direction: "up", clock: "linear", scale: "linear" };
const DETECTORS = {
  first: (times, values, level, how) => crossing(times, values, level, how),
  last: (times, values, level, how) => crossing(times, values, level, how, true),
  settled: (times, values, level, how) => {
    const end = values[values.length - 1];
    const stays = how.direction === "down" ? end <= level : end >= level;
    return stays ? crossing(times, values, level, { ...PLAIN, direction: how.direction }, true) : null;
  },
  plateau: (times, values, level) => crossing(times, values.map((value) => Math.abs(value - values[0])), level, PLAIN),
  // Between two records it is the time of the last entry to cross.
  all: (times, values, level, how) => {
    const rows = values.map((value) => (typeof value === "number" ? [value] : Array.from(value)));
    const beyond = (value) => (how.direction === "down" ? value <= level : value >= level);
    const row = rows.findIndex((entries) => entries.every(beyond));
    if (row <= 0) return row < 0 ? null : times[0];
    const late = rows[row].map((value, n) => [rows[row - 1][n], value]).filter(([before]) => !beyond(before));
    return Math.max(...late.map((pair) => crossing(times.slice(row - 1, row + 1), pair, level, how)));
  },
  largest: (times, values) => extreme(times, values, 1),
  least: (times, values) => extreme(times, values, -1),
};

function knownAt(fixed) {
  return Object.entries(fixed).map(([name, value]) => `${name} = ${number(value)}`).join(", ") || "other settings";
}

// As `Condition` in Python: a bound that is met with equality, up to rounding, is met.
function metBy(value, least, most, strict) {
  if (value === null || Number.isNaN(value)) return { met: null, slack: null };
  const isNear = (bound) => value === bound || Number.isFinite(bound) && Math.abs(value - bound) <= 1e-12 * Math.max(Math.abs(value), Math.abs(bound));
  const met = strict ? least < value && value < most : isNear(least) || isNear(most) || (least <= value && value <= most);
  const factors = [];
  if (least !== most && least > 0 && Number.isFinite(least)) factors.push(Math.max(value, 0) / least);
  if (least !== most && most > 0 && Number.isFinite(most)) factors.push(value > 0 ? most / value : Infinity);
  return { met, slack: factors.length ? Math.min(...factors) : null };
}

// The parts of a claim's predicate that are compared here: what, with both numbers.
function judged(run, id, { parts, of }) {
  const results = parts.map((part) => PARTS[part.kind](run, part));
  const verdicts = results.map(({ verdict }) => verdict);
  const verdict = verdicts.includes("fails") ? "fails" : verdicts.includes("inconclusive") ? "inconclusive" : "holds";
  return { id, verdict, of, parts: results, compared: parts.length };
}

const number = (value) => (value === null || !Number.isFinite(value) ? "–" : String(Number(value.toPrecision(4))));

const PARTS = {
  order(run, { groups, never, stages }) {
    const times = {};
    for (const [name, detector] of Object.entries(stages)) {
      const { detected, note } = detectorTime(run, detector);
      times[name] = detected === null && note === "not reached" && never.includes(name) ? Infinity : detected;
    }
    let worst = Infinity;
    const missing = groups.flat().find((name) => times[name] === null);
    for (const group of groups) {
      for (let n = 1; n < group.length; n += 1) worst = Math.min(worst, times[group[n]] / times[group[n - 1]]);
    }
    const shown = (name) => `${name} ${times[name] === Infinity ? "(never)" : number(times[name])}`;
    const text = groups.map((group) => group.map(shown).join(" < ")).join("; ");
    if (missing !== undefined) return { verdict: "inconclusive", text: `${text}: ${missing} is not reached in this run` };
    return { verdict: worst > 1 ? "holds" : "fails", text };
  },

  compare(run, { what, margin, value, bound, within, unit, sign, strict, rounding }) {
    const [margins, values] = [run.series[margin], run.series[value]];
    const row = margins && values ? worstRow(run, margins.values, -1) : null;
    const range = within === null ? "" : ` ± ${number(within)}${unit === "difference" ? "" : unit === "log" ? " (log)" : " (relative)"}`;
    if (row === null) return { verdict: "inconclusive", text: `${what}: not known in this run` };
    const limit = "value" in bound ? bound.value : run.series[bound.series]?.values[row];
    const least = margins.values[row];
    const isInside = strict ? least > 0 : least >= 0;
    return {
      verdict: isInside ? "holds" : least < -rounding ? "fails" : "inconclusive",
      text: `${what} ${sign} ${number(limit ?? null)}${range}: nearest is ${number(values.values[row])}, at ${number(run.times[row])}`,
    };
  },

  identity(run, { what, value, bound }) {
    const row = run.series[value] ? worstRow(run, run.series[value].values, 1) : null;
    if (row === null) return { verdict: "inconclusive", text: `${what}: not known in this run` };
    const error = run.series[value].values[row];
    const verdict = error <= bound ? "holds" : error > 10 * bound ? "fails" : "inconclusive";
    return { verdict, text: `${what}: largest error ${number(error)}, within ${number(bound)}` };
  },
};

// The record with the largest (or least) value; null where one of them is not known.
function worstRow(run, values, sign) {
  let worst = null;
  for (let row = 0; row < run.count; row += 1) {
    if (!isRecorded(run, row)) continue;
    if (Number.isNaN(values[row])) return null;
    if (worst === null || sign * values[row] > sign * values[worst]) worst = row;
  }
  return worst;
}

if (typeof module !== "undefined") module.exports = { MESSAGES, Model, Player, bytesOf, floatsOf, seriesOf, timesOf };
