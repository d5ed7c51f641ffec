// node play.js PLAYER.js JOB.json: run a job, print what came out, as base64 and times.
const fs = require("fs");
const { Player } = require(process.argv[2]);
const job = JSON.parse(fs.readFileSync(process.argv[3]));
const compiled = performance.now();
const player = new Player(job.stages);
const began = performance.now();
const seconds = [];
let records;
let ends;
for (let turn = 0; turn < job.turns; turn += 1) {
  const start = performance.now();
  records = [];
  ends = [];
  for (const part of player.play(job.times, job.values, () => job.stretch)) {
    if (part.records) records.push(Buffer.from(part.records.buffer));
    else ends.push(part.end);
  }
  seconds.push((performance.now() - start) / 1000);
}
const data = Buffer.concat(records).toString("base64");
console.log(JSON.stringify({ records: data, ends, compile: (began - compiled) / 1000, seconds }));
