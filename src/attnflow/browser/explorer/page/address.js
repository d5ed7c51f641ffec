// The address: #figure1?omega=0.01&width=infinite&~x=log holds a setting and a view.
// Knobs at their defaults are left out; what begins with ~ belongs to the view.

function textOf(value) {
  return value === null ? "none" : String(value);
}

// Writes what differs from the defaults.
function settingText(experiment, setting) {
  const terms = [];
  for (const knob of experiment.knobs) {
    const value = setting[knob.name];
    if (value !== knob.default && value !== undefined) terms.push([knob.name, textOf(value)]);
  }
  return new URLSearchParams(terms).toString();
}

// Reads knobs; what cannot be read is said, and its default stays.
function readSetting(experiment, parameters) {
  const setting = {};
  const faults = [];
  for (const [name, text] of parameters) {
    if (name.startsWith("~")) continue;
    const knob = experiment.knobs.find((other) => other.name === name);
    if (!knob) {
      faults.push({ knob: null, message: unknownName(name, experiment.knobs.map((other) => other.name)) });
      continue;
    }
    const { value, fault } = readKnob(knob, text);
    if (fault) faults.push({ knob: name, message: fault });
    else setting[name] = value;
  }
  return { setting, faults };
}

function unknownName(name, names) {
  const near = nearestName(name, names);
  return `The address sets “${name}”, which this experiment does not have${near ? `: did you mean “${near}”?` : "."}`;
}

function nearestName(name, names) {
  const scored = names.map((other) => [distance(name.toLowerCase(), other.toLowerCase()), other]).sort((a, b) => a[0] - b[0]);
  return scored.length && scored[0][0] <= Math.max(2, name.length / 3) ? scored[0][1] : null;
}

function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

function addressOf(experiment, setting, view) {
  const terms = new URLSearchParams(settingText(experiment, setting));
  for (const [name, value] of Object.entries(view)) if (value !== null && value !== "") terms.set(`~${name}`, value);
  const query = terms.toString().replaceAll("%7E", "~");
  return `#${encodeURIComponent(experiment.id)}${query ? `?${query}` : ""}`;
}

function readAddress(hash) {
  const [id, query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const parameters = [...new URLSearchParams(query)];
  const view = Object.fromEntries(parameters.filter(([name]) => name.startsWith("~")).map(([name, text]) => [name.slice(1), text]));
  let name = id;
  try {
    name = decodeURIComponent(id);
  } catch {
    // A stray % is no reason to stop: the name as it stands is then unknown, and said so.
  }
  return { id: name, parameters, view };
}

// In an iframe of a notebook there is no address of our own: then the page does without.
function writeAddress(hash, { step }) {
  if (location.protocol === "about:") return;
  if (location.hash === hash) return;
  history[step ? "pushState" : "replaceState"](null, "", hash);
}
