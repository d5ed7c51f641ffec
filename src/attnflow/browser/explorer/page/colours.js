// Colours of series: those of the figures, by what a quantity stands for.
// Kinds that stay apart for all kinds of colour blindness come first.

const APART = ["signal", "common", "easy", "hard", "noise", "match", "mismatch"];
const ALIASES = { class: "signal", group: "common", consistent: "easy", train: "easy", conflicting: "hard", test: "hard", infinite: "limit" };
const KINDS = new Set([...APART, "limit", "theory", "loss", "other"]);

// A colour for each series of a panel: its kind's, paler for later ones of one kind.
function coloursOf(series) {
  const used = new Map();
  const free = () => APART.find((kind) => !used.has(kind)) ?? APART[used.size % APART.length];
  const known = series.map(({ kind }) => ALIASES[kind] ?? kind).filter((kind) => KINDS.has(kind));
  for (const kind of known) used.set(kind, 0);
  return series.map(({ kind }) => {
    const name = KINDS.has(ALIASES[kind] ?? kind) ? ALIASES[kind] ?? kind : free();
    const shade = used.get(name) ?? 0;
    used.set(name, shade + 1);
    const share = Math.round(100 * 0.72 ** shade);
    return share === 100 ? `var(--${name})` : `color-mix(in srgb, var(--${name}) ${share}%, var(--figure))`;
  });
}
