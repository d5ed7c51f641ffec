// A run as the page holds it: rows that grow while the worker posts them.

const MISSING = new Float64Array(0);
const SAME = 1e-9; // of the range of a panel
const ROUNDING = 1e-13; // of a value

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

// Groups of series that are one curve on a scale, each with its places in order. A series
// is a list of curves, of every run that is shown; an empty one is in no group.
function coinciding(series, scale) {
  const isEqual = (a, b) => Object.is(a, b) || Math.abs(a - b) <= ROUNDING * Math.abs(a) || Math.abs(scale.place(a) - scale.place(b)) <= SAME;
  const isOne = (one, other) => one.length === other.length && one.every((curve, n) => curve.every((value, at) => isEqual(value, other[n][at])));
  const groups = [];
  series.forEach((curves, n) => {
    const group = curves.length ? groups.find(([first]) => isOne(series[first], curves)) : null;
    if (group) group.push(n);
    else if (curves.length) groups.push([n]);
  });
  return groups.filter((group) => group.length > 1);
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
