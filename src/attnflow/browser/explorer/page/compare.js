// A second run beside the first: pinned as it was, or a variation that follows the knobs.

const LENGTH = "steps"; // the knob that says how long a descent or a flow lasts

// What the second run is at a setting: its experiment, its setting, its name, and how
// many units of the first run's clock one of its own takes.
function opponentOf(state, book) {
  const { against } = state;
  if (!against) return null;
  const opponent = against.pinned ? { index: against.index, setting: against.pinned, label: against.label } : variationOf(state, book);
  const model = pageModel(opponent.index);
  opponent.setting = model.snap(opponent.setting, null);
  opponent.factor = factorOf(model, opponent.setting, pageModel(state.index), state.setting);
  // Both runs cover the same time, whatever their clocks.
  if (!against.pinned && opponent.factor !== 1 && LENGTH in opponent.setting) {
    const length = opponent.setting[LENGTH] / opponent.factor;
    opponent.setting[LENGTH] = model.unit(opponent.setting) === "step" ? Math.round(length) : length;
  }
  return opponent;
}

function variationOf(state, book) {
  const { experiment, setting, label } = book.experiments[state.index].compare[state.against.pair];
  const index = experiment ? book.experiments.findIndex((other) => other.id === experiment) : state.index;
  const names = new Set(book.experiments[index].knobs.map((knob) => knob.name));
  const shared = Object.fromEntries(Object.entries(state.setting).filter(([name]) => names.has(name)));
  return { index, setting: { ...shared, ...setting }, label };
}

// Two descents are compared step by step; a flow and a descent in training time.
function factorOf(model, setting, ownModel, ownSetting) {
  if (model.unit(setting) === ownModel.unit(ownSetting)) return 1;
  const factor = model.pace(setting) / ownModel.pace(ownSetting);
  return factor > 0 && Number.isFinite(factor) ? factor : 1;
}

// Pairs that the document offers, and that differ from the current setting.
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
