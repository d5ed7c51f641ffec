// Inside the worker: plays jobs part by part, and lets go of them for newer ones.

const FRAME = 60; // ms between two posts: a short run is drawn once, when it is whole
const BREATH = 8; // ms after which newer requests are looked for

const models = new Map();
let opening = null; // the document, while it is unpacked
let book = null;
let newest = 0;

// Takes messages that have come meanwhile: a newer request is seen between two parts.
const pauses = new MessageChannel();
function pause() {
  return new Promise((resolve) => {
    pauses.port1.onmessage = resolve;
    pauses.port2.postMessage(null);
  });
}

function modelOf(index) {
  if (!models.has(index)) models.set(index, new Model(book, index));
  return models.get(index);
}

// The records since the last post, as arrays that move to the page.
function recordsSince(run, first) {
  const rows = {};
  for (const [name, values] of Object.entries(run.rows)) {
    const size = run.shapes[name].reduce((all, side) => all * side, 1);
    rows[name] = values.slice(first * size, run.count * size);
  }
  const times = Float64Array.from(run.times.slice(first, run.count));
  return { times, rows, stageEnds: run.stageEnds };
}

function post(request, job, message) {
  const moved = message.rows ? [message.times.buffer, ...Object.values(message.rows).map((row) => row.buffer)] : [];
  postMessage({ request, job, ...message }, moved);
}

// Stretches of records that take a few milliseconds each, whatever a record takes.
function paced() {
  let [size, asked] = [1, performance.now()];
  return () => {
    const took = performance.now() - asked;
    if (took < BREATH / 2) size *= 2;
    else if (took > 2 * BREATH) size = Math.max(1, Math.floor(size / 2));
    asked = performance.now();
    return size;
  };
}

async function play(request, job, { index, setting }) {
  const began = performance.now();
  const model = modelOf(index);
  let sent = -1;
  let [posted, paused] = [began, began];
  for (const part of model.play(setting, { stretch: paced() })) {
    const { run } = part;
    if (sent < 0) {
      const { shapes, dims, labels } = run;
      post(request, job, { kind: "begin", head: { setting: run.setting, shapes, dims, labels } });
      sent = 0;
    }
    if (part.done || performance.now() - posted > FRAME) {
      post(request, job, { kind: "part", ...recordsSince(run, sent) });
      sent = run.count;
      posted = performance.now();
    }
    if (part.done) {
      const took = performance.now() - began;
      const end = { outcome: part.outcome, message: part.message, milliseconds: took };
      post(request, job, { kind: "end", ...end, stages: model.stageTimes(run), verdicts: model.judge(run), drift: run.drift });
      return;
    }
    if (performance.now() - paused < BREATH) continue;
    await pause();
    if (request !== newest) return;
    paused = performance.now();
  }
}

async function work(request, jobs) {
  book ??= await opening;
  for (const [job, task] of jobs.entries()) {
    if (request !== newest) return;
    try {
      await play(request, job, task);
    } catch (error) {
      post(request, job, { kind: "error", message: error.message });
    }
  }
}

onmessage = ({ data }) => {
  if (data.packed) {
    opening = unpacked(data.packed);
    return;
  }
  newest = data.request;
  postMessage({ request: newest, kind: "taken" });
  work(newest, data.jobs);
};
