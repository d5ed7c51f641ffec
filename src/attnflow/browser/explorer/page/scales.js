// Axes: where a value lies between 0 and 1, and which ticks say so.

function niceStep(span, count) {
  const rough = span / count;
  const decade = 10 ** Math.floor(Math.log10(rough));
  return decade * [1, 2, 5, 10].find((step) => step * decade >= rough * 0.999);
}

function linearScale(low, high) {
  if (!(high > low)) [low, high] = [low - (Math.abs(low) || 1) * 0.5, low + (Math.abs(low) || 1) * 0.5];
  return {
    kind: "linear", low, high,
    place: (value) => (value - low) / (high - low),
    value: (place) => low + place * (high - low),
    ticks(count) {
      const step = niceStep(high - low, count);
      const first = Math.ceil(low / step - 1e-9);
      const ticks = [];
      for (let n = first; n * step <= high + step * 1e-9; n += 1) ticks.push(n * step);
      const size = Math.max(Math.abs(low), Math.abs(high));
      const power = size >= 1e6 || size < 1e-3 ? Math.floor(Math.log10(size)) : 0;
      const digits = Math.max(0, Math.ceil(-Math.log10(step / 10 ** power) - 1e-9));
      return ticks.map((value) => ({ value, major: true, label: tickText(value, power, digits) }));
    },
  };
}

function tickText(value, power, digits) {
  if (Math.abs(value) < 1e-300) return "0";
  const short = (value / 10 ** power).toFixed(Math.min(digits, 12)).replace("-", "−");
  if (!power) return Math.abs(value) >= 1e4 ? short.replace(/(\d)(?=(\d{3})+$)/g, "$1\u202f") : short;
  return short === "1" ? powerText(power) : `${short}·${powerText(power)}`;
}

function logScale(low, high) {
  if (!(low > 0)) low = high > 0 ? high / 10 : 0.1;
  if (!(high > low)) [low, high] = [low / 2, low * 2];
  const [from, to] = [Math.log10(low), Math.log10(high)];
  return {
    kind: "log", low, high,
    place: (value) => (Math.log10(value) - from) / (to - from),
    value: (place) => 10 ** (from + place * (to - from)),
    ticks(count) {
      const step = Math.max(1, Math.ceil((to - from) / count));
      const ticks = [];
      for (let decade = Math.floor(from); decade <= to; decade += 1) {
        for (const digit of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
          const value = digit * 10 ** decade;
          if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
          const major = digit === 1 && ((decade % step) + step) % step === 0;
          if (major || step === 1) ticks.push({ value, major, label: major ? decadeText(decade) : "" });
        }
      }
      const isBare = ticks.filter(({ label }) => label).length < 2;
      return to - from < 1.3 || isBare ? labelled(ticks, to - from) : ticks;
    },
  };
}

function decadeText(decade) {
  return Math.abs(decade) <= 3 ? String(Number((10 ** decade).toPrecision(1))) : powerText(decade);
}

// Where one power of ten or none is seen, 2 and 5 need labels too, or the axis says too little.
function labelled(ticks, decades) {
  const shown = decades < 0.5 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1, 2, 5];
  return ticks.map((tick) => {
    const digit = Math.round(tick.value / 10 ** Math.floor(Math.log10(tick.value) + 1e-9));
    return shown.includes(digit) ? { ...tick, major: true, label: numberText(tick.value) } : tick;
  });
}

// The scale for some series: with a little air, and with all that a logarithm can show.
function scaleFor(kind, arrays) {
  let [low, high] = [Infinity, -Infinity];
  for (const values of arrays) {
    for (const value of values) {
      if (!Number.isFinite(value) || (kind === "log" && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) [low, high] = kind === "log" ? [0.1, 1] : [0, 1];
  if (kind === "log") return logScale(Math.max(low, high * 1e-18) / 1.15, high * 1.15);
  if (low >= 0 && low < 0.35 * high) low = 0;
  const air = (high - low || Math.abs(high) || 1) * 0.04;
  return linearScale(low === 0 ? 0 : low - air, high + air);
}
