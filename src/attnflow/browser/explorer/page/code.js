// The current setting as Python and as a command.

const SEED = "seed";

function changedKnobs(experiment, setting) {
  return experiment.knobs.filter((knob) => knob.name !== SEED && setting[knob.name] !== knob.default && setting[knob.name] !== undefined);
}

function pythonText(experiment, setting) {
  const spell = (value) => (value === null ? "None" : value === true ? "True" : value === false ? "False" : JSON.stringify(value));
  const terms = changedKnobs(experiment, setting).map(({ name }) => `, ${name}=${spell(setting[name])}`);
  const seed = setting[SEED] ? `, seeds=[${setting[SEED]}]` : "";
  return `import attnflow as af\n\nrun = ${experiment.python.replace(/\)$/, "")}${terms.join("")}${seed})\n`;
}

// The command counts its seeds from 0, so that one seed brings those before it too.
function commandText(experiment, setting) {
  const quote = (text) => (/^[\w.+\-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const terms = changedKnobs(experiment, setting).map(({ name }) => ` ${name}=${quote(textOf(setting[name]))}`);
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
