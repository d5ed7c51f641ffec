// The page's side of the worker: one request at a time, the newest one.

const PATIENCE = 400; // ms that a busy worker has to take a newer request

class Runner {
  // `listen(job, message)` hears of the newest request only.
  constructor(source, packed, listen) {
    this.address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.packed = packed;
    this.listen = listen;
    this.request = 0;
    this.open = 0; // jobs of the newest request that have not ended
    this.start();
  }

  start() {
    this.worker = new Worker(this.address);
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.listen(0, { kind: "error", message: event.message || "The worker did not start." });
    };
    this.worker.postMessage({ packed: this.packed });
  }

  // Jobs run one after the other; what was running is given up.
  run(jobs) {
    this.request += 1;
    this.jobs = jobs;
    clearTimeout(this.alarm);
    // A kernel between two records hears nothing: then only a new worker helps.
    if (this.open > 0) this.alarm = setTimeout(() => this.restart(), PATIENCE);
    this.open = jobs.length;
    this.send();
  }

  send() {
    this.worker.postMessage({ request: this.request, jobs: this.jobs });
  }

  restart() {
    this.worker.terminate();
    this.start();
    this.send();
  }

  stop() {
    if (this.open === 0) return;
    this.request += 1;
    this.open = 0;
    clearTimeout(this.alarm);
    this.worker.terminate();
    this.start();
  }

  get busy() {
    return this.open > 0;
  }

  hear(message) {
    if (message.request !== this.request) return;
    if (message.kind === "taken") {
      clearTimeout(this.alarm);
      return;
    }
    if (message.kind === "end" || message.kind === "error") this.open -= 1;
    this.listen(message.job, message);
  }
}
