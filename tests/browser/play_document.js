// node play_document.js PLAYER.js JOB.json: play settings of a document's first experiment.
const fs = require("fs");
const { Model } = require(process.argv[2]);
const { document, settings } = JSON.parse(fs.readFileSync(process.argv[3]));
const model = new Model(document, 0);
const played = settings.map((setting) => {
  let last;
  for (const part of model.play(setting)) last = part;
  const { run } = last;
  const rows = Object.entries(run.rows).map(([name, row]) => [name, Buffer.from(row.buffer).toString("base64")]);
  return {
    problems: model.check(model.complete(setting)),
    outcome: last.outcome,
    times: Array.from(run.times),
    rows: Object.fromEntries(rows),
    stages: model.stageTimes(run),
    verdicts: model.judge(run),
    drift: run.drift,
    conditions: model.conditions(setting),
  };
});
console.log(JSON.stringify(played));
