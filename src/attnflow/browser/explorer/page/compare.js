// A second run beside the first: pinned as it was, or a variation that follows the knobs.

// What the second run is at a setting: its experiment, its setting and its name.
function opponentOf(state, book) {
  const { against } = state;
  if (!against) return null;
  if (against.pinned) return { index: against.index, setting: against.pinned, label: against.label };
  const pair = book.experiments[state.index].compare[against.pair];
  const index = pair.experiment ? book.experiments.findIndex((other) => other.id === pair.experiment) : state.index;
  const names = new Set(book.experiments[index].knobs.map((knob) => knob.name));
  const shared = Object.fromEntries(Object.entries(state.setting).filter(([name]) => names.has(name)));
  return { index, setting: { ...shared, ...pair.setting }, label: pair.label };
}

// Pairs that the document offers, and that differ from the present setting.
function pairsOf(state, book) {
  const { compare } = book.experiments[state.index];
  return compare.flatMap((pair, n) => {
    const isElsewhere = pair.experiment && pair.experiment !== book.experiments[state.index].id;
    const isMissing = isElsewhere && !book.experiments.some((other) => other.id === pair.experiment);
    const differs = isElsewhere || Object.entries(pair.setting).some(([name, value]) => state.setting[name] !== value);
    return isMissing || !differs ? [] : [{ ...pair, n }];
  });
}

// The largest difference between two runs over the time that both have recorded.
function largestDifference(run, other, selectors) {
  let worst = { difference: 0, selector: null, time: null };
  for (const selector of selectors) {
    const [mine, theirs] = [seriesOf(run, selector), seriesOf(other, selector)];
    if (!mine || !theirs) continue;
    for (let n = 0; n < run.count; n += 1) {
      if (run.times[n] > other.times[other.count - 1]) break;
      const difference = Math.abs(mine[n] - theirs[nearestRecord(other.times, other.count, run.times[n])]);
      if (difference > worst.difference) worst = { difference, selector, time: run.times[n] };
    }
  }
  return worst;
}
