// A run as the page holds it: rows that grow while the worker posts them.

const MISSING = new Float64Array(0);

function newRun(head) {
  return { ...head, count: 0, times: MISSING, rows: {}, stageEnds: [], outcome: null, stages: [], verdicts: [] };
}

function longer(array, part) {
  const all = new Float64Array(array.length + part.length);
  all.set(array);
  all.set(part, array.length);
  return all;
}

function extend(run, part) {
  run.times = longer(run.times, part.times);
  for (const [name, values] of Object.entries(part.rows)) run.rows[name] = longer(run.rows[name] ?? MISSING, values);
  run.count += part.times.length;
  run.stageEnds = part.stageEnds;
}

// The last record at or before a time.
function recordAt(times, count, time) {
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return Math.max(low, 0);
}

function nearestRecord(times, count, time) {
  const before = recordAt(times, count, time);
  const after = Math.min(before + 1, count - 1);
  return times[after] - time < time - times[before] ? after : before;
}
