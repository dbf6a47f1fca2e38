"use strict";
// The questionnaire of one rater. Answers go into the browser's storage as they are given and, if the page came from
// `wayword judge serve`, to the server; what could not be sent is sent later.
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const $ = (id) => document.getElementById(id);
  const served = document.documentElement.dataset.save === "server";
  const token = new URLSearchParams(location.search).get("token") || "";
  const key = `wayword-judge-${study.study}-${study.rater}`;
  const DECISIONS_PER_SECOND = 5; // as in the original animations: two and a half times as fast as flown
  const SCALE = ["not at all", "badly", "partly", "mostly", "completely"];
  const PROBLEMS = { none: "no", ambiguous: "several meanings", impossible: "impossible", confusing: "not to be understood" };

  // Keeping answers ------------------------------------------------------------------------------------------------
  let memory = { consent: false, answers: {}, sent: {} };
  let storing = true;
  function load() {
    try {
      const kept = JSON.parse(localStorage.getItem(key) || "null");
      if (kept && typeof kept === "object" && kept.answers && kept.sent) memory = kept;
    } catch { storing = false; }
  }
  function keep(change) {
    load(); // another tab may have answered meanwhile
    change(memory);
    try { localStorage.setItem(key, JSON.stringify(memory)); storing = true; } catch { storing = false; }
    status();
  }
  const unsent = () => Object.values(memory.answers).filter((a) => memory.sent[a.item] !== a.at);
  let refused = "";
  function status() {
    const given = Object.keys(memory.answers).length;
    let text = "";
    if (given && served && !unsent().length) text = "All answers are saved.";
    else if (given && served) text = refused || `Not sent yet: ${unsent().length}. They are kept here and sent as soon as possible.`;
    else if (given) text = "Your answers are kept in this browser.";
    if (given && !storing) text += " This browser keeps nothing: please download your answers before closing the page.";
    $("saved").textContent = text;
    $("download").hidden = !given;
  }
  const headers = { "Content-Type": "application/json", "X-Wayword": "judge", "X-Wayword-Token": token };
  let sending = false;
  async function send() {
    if (!served || sending) return;
    sending = true;
    try {
      for (let waiting; (waiting = unsent()).length; ) {
        const answer = waiting[0];
        const reply = await fetch(`${location.pathname}/answers`, { method: "POST", headers, body: JSON.stringify(answer) });
        if (!reply.ok) { refused = `The server did not take an answer (${(await reply.text()).slice(0, 200)}). It is kept here.`; break; }
        refused = "";
        keep((m) => { m.sent[answer.item] = answer.at; });
      }
    } catch { /* no connection: tried again below */ }
    sending = false;
    status();
  }
  async function fetchEarlier() { // begun on another computer
    try {
      const reply = await fetch(`${location.pathname}/answers`, { headers });
      if (!reply.ok) return;
      const earlier = await reply.json();
      keep((m) => {
        for (const a of earlier) if (!m.answers[a.item] || m.answers[a.item].at < a.at) {
          m.answers[a.item] = a; m.sent[a.item] = a.at; m.consent = true;
        }
      });
    } catch { /* the answers of this browser are enough */ }
  }
  function download() {
    const answers = study.items.map((item) => memory.answers[item.id]).filter(Boolean);
    const text = JSON.stringify({ format: study.format, study: study.study, rater: study.rater, answers }, null, 1);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = `answers-${study.rater}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // The animation --------------------------------------------------------------------------------------------------
  const map = $("map"), pen = map.getContext("2d");
  const pictures = study.pictures.map((data) => { const image = new Image(); image.src = data; return image; });
  let item = null, at = 0, playing = false, before = 0, watched = false;
  const last = () => item.track.length - 1;
  function drone(g, x, y, heading, metre) {
    const turn = (-heading * Math.PI) / 180;
    g.save(); g.translate(x, y); g.rotate(turn);
    const wedge = g.createRadialGradient(0, 0, 0, 0, 0, metre);
    wedge.addColorStop(0, "rgba(255,255,255,.5)"); wedge.addColorStop(1, "rgba(255,255,255,.05)");
    g.fillStyle = wedge; g.beginPath(); g.moveTo(0, 0); g.arc(0, 0, metre, -0.733, 0.733); g.fill();
    for (const [color, grow] of [["#12161e", 2], ["#ffce38", 0]]) {
      g.strokeStyle = g.fillStyle = color; g.lineWidth = 3 + 2 * grow;
      for (const a of [0.785, 2.356]) {
        g.beginPath(); g.moveTo(14 * Math.cos(a), 14 * Math.sin(a)); g.lineTo(-14 * Math.cos(a), -14 * Math.sin(a)); g.stroke();
      }
      for (const a of [0.785, 2.356, 3.927, 5.498]) {
        g.beginPath(); g.arc(14 * Math.cos(a), 14 * Math.sin(a), 8 + grow, 0, 7); g.fill();
      }
    }
    g.fillStyle = "#fff"; g.strokeStyle = "#12161e"; g.lineWidth = 1.5;
    g.beginPath(); g.moveTo(22, 0); g.lineTo(-6, 7); g.lineTo(-2, 0); g.lineTo(-6, -7); g.closePath(); g.fill(); g.stroke();
    g.restore();
  }
  function trail(g, points) {
    for (const [color, width] of [["rgba(18,22,30,.6)", 8], ["#ffce38", 5]]) {
      g.strokeStyle = color; g.lineWidth = width; g.lineJoin = g.lineCap = "round";
      g.beginPath(); points.forEach(([x, y], i) => (i ? g.lineTo(x, y) : g.moveTo(x, y))); g.stroke();
    }
    const [x, y] = points[0];
    for (const [color, r] of [["#12161e", 8], ["#fff", 6.5], ["#12161e", 3]]) { g.fillStyle = color; g.beginPath(); g.arc(x, y, r, 0, 7); g.fill(); }
  }
  function draw() {
    if (!item) return;
    const image = pictures[item.picture];
    if (image.complete) pen.drawImage(image, 0, 0, map.width, map.height);
    else image.onload = draw;
    const i = Math.min(Math.floor(at), last()), j = Math.min(i + 1, last()), part = at - i;
    const [a, b] = [item.track[i], item.track[j]];
    const turn = ((b[2] - a[2] + 540) % 360) - 180;
    const here = [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + turn * part];
    trail(pen, [...item.track.slice(0, i + 1), here]);
    drone(pen, ...here, item.metre);
    $("time").value = last() ? Math.round((1000 * at) / last()) : 1000;
    if (at >= last()) watched = true;
  }
  function setPlaying(on) {
    playing = on;
    $("play").textContent = on ? "Pause" : "Play";
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (on) { before = performance.now(); requestAnimationFrame(tick); }
  }
  function tick(now) {
    if (!playing) return;
    at = Math.min(at + (Math.max(now - before, 0) / 1000) * DECISIONS_PER_SECOND, last());
    before = now;
    draw();
    if (at >= last()) setPlaying(false); else requestAnimationFrame(tick);
  }
  $("play").onclick = () => { if (at >= last()) at = 0; setPlaying(!playing); };
  $("again").onclick = () => { at = 0; draw(); setPlaying(true); };
  $("time").oninput = (event) => { setPlaying(false); at = (event.target.value / 1000) * last(); draw(); };

  // The form -------------------------------------------------------------------------------------------------------
  function option(name, value, parts) {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "radio", name, value });
    label.append(input, ...parts);
    return label;
  }
  for (const name of ["goal", "path"]) SCALE.forEach((words, i) => {
    const number = document.createElement("b");
    number.textContent = i + 1;
    $(name).append(option(name, i + 1, [number, words]));
  });
  for (const [value, words] of Object.entries(PROBLEMS)) $("problem").append(option("problem", value, [" " + words]));

  let shownAt = 0, index = 0;
  function show(number) {
    index = number;
    for (const id of ["welcome", "flight", "end"]) $(id).hidden = true;
    setPlaying(false);
    if (number >= study.items.length) return end();
    item = study.items[number];
    const earlier = memory.answers[item.id];
    $("flight").hidden = false;
    $("instruction").textContent = item.text;
    $("form").reset();
    $("missing").textContent = "";
    for (const name of ["goal", "path", "problem"]) {
      const value = earlier ? earlier[name] : name === "problem" ? "none" : null;
      for (const input of $("form").elements[name]) input.checked = input.value === String(value);
    }
    const given = Object.keys(memory.answers).length;
    $("progress").max = study.items.length;
    $("progress").value = given;
    $("place").textContent = `Flight ${number + 1} of ${study.items.length}`;
    $("back").disabled = number === 0;
    at = 0; watched = Boolean(earlier); shownAt = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (still) at = last();
    draw();
    if (!still) setPlaying(true);
    scrollTo(0, 0);
    $("instruction").focus({ preventScroll: true });
  }
  const firstOpen = () => { const i = study.items.findIndex((one) => !memory.answers[one.id]); return i < 0 ? study.items.length : i; };
  $("form").onsubmit = (event) => {
    event.preventDefault();
    const data = new FormData($("form"));
    const missing = ["goal", "path"].filter((name) => !data.get(name));
    if (missing.length) { $("missing").textContent = `Please give the ${missing.join(" and the ")} score.`; return; }
    if (!watched) { $("missing").textContent = "Please watch the flight to its end first."; return; }
    const answer = {
      study: study.study, rater: study.rater, item: item.id, goal: Number(data.get("goal")), path: Number(data.get("path")),
      problem: data.get("problem") || "none", seconds: Math.round(performance.now() - shownAt) / 1000,
      at: new Date().toISOString(), consent: true,
    };
    keep((m) => { m.answers[answer.item] = answer; });
    send();
    show(index + 1);
  };
  $("back").onclick = () => show(index - 1);
  $("review").onclick = () => show(0);
  $("download").onclick = download;
  function end() {
    const open = firstOpen();
    if (open < study.items.length) return show(open);
    item = null;
    $("end").hidden = false;
    $("done").textContent = `You have judged all ${study.items.length} flights.`;
    $("how").textContent = served ? "You may close this page when it says below that all answers are saved."
      : "Please download your answers with the button below and send the file to whoever asked you.";
    status();
  }

  // Beginning ------------------------------------------------------------------------------------------------------
  $("count").textContent = study.items.length;
  $("consent").textContent = study.consent;
  $("agree").onchange = () => { $("start").disabled = !$("agree").checked; };
  $("start").onclick = () => { keep((m) => { m.consent = true; }); show(firstOpen()); };
  const sample = $("sample").getContext("2d");
  sample.fillStyle = "#5d6b57"; sample.fillRect(0, 0, 560, 110);
  trail(sample, [[60, 78], [130, 40], [230, 36], [330, 60]]);
  drone(sample, 330, 60, -14, 110);
  load();
  (async () => {
    if (served) await fetchEarlier();
    status();
    if (memory.consent) show(firstOpen()); else $("welcome").hidden = false;
    send();
  })();
  setInterval(send, 5000);
  addEventListener("online", send);
  addEventListener("storage", () => { load(); status(); });
})();
