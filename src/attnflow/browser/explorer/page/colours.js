// Colours of series: those of the figures, by what a quantity stands for.
// Kinds that stay apart for all kinds of colour blindness come first.

const APART = ["signal", "common", "easy", "hard", "noise", "match", "mismatch"];
const ALIASES = { class: "signal", group: "common", consistent: "easy", train: "easy", conflicting: "hard", test: "hard", infinite: "limit" };
const KINDS = new Set([...APART, "limit", "theory", "loss", "other"]);

const SHADES = 3; // more members of a kind than these could not be told apart

// A colour for each series of a panel: its kind's, paler for later ones of one kind.
function coloursOf(series) {
  // A name that is itself a kind says more than the observable's own.
  const kinds = series.map(({ kind, label }) => ALIASES[label] ?? ALIASES[kind] ?? kind);
  const isUsable = (kind) => KINDS.has(kind) && (kind === "other" || kinds.filter((one) => one === kind).length <= SHADES);
  const used = new Map(kinds.filter(isUsable).map((kind) => [kind, 0]));
  const free = APART.filter((kind) => !used.has(kind));
  let next = 0;
  return kinds.map((kind) => {
    const name = isUsable(kind) ? kind : free[next++ % free.length];
    const shade = used.get(name) ?? 0;
    used.set(name, shade + (name === "other" ? 0 : 1));
    const share = Math.round(100 * 0.72 ** shade);
    return share === 100 ? `var(--${name})` : `color-mix(in srgb, var(--${name}) ${share}%, var(--figure))`;
  });
}
