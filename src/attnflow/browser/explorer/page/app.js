// The page: state, what changes it, and what is drawn after each change.

let book = null; // the document
const MAIN = 5; // panels that are shown at once, beside those of the paper's figures
const modelsOnPage = new Map();

function pageModel(index) {
  if (!modelsOnPage.has(index)) modelsOnPage.set(index, new Model(book, index));
  return modelsOnPage.get(index);
}

const state = {
  index: 0,
  setting: {},
  xKind: null, // as the records are spaced, unless a reader has changed it
  yKinds: {}, // by panel, where a reader has changed them
  time: null, // of the cursor; null is the end of the run
  hover: null,
  against: null, // {pinned, index, label} or {pair}
};
const runs = { own: null, before: null, other: null };
let charts = []; // the first one, and after the first curve all others
let board = null;
let claims = null;
let heatMaps = null;
let fieldMaps = [];
let frameRequest = 0;

const stageTable = new StageTable(byId("stages"));
const transport = new Transport(byId("transport"), (record, isFinal) => {
  state.time = record >= runs.own.count - 1 ? null : runs.own.times[record];
  state.hover = null;
  point();
  if (isFinal) saveView();
});
transport.scaleOf = () => charts[0].x;
const packed = byId("document").textContent;
const runner = new Runner(JSON.parse(byId("worker-source").textContent), packed, hear);

function experiment() {
  return book.experiments[state.index];
}

// Steps or training time: a flow has another clock than a descent.
function clock() {
  return book.clocks[pageModel(state.index).unit(state.setting)];
}

function status(message, isBusy = false) {
  byId("status").textContent = message;
  byId("status").classList.toggle("busy", isBusy);
  // What changes many times a second is read out once, when it is done.
  byId("status").setAttribute("aria-busy", String(isBusy));
  if (!isBusy && document.activeElement === byId("stop")) transport.button.focus();
  byId("stop").hidden = !isBusy;
}

// ---- Experiments and settings

function openExperiment(index) {
  choose(index);
  build();
}

function choose(index) {
  state.index = index;
  state.xKind = null;
  state.yKinds = {};
  state.against = null;
  runs.own = runs.before = runs.other = null;
  state.setting = pageModel(index).snap({}, null);
}

// What is seen at first. All else is built when the first curve has been painted.
function build() {
  const { panels, attention } = experiment();
  byId("experiment").value = state.index;
  byId("about").innerHTML = experiment().aboutHtml;
  byId("fixed").innerHTML = experiment().fixedHtml;
  board = new Board(byId("knobs"), experiment(), (name, value, isFinal) => move({ [name]: value }, { moved: name, isFinal }));
  charts = [new Chart(panels[0], 0, { hover, seek, rescale })];
  byId("first-chart").replaceChildren(charts[0].node);
  claims = null;
  fieldMaps = [];
  for (const id of ["stages", "charts", "more-charts", "claim-list", "phase-list"]) byId(id).replaceChildren();
  heatMaps = attention ? new HeatMaps(byId("heatmaps"), attention, book.ramps) : null;
  byId("attention").hidden = !attention;
  byId("attention-name").innerHTML = attention?.shown.html ?? "";
  showPresets();
}

function buildRest() {
  if (claims) return;
  const { panels, claims: list, maps } = experiment();
  charts.push(...panels.slice(1).map((panel, n) => new Chart(panel, n + 1, { hover, seek, rescale })));
  const isMain = ({ panel, number }) => number > 0 && (panel.exhibit || number < MAIN);
  byId("charts").replaceChildren(...charts.filter(isMain).map((chart) => chart.node));
  const more = charts.filter((chart) => chart.number > 0 && !isMain(chart));
  byId("more-charts").replaceChildren(...more.map((chart) => chart.node));
  byId("more").hidden = more.length === 0;
  byId("more").firstElementChild.textContent = more.length === 1 ? "One more observable" : `${more.length} more observables`;
  claims = new ClaimTable(byId("claim-list"), experiment(), (changes) => move(changes, { isFinal: true }));
  byId("claims").hidden = list.length === 0;
  fieldMaps = maps.map((map) => new FieldMap(map, experiment(), (changes) => move(changes, { isFinal: true })));
  byId("phase-list").replaceChildren(...fieldMaps.map((map) => map.node));
  byId("phase").hidden = maps.length === 0;
  byId("exact-text").innerHTML = experiment().exactHtml;
  for (const chart of charts) chart.measure();
}

// Presets by exhibit, those of the other experiments too; the first option stands for a
// setting that is none of them.
function showPresets() {
  const all = book.experiments.flatMap(({ presets }, index) => presets.map((preset, n) => ({ ...preset, value: `${index}.${n}`, index })));
  const offered = all.filter(({ exhibit, index }) => exhibit !== "" || index === state.index);
  const exhibits = [...new Set(offered.map(({ exhibit }) => exhibit))].sort((a, b) => (a === "" ? -1 : b === "" ? 1 : 0));
  const groups = exhibits.map((exhibit) => {
    const own = offered.filter((preset) => preset.exhibit === exhibit);
    const options = own.map(({ value, title }) => element("option", { value }, title));
    return exhibit === "" ? options : element("optgroup", { label: own[0].shown.text }, options);
  });
  byId("presets").replaceChildren(element("option", { value: "", hidden: true }, "none: your own setting"), ...groups.flat());
  byId("preset-set").hidden = offered.length < 2;
}

function openPreset(value) {
  const [index, n] = value.split(".").map(Number);
  if (index !== state.index) openExperiment(index);
  move(experiment().presets[n].setting, { isFinal: true, fresh: true, preset: n });
}

function markPreset(chosen = null) {
  const model = pageModel(state.index);
  const isHere = (preset) => {
    const whole = model.snap(preset.setting, null);
    return experiment().knobs.every(({ name }) => whole[name] === state.setting[name]);
  };
  const place = chosen ?? experiment().presets.findIndex(isHere);
  byId("presets").value = place < 0 ? "" : `${state.index}.${place}`;
}

// Changes knobs. `fresh`: all others go back to their defaults.
function move(changes, { moved = null, isFinal = false, fresh = false, preset = null } = {}) {
  const model = pageModel(state.index);
  const wanted = { ...(fresh ? {} : state.setting), ...changes };
  const setting = model.snap(wanted, moved);
  const faults = model.check(setting);
  if (faults.length) {
    const others = board.say(faults);
    // A field keeps what was typed, which is what its fault is about.
    board.show(model, state.setting, { keep: true });
    notice(others);
    status("Not run: a setting is invalid; the reason stands beside it.");
    return;
  }
  state.setting = setting;
  board.show(model, setting);
  notice([]);
  showMoved(wanted, setting);
  markPreset(preset);
  run();
  saveView(isFinal);
}

// Where one choice has changed another one, that is said.
function showMoved(wanted, setting) {
  const changed = experiment().knobs.filter(({ name }) => wanted[name] !== undefined && wanted[name] !== setting[name]);
  if (changed.length) notice(changed.map(({ name, shown }) => `${shown.text} became ${textOf(setting[name])}: with ${textOf(wanted[name])} there is no kernel for this combination.`));
}

function notice(messages) {
  byId("notice").hidden = messages.length === 0;
  byId("notice").replaceChildren(...messages.map((message) => element("p", {}, message)));
}

// ---- Runs

function run() {
  const opponent = opponentOf(state, book);
  const jobs = [{ index: state.index, setting: state.setting, factor: 1 }];
  const isKept = state.against?.pinned && runs.other?.outcome && runs.other.factor === opponent.factor;
  if (opponent && !isKept) jobs.push({ index: opponent.index, setting: opponent.setting, factor: opponent.factor });
  run.jobs = jobs;
  if (runs.own?.outcome) runs.before = runs.own;
  run.began = performance.now();
  runner.run(jobs);
  status("Running …", true);
  showOpponent();
}

function hear(job, message) {
  const slot = job === 0 ? "own" : "other";
  if (message.kind === "begin") {
    runs[slot] = newRun({ ...message.head, factor: run.jobs[job].factor });
  } else if (message.kind === "part") {
    extend(runs[slot], { ...message, times: message.times.map((time) => time * runs[slot].factor) });
    if (job === 0 && runs.own.count) status(`Running … ${clockText(runs.own.times[runs.own.count - 1])}`, true);
    later();
  } else if (message.kind === "end") {
    Object.assign(runs[slot], { outcome: message.outcome, message: message.message, milliseconds: message.milliseconds });
    runs[slot].stages = message.stages.map((stage) => stageShown(stage, runs[slot].factor));
    runs[slot].verdicts = message.verdicts;
    runs[slot].drift = message.drift;
    if (job === 0) runs.before = null;
    cancelAnimationFrame(frameRequest);
    frameRequest = 0;
    drawFirst();
    afterPaint(() => {
      if (!runs.own?.outcome) return; // a newer run has begun
      buildRest();
      draw(charts.slice(1));
      report();
    });
  } else if (message.kind === "error") {
    if (runs[slot]) runs[slot].outcome ??= "error";
    status(`This run stopped: ${message.message}`);
    afterPaint(buildRest);
  }
}

const ENDS = {
  finished: "Computed",
  event: "Computed",
  "event-not-reached": "Ended without the event that it waits for",
  "out-of-steps": "Ended early: out of steps",
  diverged: "Diverged",
};

function report() {
  const { own, other } = runs;
  const isOdd = !["finished", "event"].includes(own.outcome);
  const beside = other?.outcome && state.against ? `, the dashed run in ${milliseconds(other.milliseconds)}` : "";
  status(`${ENDS[own.outcome] ?? own.outcome} in ${milliseconds(own.milliseconds)}${beside} · ${own.count} records`, runner.busy);
  byId("status").classList.toggle("odd", isOdd);
  if (isOdd && own.message) notice([own.message]);
  byId("page").dataset.runs = Number(byId("page").dataset.runs ?? 0) + 1;
  byId("page").dataset.milliseconds = performance.now() - run.began;
}

// The stage of a run with the words that `render` has typeset for its name.
function stageShown(stage, factor) {
  const words = experiment().stages.find((other) => other.name === stage.name && other.meaning === stage.meaning);
  const [detected, formula] = [stage.detected, stage.formula].map((time) => (time === null ? null : time * factor));
  return { shown: { text: stage.name, html: stage.name, runs: null }, meaningHtml: "", ...words, ...stage, detected, formula };
}

// ---- Drawing

function later() {
  if (!frameRequest) frameRequest = requestAnimationFrame(() => {
    frameRequest = 0;
    draw();
    afterPaint(buildRest);
  });
}

function afterPaint(task) {
  requestAnimationFrame(() => setTimeout(task));
}

function timeKind() {
  if (state.xKind) return state.xKind;
  const { times, count } = runs.own.outcome ? runs.own : runs.before ?? runs.own;
  const isEven = times[count >> 1] > 0.1 * times[count - 1];
  return isEven && experiment().panels[0].scales[0] !== "log" ? "linear" : "log";
}

function scene() {
  const { own, before, other } = runs;
  return { run: own, before, other: other?.count ? other : null, xKind: timeKind(), stages: own.stages, clock: clock() };
}

// The panel that moves with a knob, before all else is drawn.
function drawFirst() {
  if (!runs.own?.count) return;
  drawCharts(charts.slice(0, 1));
  point();
}

function drawCharts(shown) {
  const now = scene();
  for (const chart of shown) {
    // What is folded away is drawn when it is opened.
    chart.scene = now;
    if (chart.node.closest("details:not([open])")) continue;
    chart.nameScale(state.yKinds[chart.number] ?? chart.panel.scales[1]);
    chart.draw(now);
  }
  byId("x-scale").textContent = `${now.xKind} time`;
  byId("x-scale").setAttribute("aria-label", `${now.xKind} time: change to ${now.xKind === "log" ? "linear" : "log"}`);
}

function draw(shown = charts) {
  if (!runs.own?.count) return;
  drawCharts(shown);
  if (runs.own.outcome && claims) {
    stageTable.show(runs.own.stages, runs.other?.outcome ? runs.other.stages : null, clock());
    const items = conditionsHere();
    showConditions(items);
    claims.show(runs.own.verdicts, state.setting, experiment().stages, items);
    for (const map of fieldMaps) map.show(state.setting);
    showConserved();
    showDifference();
  }
  point();
}

function clockText(time) {
  return `${clock().unit} ${numberText(time, 5)}`;
}

function cursorRecord() {
  const { own } = runs;
  const time = state.hover ?? state.time;
  return time === null ? own.count - 1 : nearestRecord(own.times, own.count, time);
}

function point() {
  if (!runs.own?.count) return;
  const record = cursorRecord();
  const words = clockText(runs.own.times[record]);
  for (const chart of charts) if (chart.cursorLayer && chart.scene.run === runs.own) chart.point(record);
  transport.show(runs.own, record, words);
  // A map may have a thousand cells: it comes after the first curve.
  if (claims) heatMaps?.show(runs.own, record, words);
}

function hover(time) {
  state.hover = time;
  point();
}

function seek(time) {
  transport.pause();
  const { own } = runs;
  const record = nearestRecord(own.times, own.count, time);
  state.time = record === own.count - 1 ? null : own.times[record];
  state.hover = null;
  point();
  saveView();
}

function rescale(chart, kind) {
  state.yKinds[chart.number] = kind;
  draw();
  saveView();
}

// The paper's conditions, with the words that `render` has typeset.
function conditionsHere() {
  const words = experiment().conditionWords;
  return pageModel(state.index).conditions(state.setting).map((item) => ({ ...item, nameHtml: words[item.name] ?? item.name, whatHtml: words[item.what] ?? item.what }));
}

function showConditions(items) {
  byId("conditions").hidden = items.length === 0;
  byId("conditions-count").innerHTML = items.length ? conditionCount(items) : "";
  byId("conditions-rows").replaceChildren(...items.map(conditionRow));
}

// Drift of what gradient flow conserves, between the first and the last state.
function showConserved() {
  const { drift } = runs.own;
  byId("conserved").hidden = !drift;
  if (!drift) return;
  byId("conserved-laws").replaceChildren(...drift.laws.map((law) => element("li", { html: experiment().laws[law] ?? law })));
  const isFlow = pageModel(state.index).unit(state.setting) === "time";
  const words = isFlow ? "A drift far above the solver's tolerance would show that a run is wrong." : "Descent takes steps of a finite length, and moves them by an amount of the order of its rate.";
  byId("conserved-drift").textContent = `Largest relative drift in this run: ${numberText(drift.value, 2)}. ${words}`;
}

// ---- Compare

function pin() {
  state.against = { pinned: { ...state.setting }, index: state.index, label: "pinned run" };
  runs.other = runs.own?.outcome ? runs.own : null;
  showOpponent();
  draw();
  saveView(true);
}

function compareWith(n) {
  state.against = { pair: n };
  runs.other = null;
  run();
  saveView(true);
}

function unpin() {
  state.against = null;
  runs.other = null;
  showOpponent();
  draw();
  saveView(true);
}

function showOpponent() {
  const opponent = opponentOf(state, book);
  byId("unpin").hidden = !opponent;
  byId("opponent").hidden = !opponent;
  if (opponent) byId("opponent").textContent = `Dashed: ${opponent.label}${state.against.pinned ? ` (${pinnedText(opponent)})` : ", other settings equal"}`;
  const pairs = pairsOf(state, book).map((pair) => element("option", { value: pair.n, selected: state.against?.pair === pair.n }, `with ${pair.label}`));
  byId("pairs").replaceChildren(element("option", { value: "" }, "Compare …"), ...pairs);
  byId("pairs").hidden = pairs.length === 0;
  byId("difference").hidden = !opponent;
}

function pinnedText({ index, setting }) {
  const terms = changedKnobs(book.experiments[index], setting).map(({ name, shown }) => `${shown.text} = ${textOf(setting[name])}`);
  return terms.length ? terms.join(", ") : "defaults";
}

function showDifference() {
  if (!state.against || !runs.other?.outcome) return;
  const selectors = experiment().panels.flatMap((panel) => panel.series.map((series) => series.selector));
  const { difference, selector, time } = largestDifference(runs.own, runs.other, selectors);
  byId("difference").textContent = selector === null
    ? "No difference between the two runs in any curve."
    : `Largest difference of all curves: ${numberText(difference, 3)} in ${selector} at ${clockText(time)}. Beside each name: value (difference).`;
}

// ---- The address

function saveView(step = false) {
  const view = {
    x: state.xKind,
    y: Object.entries(state.yKinds).map((pair) => pair.join(".")).join("-"),
    t: state.time === null ? null : exactText(state.time),
    vs: state.against && !state.against.pinned ? String(state.against.pair) : null,
    pin: state.against?.pinned ? `${book.experiments[state.against.index].id}?${settingText(book.experiments[state.against.index], state.against.pinned)}` : null,
  };
  writeAddress(addressOf(experiment(), state.setting, view), { step });
}

// Opens the view of an address; what it says wrongly is shown and left out.
function openAddress() {
  const { id, parameters, view } = readAddress(location.hash);
  const messages = [];
  let index = book.experiments.findIndex((other) => other.id === id);
  if (index < 0) {
    const elsewhere = [...byId("experiment").options].find(({ value }) => id && value.endsWith(`#${id}`));
    if (elsewhere) {
      location.replace(elsewhere.value + location.hash.slice(1 + id.length));
      return;
    }
    if (id) messages.push(`There is no experiment “${id}” on this page: ${book.experiments[0].id} is shown.`);
    index = 0;
  }
  const isNew = index !== state.index || !board;
  if (isNew) choose(index);
  const { setting, faults } = readSetting(experiment(), parameters);
  const model = pageModel(index);
  state.setting = model.snap(setting, null);
  const refused = parameters.length ? model.check(state.setting) : [];
  if (refused.length) state.setting = model.snap({}, null);
  openView(view);
  run(); // in the worker, while the page is built
  if (isNew) build();
  board.show(model, state.setting);
  notice([...messages, ...board.say([...faults, ...refused])]);
  markPreset();
}

function openView(view) {
  const { panels, compare } = experiment();
  state.xKind = ["log", "linear"].includes(view.x) ? view.x : null;
  state.yKinds = Object.fromEntries((view.y ?? "").split("-").map((pair) => pair.split(".")).filter(([n, kind]) => panels[n] && ["log", "linear"].includes(kind)));
  const time = readNumber(view.t ?? "");
  state.time = Number.isFinite(time) ? time : null;
  state.against = null;
  runs.other = null;
  if (view.vs !== undefined && compare[Number(view.vs)]) state.against = { pair: Number(view.vs) };
  if (view.pin) {
    const { id, parameters } = readAddress(view.pin);
    const index = book.experiments.findIndex((other) => other.id === id);
    if (index < 0) return;
    const pinned = pageModel(index).snap(readSetting(book.experiments[index], parameters).setting, null);
    if (!pageModel(index).check(pinned).length) state.against = { pinned, index, label: "pinned run" };
  }
}

// ---- Buttons

function fileName(ending) {
  return `${experiment().name.replaceAll("/", "-")}.${ending}`;
}

// Panels that are drawn: what is folded away is not in the picture.
function picture() {
  return pictureOf(charts.filter((chart) => chart.frame && !chart.node.closest("details:not([open])")), experiment().title, byId("opponent").hidden ? "" : byId("opponent").textContent);
}

// What stays in sight on a phone must not cover what a key moves to.
function keepClear() {
  const [lead] = document.getElementsByClassName("lead");
  const room = getComputedStyle(lead).position === "sticky" ? lead.offsetHeight + 8 : 0;
  document.documentElement.style.scrollPaddingTop = `${room}px`;
}

function wire() {
  const copies = {
    python: () => pythonText(experiment(), state.setting),
    command: () => commandText(experiment(), state.setting),
    link: () => { saveView(); return location.href; },
  };
  for (const [name, text] of Object.entries(copies)) {
    byId(`copy-${name}`).addEventListener("click", async () => {
      await copyText(text());
      status(`Copied as ${name}: ${text().trim().split("\n").at(-1)}`, runner.busy);
    });
  }
  // A frame without an address of its own has nothing to link to.
  byId("copy-link").hidden = location.protocol === "about:";
  byId("save-csv").addEventListener("click", () => save(fileName("csv"), new Blob([csvText(runs.own, clock())], { type: "text/csv" })));
  byId("save-svg").addEventListener("click", () => save(fileName("svg"), new Blob([picture().text], { type: "image/svg+xml" })));
  byId("save-png").addEventListener("click", async () => save(fileName("png"), await pngOf(picture())));
  byId("pin").addEventListener("click", pin);
  byId("unpin").addEventListener("click", () => {
    unpin();
    byId("pin").focus();
  });
  byId("skip").addEventListener("click", () => byId("first-chart").focus());
  byId("pairs").addEventListener("change", ({ target }) => (target.value === "" ? unpin() : compareWith(Number(target.value))));
  byId("presets").addEventListener("change", ({ target }) => openPreset(target.value));
  byId("more").addEventListener("toggle", () => draw());
  byId("reset").addEventListener("click", () => move({}, { isFinal: true, fresh: true }));
  byId("stop").addEventListener("click", () => {
    runner.stop();
    runs.before = null;
    if (runs.own) runs.own.outcome ??= "interrupted";
    draw();
    status("Stopped. What was computed so far is shown.");
  });
  byId("x-scale").addEventListener("click", () => {
    state.xKind = timeKind() === "log" ? "linear" : "log";
    draw();
    saveView();
  });
  byId("experiment").addEventListener("change", (event) => {
    if (event.target.value.includes("#")) {
      location.assign(event.target.value);
      return;
    }
    openExperiment(Number(event.target.value));
    move({}, { isFinal: true, fresh: true });
  });
  addEventListener("popstate", openAddress);
  addEventListener("resize", keepClear);
  new ResizeObserver(keepClear).observe(document.getElementsByClassName("lead")[0]);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
}

unpacked(packed).then((document) => {
  book = document;
  wire();
  openAddress();
});
