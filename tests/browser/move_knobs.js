// node move_knobs.js PLAYER.js JOB.json: move knobs of a document's first experiment, one at a
// time as a reader does, and play what the page then shows, or say why it refuses.
const fs = require("fs");
const { MESSAGES, Model } = require(process.argv[2]);
const { document, moves } = JSON.parse(fs.readFileSync(process.argv[3]));
const model = new Model(document, 0);
for (const [knob, value] of moves) {
  const setting = model.snap(knob === null ? {} : { [knob]: value }, knob);
  const problems = model.check(setting);
  const job = { knob, value, setting, problems };
  if (!problems.length) {
    let last;
    for (const part of model.play(setting)) last = part;
    const { run } = last;
    job.outcome = last.outcome;
    job.said = MESSAGES[last.outcome] ? last.message : null;
    job.ends = run.stageEnds.map(({ end }) => end);
    job.times = Array.from(run.times);
    job.rows = Object.fromEntries(Object.entries(run.rows).map(([name, row]) => [name, Buffer.from(row.buffer).toString("base64")]));
    job.stages = model.stageTimes(run).map(({ name, meaning, detected, formula, note }) => ({ name, meaning, detected, formula, note }));
  }
  console.log(JSON.stringify(job));
}
