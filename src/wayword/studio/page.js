// What viser's page lacks: the address, several photos at once, words for screen readers, and news about the server.
// It stands in the head of the page, before viser's own script. The server's side of it is in letters.py and front.py.
(() => {
  "use strict";

  // Narrow pages: viser puts its panels over the scene below 576 px only; a tablet held upright needs that too.
  const plainMatch = window.matchMedia.bind(window);
  window.matchMedia = (query) => plainMatch(query === "(max-width: 36em)" ? "(max-width: 56em)" : query);

  // The server is asked for itself: viser's websocket may open in a worker, where it cannot be watched.
  let missed = 0, gone = null;
  setInterval(async () => {
    try { await fetch("/wayword-is-here", {cache: "no-store"}); missed = 0; } catch { missed += 1; }
    if (missed >= 2 && !gone) {
      gone = document.createElement("div");
      gone.setAttribute("role", "alert");
      gone.className = "wayword-gone";
      gone.textContent = "The server is gone. Start it again with: wayword studio. This page then goes on by itself.";
      document.body.append(gone);
    } else if (!missed && gone) { gone.remove(); gone = null; }
  }, 2000);

  // Letters to the server, about one thing each. The key is this visitor's own; see letters.py.
  let key = "";
  const tell = (about, value) => key && fetch("/wayword-letter?" +
    new URLSearchParams({key, about, value}), {cache: "no-store"}).catch(() => {});

  // The address holds sentence, layout and seed. The server writes it into the page; a link, a reload or the way back
  // is told to the server.
  let written = null, opened = null, answering = false;
  const tellAddress = () => {
    answering = true;  // what the server makes of it stands for the same place, and gets no entry of its own
    tell("address", location.search.slice(1));
  };
  const keepAddress = (desk) => {
    if (desk.dataset.key !== key) {  // a new visit: what the address says comes first
      key = desk.dataset.key;
      opened = desk.dataset.opened;
      written = desk.dataset.query;
      since = performance.now();
      if (location.search.length > 1) tellAddress();
      const theme = localStorage.getItem("wayword-theme");
      if (theme) tell("theme", theme);
    } else if (desk.dataset.query !== written) {
      written = desk.dataset.query;
      if (written !== location.search.slice(1)) {
        const replaces = answering || location.search.length < 2;
        history[replaces ? "replaceState" : "pushState"](null, "", "/?" + written);
      }
      answering = false;
    }
    if (desk.dataset.theme) localStorage.setItem("wayword-theme", desk.dataset.theme);
    if (desk.dataset.opened !== opened) {  // "3 Teach": the third time that a tab is opened by the server
      opened = desk.dataset.opened;
      openTab(opened.split(" ")[1]);
    }
  };
  window.addEventListener("popstate", tellAddress);

  const openTab = (name) => {
    const tab = [...document.querySelectorAll("[role=tab]")].find((one) => one.textContent.trim() === name);
    if (!tab) return;
    for (const kind of ["pointerdown", "pointerup"]) {
      tab.dispatchEvent(new PointerEvent(kind, {bubbles: true, button: 0, pointerId: 1, isPrimary: true}));
    }
    tab.click();
  };

  // Several photos: viser's button takes one file, so they are handed to it one after the other.
  const queue = [];
  let handing = false;
  const photoInput = () => document.querySelector("input[type=file]");
  const handOver = async () => {
    if (handing) return;
    handing = true;
    while (queue.length) {
      const input = photoInput();
      if (!input) break;
      const button = input.parentElement.querySelector("button");
      for (let k = 0; k < 600 && button && button.disabled; k += 1) await new Promise((go) => setTimeout(go, 100));
      const one = new DataTransfer();
      one.items.add(queue.shift());
      input.files = one.files;
      input.dispatchEvent(new Event("change", {bubbles: true}));
      await new Promise((go) => setTimeout(go, 100));
    }
    handing = false;
  };
  // Lines about the photos before are cleared first, or they would take along what is said about these.
  const announced = async (count) => {
    await tell("photos", String(count));
    await new Promise((go) => setTimeout(go, 300));
  };
  document.addEventListener("change", (event) => {
    const input = event.target;
    if (input.type !== "file" || handing) return;
    event.stopImmediatePropagation();
    queue.push(...input.files);
    announced(input.files.length).then(handOver);
  }, true);
  // Arrows that move a slider or go from tab to tab would turn the arena as well: viser listens further out.
  document.documentElement.addEventListener("keydown", (event) => {
    if (event.target.closest("[role=slider], [role=tab]")) event.stopPropagation();
  });
  document.addEventListener("dragover", (event) => {
    if (photoInput() && [...event.dataTransfer.types].includes("Files")) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    if (!photoInput() || !event.dataTransfer.files.length) return;
    event.preventDefault();
    queue.push(...event.dataTransfer.files);
    announced(event.dataTransfer.files.length).then(handOver);
  });
  document.addEventListener("wayword-photo", async (event) => {  // from webcam.js
    if (event.detail.first) await announced(1);
    queue.push(event.detail.file);
    handOver();
  });

  // A crop is corrected by drawing a box over the photo.
  const cropBox = (photo, from, to) => {
    const place = photo.getBoundingClientRect();
    const share = (value, low, size) => Math.min(Math.max((value - low) / size, 0), 1);
    const x = [from.clientX, to.clientX].map((value) => share(value, place.left, place.width)).sort((a, b) => a - b);
    const y = [from.clientY, to.clientY].map((value) => share(value, place.top, place.height)).sort((a, b) => a - b);
    return [x[0], y[0], x[1], y[1]];
  };
  document.addEventListener("pointerdown", (event) => {
    const photo = event.target.closest("[data-studio=crop]");
    if (!photo) return;
    event.preventDefault();
    const frame = photo.querySelector("[data-studio=frame]");
    let box = null;
    const move = (now) => {
      box = cropBox(photo, event, now);
      const [left, top, right, bottom] = box.map((value) => 100 * value);
      frame.style.cssText += `;left:${left}%;top:${top}%;width:${right - left}%;height:${bottom - top}%`;
    };
    const end = () => {
      document.removeEventListener("pointermove", move);
      if (box && box[2] - box[0] > 0.02 && box[3] - box[1] > 0.02) tell("crop", box.map((v) => v.toFixed(4)).join(" "));
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", end, {once: true});
  });

  // Names for screen readers, which viser's pictures and fields do not have.
  const nameThings = () => {
    for (const image of document.querySelectorAll("img:not([alt])")) {
      const label = image.closest("div")?.parentElement?.querySelector("p")?.textContent;
      image.alt = label ? `picture: ${label}` : "picture";
    }
    for (const canvas of document.querySelectorAll("canvas:not([aria-label])")) {
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", "the arena in 3D: objects, drone and the path it has flown");
    }
    for (const field of document.querySelectorAll("input:not([type=file]), textarea, [role=slider]")) {
      if (field.getAttribute("aria-label")) continue;  // an empty one names nothing
      let row = field.parentElement;
      while (row && !row.querySelector("label")) row = row.parentElement;
      const label = row?.querySelector("label")?.textContent;
      if (label) field.setAttribute("aria-label", label);
    }
    for (const input of document.querySelectorAll("input[type=file]:not([multiple])")) input.multiple = true;
    for (const note of document.querySelectorAll(".mantine-Notification-root")) {  // about software rendering
      if (note.textContent.includes("Software WebGL")) note.querySelector("button")?.click();
    }
  };

  // The networks are loaded when the first picture is there, not before it.
  let seen = "", since = 0;
  const tellSeen = () => {
    if (seen === key) return;
    const shown = [...document.images].some((image) => image.naturalWidth === 512);
    if (!shown && performance.now() - since < 5000) return;  // a panel that is closed shows none
    seen = key;
    tell("seen", "");
  };

  let waiting = false;
  const look = () => {
    waiting = false;
    const desk = document.querySelector("[data-studio=desk]");
    if (desk) keepAddress(desk);
    if (desk) tellSeen();
    nameThings();
  };
  document.addEventListener("DOMContentLoaded", () => {
    new MutationObserver(() => {
      if (!waiting) { waiting = true; setTimeout(look, 120); }
    }).observe(document.body, {childList: true, subtree: true, attributes: true, attributeFilter: ["src"]});
    setInterval(look, 1000);  // a picture that has arrived changes nothing in the page
  });
})();
