// The time under the cursor: a scrubber, and play. All panels follow it.

const WHOLE = 7000; // ms from the first record to the last
const STILL = 10; // frames of a play for readers who want no motion

class Transport {
  // `moved(record, isFinal)` for the scrubber; the play moves evenly along the axis.
  constructor(place, moved) {
    this.moved = moved;
    this.button = element("button", { type: "button", class: "play", click: () => (this.isPlaying ? this.pause() : this.play()) });
    this.slider = element("input", {
      type: "range", min: 0, max: 0, step: 1, value: 0, "aria-label": "Time",
      input: () => { this.pause(); moved(Number(this.slider.value), false); },
      change: () => moved(Number(this.slider.value), true),
    });
    // The slider says the time to a screen reader: once, and not at every frame of a play.
    this.time = element("span", { class: "time", "aria-hidden": "true" });
    place.replaceChildren(this.button, this.slider, this.time);
    this.face();
  }

  face() {
    const [sign, word] = this.isPlaying ? ["❚❚", "Pause"] : ["▶", "Play"];
    this.button.replaceChildren(sign, element("span", { class: "word" }, ` ${word}`));
    this.button.setAttribute("aria-label", word);
  }

  show(run, record, timeText) {
    this.run = run;
    this.record = record;
    this.slider.max = Math.max(run.count - 1, 0);
    this.slider.value = record;
    this.slider.setAttribute("aria-valuetext", timeText);
    this.time.textContent = timeText;
  }

  // `scale`: the axis of time, so that early times are slow where it is logarithmic.
  play() {
    const { run } = this;
    if (!run?.count) return;
    const scale = this.scaleOf();
    const place = (record) => Math.max(scale.place(Math.max(run.times[record], scale.low)), 0);
    let from = this.record >= run.count - 1 ? 0 : place(this.record);
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let began = null;
    this.isPlaying = true;
    this.face();
    const frame = (now) => {
      if (!this.isPlaying) return;
      began ??= now;
      let share = from + (now - began) / WHOLE;
      if (isStill) share = Math.floor(share * STILL) / STILL;
      const record = share >= 1 ? this.run.count - 1 : nearestRecord(this.run.times, this.run.count, scale.value(share));
      if (record !== this.record) this.moved(record, false);
      if (share >= 1) this.pause();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.face();
    this.moved(this.record, true);
  }
}
