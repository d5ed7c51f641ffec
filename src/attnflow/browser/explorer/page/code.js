// The current setting as Python and as a command.

const SEED = "seed";

function changedKnobs(experiment, setting) {
  return experiment.knobs.filter((knob) => knob.name !== SEED && setting[knob.name] !== knob.default && setting[knob.name] !== undefined);
}

// What differs from the experiment's own setting: in all of the page, and by its knobs.
function changes(experiment, setting) {
  const moved = changedKnobs(experiment, setting).map(({ name }) => [name, setting[name]]);
  return Object.entries({ ...experiment.given, ...Object.fromEntries(moved) });
}

function pythonText(experiment, setting) {
  const spell = (value) => (value === null ? "None" : value === true ? "True" : value === false ? "False" : JSON.stringify(value));
  const terms = changes(experiment, setting).map(([name, value]) => `, ${name}=${spell(value)}`);
  const seed = setting[SEED] ? `, seeds=[${setting[SEED]}]` : "";
  return `import attnflow as af\n\nrun = ${experiment.python.replace(/\)$/, "")}${terms.join("")}${seed})\n`;
}

// The command counts its seeds from 0, so that one seed brings those before it too.
function commandText(experiment, setting) {
  const quote = (text) => (/^[\w.+\-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const terms = changes(experiment, setting).map(([name, value]) => ` ${name}=${quote(textOf(value))}`);
  const seed = setting[SEED] ? ` --seeds ${setting[SEED] + 1}` : "";
  return `${experiment.command}${terms.join("")}${seed}`;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A frame without leave to write the clipboard still has the old way.
    const area = element("textarea", { class: "sr" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
