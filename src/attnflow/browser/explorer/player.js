"use strict";
// Runs the kernels of an experiment, stage after stage, and yields records as they come.
// The arithmetic is all inside the modules: this file fills in inputs and hands states on.

const OUTCOMES = ["finished", "event", "event-not-reached", "out-of-steps", "diverged", "interrupted"];

function bytesOf(text) {
  const raw = atob(text);
  return Uint8Array.from(raw, (letter) => letter.charCodeAt(0));
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
  *advance(marks, stretch) {
    const { cells, rowSize } = this.stage;
    const rows = cells + marks.length;
    const missing = 8 * (rows + rowSize * marks.length) - this.exports.memory.buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / 65536));
    this.heap.set(marks, cells);
    for (let first = 0; first < marks.length; first += stretch) {
      const last = Math.min(first + stretch, marks.length);
      const count = this.exports.advance(cells, first, last, rows);
      yield { first, count, records: this.heap.slice(rows + first * rowSize, rows + count * rowSize) };
      if (count < last) return;
    }
  }

  status() {
    const { control } = this.stage;
    return { outcome: OUTCOMES[this.heap[control.status]], end: this.heap[control.end] };
  }
}

class Player {
  constructor(stages) {
    this.stages = stages;
    this.compiled = stages.map((stage) => new WebAssembly.Module(bytesOf(stage.module)));
  }

  // `values` has for each stage `inputs`, `carry`, `control` and `until`.
  *play(times, values, stretch = 64) {
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
      let { outcome, end } = player.status();
      if (outcome === "finished") {
        end = stop;
        if (horizon !== null) outcome = "event-not-reached";
      }
      state = stage.carry.slice(0, stage.moved).map((field) => player.read(field));
      yield { stage: n, end, outcome };
      if (outcome !== "finished" && outcome !== "event") return;
      start = end;
    }
  }
}

if (typeof module !== "undefined") module.exports = { Player, bytesOf, floatsOf };
