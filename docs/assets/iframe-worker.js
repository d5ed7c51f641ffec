"use strict";

/* Search from a disk: browsers start no worker from a file, so a hidden frame does its
   work. Read before all other scripts; on a server it does nothing. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inner = frame.contentWindow;
      this.ready = new Promise((resolve) => {
        inner.answer = (data) => this.dispatch(data);
        inner.begun = resolve;
      });
      this.inner = inner;
      inner.document.open();
      inner.document.write(
        `<script>postMessage = (data) => answer(data);</script>` +
          `<script src="${url}" onload="begun()"></script>`,
      );
      inner.document.close();
    }

    dispatch(data) {
      const message = new MessageEvent("message", { data });
      this.dispatchEvent(message);
      this.onmessage?.(message);
    }

    postMessage(data) {
      this.ready.then(() => {
        this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.inner.frameElement?.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
