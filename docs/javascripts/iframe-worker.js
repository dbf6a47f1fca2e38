// Search runs in a worker, and browsers start none for pages that are opened from the disk. There, a frame takes the
// worker's place: same script, same messages, one thread. Zensical would fetch such a shim from a network; by the
// name of this file it knows that there is one already.
if (location.protocol === "file:") {
  // A worker gets a copy of what is sent to it, and writes into it.
  const message = (data) => new MessageEvent("message", { data: structuredClone(data) });

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => setTimeout(() => this.#deliver(message(data)));
      this.ready = new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = new URL(url, document.baseURI);
        script.onload = () => resolve(inside);
        script.onerror = reject;
        this.frame.contentDocument.head.append(script);
      });
      this.ready.catch(() => this.onerror?.(new ErrorEvent("error")));
    }

    postMessage(data) {
      this.ready.then((inside) => inside.onmessage(message(data)), () => {});
    }

    terminate() {
      this.frame.remove();
    }

    #deliver(event) {
      this.onmessage?.(event);
      this.dispatchEvent(event);
    }
  };
}
