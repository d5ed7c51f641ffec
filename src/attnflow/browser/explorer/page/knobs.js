// Knobs: sliders with fields for numbers, buttons or a list for choices.

const NOTCHES = 400;
const UNBOUNDED = 1e100; // what a declaration says where it has no bound
const BUTTONS = 30; // letters of all values that fit beside each other; beyond, a list

// A knob's value from text, or why it is none.
function readKnob(knob, text) {
  if (knob.kind === "choice") {
    const value = knob.values.find((other) => textOf(other) === text.trim());
    if (value !== undefined) return { value };
    return { fault: `${text} is not one of ${knob.values.map(textOf).join(", ")}.` };
  }
  const value = readNumber(text);
  if (Number.isNaN(value)) return { fault: `“${text}” is not a number.` };
  if (!Number.isFinite(value)) return { fault: `“${text}” is ${value < 0 ? "too small" : "too large"} for a number in float64.` };
  return numberFault(knob, value) ?? { value };
}

function numberFault(knob, value) {
  const [least, most] = [knob.least, knob.most].map((bound) => (Math.abs(bound) >= UNBOUNDED ? Math.sign(bound) * Infinity : bound));
  const [openBelow, openAbove] = knob.open ?? [false, false];
  if (knob.integer && !Number.isInteger(value)) return { fault: `${exactText(value)} is not a whole number.` };
  const low = value < least || (openBelow && value === least);
  const high = value > most || (openAbove && value === most);
  if (!low && !high && Number.isFinite(value)) return null;
  if (low) return { fault: `${exactText(value)} is too small: ${openBelow ? "more than" : "at least"} ${exactText(least)} is needed.` };
  return { fault: `${exactText(value)} is too large${Number.isFinite(most) ? `: ${openAbove ? "less than" : "at most"} ${exactText(most)} is possible.` : "."}` };
}

// A slider goes in even steps of the scale; three digits are enough for a hand.
function sliderValue(knob, place) {
  const { low, high } = knob;
  const raw = knob.scale === "log" ? low * (high / low) ** place : low + place * (high - low);
  return knob.integer ? Math.round(raw) : Number(raw.toPrecision(3));
}

function sliderPlace(knob, value) {
  const { low, high } = knob;
  const place = knob.scale === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Number.isFinite(place) ? Math.min(Math.max(place, 0), 1) : 0;
}

// A value of a choice as its button says it; the address has all its digits.
function choiceText(value) {
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : textOf(value);
}

class Knob {
  // `moved(name, value, isFinal)`: a slider moves often before it rests.
  constructor(knob, moved) {
    this.knob = knob;
    this.moved = moved;
    this.id = `knob-${knob.name}`;
    this.fault = element("p", { class: "fault", id: `${this.id}-fault`, role: "alert" });
    this.body = knob.kind === "number" ? this.numberBody() : this.choiceBody();
    this.node = element("div", { class: "knob", "data-knob": knob.name }, this.body, this.fault);
  }

  heading(tag, attributes) {
    const { shown, about, name } = this.knob;
    const title = about ? `${about} (${name})` : name;
    return element(tag, { class: "knob-name", title, ...attributes }, element("span", { html: shown.html }));
  }

  numberBody() {
    const { knob, id } = this;
    this.slider = element("input", {
      type: "range", min: 0, max: NOTCHES, step: knob.integer ? "any" : 1, tabindex: 0, "aria-label": knob.shown.text,
      input: () => this.slide(false),
      change: () => this.slide(true),
    });
    if (knob.integer && knob.high - knob.low <= NOTCHES && knob.scale === "linear") this.slider.step = NOTCHES / (knob.high - knob.low);
    this.field = element("input", {
      id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", size: 8,
      "aria-describedby": `${id}-fault`,
      change: () => this.type(),
      keydown: (event) => this.arrow(event),
    });
    return element("div", { class: "number" }, this.heading("label", { for: id }), this.field, this.slider);
  }

  choiceBody() {
    const { knob, id } = this;
    if (knob.values.reduce((all, value) => all + choiceText(value).length + 3, 0) > BUTTONS) {
      const options = knob.values.map((value, n) => element("option", { value: n }, choiceText(value)));
      this.list = element("select", { id, "aria-describedby": `${id}-fault`, change: () => this.pick(Number(this.list.value)) }, options);
      return element("div", { class: "choice" }, this.heading("label", { for: id }), this.list);
    }
    this.buttons = knob.values.map((value, n) => element("input", { type: "radio", name: id, id: `${id}-${n}`, change: () => this.pick(n) }));
    const segments = this.buttons.map((button, n) => element("span", {}, button, element("label", { for: button.id }, choiceText(knob.values[n]))));
    return element("fieldset", { class: "choice", "aria-describedby": `${id}-fault` }, this.heading("legend", {}), element("div", { class: "segments" }, segments));
  }

  slide(isFinal) {
    const value = sliderValue(this.knob, Number(this.slider.value) / NOTCHES);
    this.field.value = exactText(value);
    this.say("");
    this.moved(this.knob.name, value, isFinal);
  }

  type() {
    const { value, fault } = readKnob(this.knob, this.field.value);
    this.say(fault ?? "");
    if (!fault) this.moved(this.knob.name, value, true);
  }

  // Up and down in a field: as one step of the slider.
  arrow(event) {
    const turn = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!turn) return;
    event.preventDefault();
    const steps = event.shiftKey ? 20 : 4;
    const { knob } = this;
    const place = sliderPlace(knob, readNumber(this.field.value)) + (turn * steps) / NOTCHES;
    let value = sliderValue(knob, Math.min(Math.max(place, 0), 1));
    if (knob.integer && value === readNumber(this.field.value)) value = Math.min(Math.max(value + turn, knob.low), knob.high);
    this.field.value = exactText(value);
    this.type();
  }

  pick(n) {
    this.say("");
    this.moved(this.knob.name, this.knob.values[n], true);
  }

  // Shows a value; `available` says which values of a choice exist beside the others.
  show(value, available) {
    if (this.knob.kind === "number") {
      if (document.activeElement !== this.slider) this.slider.value = sliderPlace(this.knob, value) * NOTCHES;
      this.slider.setAttribute("aria-valuetext", exactText(value));
      if (!this.fault.textContent) this.field.value = exactText(value);
      return;
    }
    const n = this.knob.values.indexOf(value);
    const title = (place) => (available[place] ? null : "changes other choices too: this combination has no kernel");
    if (this.list) {
      this.list.value = n;
      [...this.list.options].forEach((option, place) => { option.className = available[place] ? "" : "elsewhere"; });
      return;
    }
    this.buttons.forEach((button, place) => {
      button.checked = place === n;
      const label = button.nextElementSibling;
      label.classList.toggle("elsewhere", !available[place]);
      if (title(place)) label.title = title(place);
      else label.removeAttribute("title");
    });
  }

  say(message) {
    if (this.fault.textContent !== message) this.fault.textContent = message;
    const control = this.field ?? this.list;
    if (control) control.setAttribute("aria-invalid", message ? "true" : "false");
    this.node.classList.toggle("wrong", Boolean(message));
  }
}

const GROUPS = { model: "Model", data: "Data", training: "Training", draw: "Random draw" };

// All knobs of an experiment, by group.
class Board {
  constructor(place, experiment, moved) {
    this.knobs = new Map(experiment.knobs.map((knob) => [knob.name, new Knob(knob, moved)]));
    const groups = [...new Set(experiment.knobs.map((knob) => knob.group))];
    const sets = groups.map((group) => element("section", { class: "group", "aria-label": GROUPS[group] ?? group },
      element("h3", {}, GROUPS[group] ?? group),
      experiment.knobs.filter((knob) => knob.group === group).map((knob) => this.knobs.get(knob.name).node)));
    place.replaceChildren(...sets);
  }

  show(model, setting, { keep = false } = {}) {
    const used = model.variant(setting)?.used;
    for (const [name, knob] of this.knobs) {
      if (!keep) knob.say("");
      knob.show(setting[name], knob.knob.kind === "choice" ? model.options(setting, name) : []);
      // Momentum, say, is no number of plain descent.
      knob.node.hidden = knob.knob.kind === "number" && used !== undefined && !used.includes(name);
    }
  }

  // Faults beside their knobs; gives back those without one.
  say(faults) {
    const others = [];
    for (const { knob, message } of faults) {
      if (this.knobs.has(knob)) this.knobs.get(knob).say(message);
      else others.push(message);
    }
    return others;
  }
}
