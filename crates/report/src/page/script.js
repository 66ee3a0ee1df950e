// Draws any part of the timeline. The page has the whole run as a picture without this script.
(function () {
  "use strict";
  var root = document.documentElement;
  window.addEventListener("error", function (event) { root.dataset.script = "error: " + event.message; });

  var ENDS = ["input empty", "output full", "waiting", "budget spent", "node ended", "refused"];
  var STEAL = 6, SPIN = 7, PARK = 8, GROWTH = 9, LOOP = 10, GRAPH = 11, STALL = 12;
  var LEFT = 110, ROW = 26, BAR = 18, AXIS = 20;
  var data = JSON.parse(document.getElementById("events").textContent);
  var zoom = document.getElementById("zoom");
  var canvas = zoom.querySelector("canvas"), says = zoom.querySelector("output"), pen = canvas.getContext("2d");
  var view = { from: 0, to: data.end }, dark = window.matchMedia("(prefers-color-scheme: dark)"), colours = {};

  // Each track: starts, lengths and codes, in order of the starts. `reached` has the latest end so far.
  var tracks = data.tracks.map(function (track) {
    var starts = [], lengths = [], codes = [], reached = [], at = 0, latest = 0;
    for (var i = 0; i < track.events.length; i += 3) {
      at += track.events[i];
      starts.push(at); lengths.push(track.events[i + 1]); codes.push(track.events[i + 2]);
      latest = Math.max(latest, at + track.events[i + 1]); reached.push(latest);
    }
    return { name: track.name, starts: starts, lengths: lengths, codes: codes, reached: reached };
  });

  function readColours() {
    var style = getComputedStyle(root);
    ["ink", "quiet", "line", "idle", "sleep", "stall", "room", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"].forEach(
      function (name) { colours[name] = style.getPropertyValue("--" + name).trim(); });
  }

  function time(ns) {
    var units = ["ns", "us", "ms", "s"], unit = 0;
    while (ns >= 1000 && unit < 3) { ns /= 1000; unit += 1; }
    return (ns >= 100 || unit === 0 ? ns.toFixed(0) : ns.toPrecision(3)) + " " + units[unit];
  }

  function width() { return Math.max(50, canvas.clientWidth - LEFT - 8); }
  function place(at) { return LEFT + (at - view.from) / (view.to - view.from) * width(); }
  function moment(x) { return view.from + (x - LEFT) / width() * (view.to - view.from); }

  // The first event that ends at `at` or later.
  function first(track, at) {
    var low = 0, high = track.reached.length;
    while (low < high) {
      var middle = (low + high) >> 1;
      if (track.reached[middle] < at) { low = middle + 1; } else { high = middle; }
    }
    return low;
  }

  function fill(code) {
    var kind = code % 16;
    if (kind === SPIN) { return colours.idle; }
    if (kind === PARK) { return colours.sleep; }
    if (kind === GROWTH) { return colours.room; }
    if (kind === STALL) { return colours.stall; }
    var colour = data.colours[Math.floor(code / 16)];
    return colours["c" + (colour === undefined ? 8 : colour)];
  }

  function drawTrack(track, top) {
    pen.fillStyle = colours.quiet;
    pen.fillText(track.name.slice(0, 16), 2, top + 13);
    pen.save();
    pen.beginPath(); pen.rect(LEFT, top - 6, width(), ROW); pen.clip();
    var drawn = -1, last = "";
    for (var i = first(track, view.from); i < track.starts.length && track.starts[i] < view.to; i += 1) {
      var x = place(track.starts[i]), end = place(track.starts[i] + track.lengths[i]), colour = fill(track.codes[i]);
      var kind = track.codes[i] % 16;
      if (kind === STEAL || kind === GROWTH) {
        pen.fillStyle = kind === STEAL ? colours.ink : colours.room;
        pen.fillRect(x, top - 5, kind === STEAL ? 1 : 3, 4);
        continue;
      }
      // Events of less than a pixel on one pixel are drawn once.
      if (end < drawn && colour === last) { continue; }
      pen.fillStyle = colour;
      pen.fillRect(x, top, Math.max(0.7, end - x), BAR);
      if (kind === LOOP || kind === GRAPH) {
        pen.fillStyle = colours.ink;
        pen.fillRect(x, top + BAR - 2, Math.max(0.7, end - x), 2);
      }
      drawn = Math.floor(x) + 1; last = colour;
    }
    pen.restore();
  }

  function step(span) {
    for (var unit = 1; ; unit *= 10) {
      for (var part of [1, 2, 5]) { if (span / (unit * part) <= 9) { return unit * part; } }
    }
  }

  function draw() {
    var ratio = window.devicePixelRatio || 1, height = AXIS + tracks.length * ROW + 6;
    canvas.width = canvas.clientWidth * ratio; canvas.height = height * ratio; canvas.style.height = height + "px";
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, canvas.clientWidth, height);
    pen.font = "11px system-ui, sans-serif";
    var every = step(view.to - view.from);
    for (var at = Math.ceil(view.from / every) * every; at <= view.to; at += every) {
      pen.fillStyle = colours.line; pen.fillRect(place(at), AXIS - 4, 1, height);
      var label = time(at), room = canvas.clientWidth - place(at) - 6;
      pen.fillStyle = colours.quiet;
      if (pen.measureText(label).width < room) { pen.fillText(label, place(at) + 3, 12); }
    }
    tracks.forEach(function (track, row) { drawTrack(track, AXIS + row * ROW + 6); });
  }

  // Shows from `from` on, within the run, and at least 20 ns.
  function show(from, span) {
    span = Math.min(data.end, Math.max(20, span));
    from = Math.min(data.end - span, Math.max(0, from));
    view = { from: from, to: from + span };
    draw();
  }

  function scale(by, x) {
    var at = moment(x), span = (view.to - view.from) / by;
    show(at - (at - view.from) / by, span);
  }

  function point(event) {
    var box = canvas.getBoundingClientRect(), at = moment(event.clientX - box.left);
    var track = tracks[Math.floor((event.clientY - box.top - AXIS) / ROW)], text = "";
    for (var i = track ? first(track, at) : 0; track && i < track.starts.length && track.starts[i] <= at; i += 1) {
      var code = track.codes[i], kind = code % 16, name = data.nodes[Math.floor(code / 16)] || "a node";
      if (at > track.starts[i] + track.lengths[i]) { continue; }
      text = kind === SPIN ? "spinning" : kind === PARK ? "parked" : name;
      if (kind === STALL) { text = "stalled in " + name; }
      if (kind === LOOP || kind === GRAPH) { text = (kind === LOOP ? "loop of " : "task graph of ") + name; }
      text = track.name + ": " + text + " for " + time(track.lengths[i]) + " from " + time(track.starts[i]);
      if (kind < STEAL) { text += " on; then " + ENDS[kind]; }
    }
    says.textContent = text;
  }

  var drag = null;
  canvas.addEventListener("pointerdown", function (event) {
    drag = { x: event.clientX, from: view.from };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", function () { drag = null; });
  canvas.addEventListener("pointermove", function (event) {
    if (!drag) { return point(event); }
    show(drag.from - (event.clientX - drag.x) / width() * (view.to - view.from), view.to - view.from);
  });
  canvas.addEventListener("wheel", function (event) {
    if (!event.ctrlKey) { return; }
    event.preventDefault();
    scale(Math.exp(-event.deltaY / 300), event.clientX - canvas.getBoundingClientRect().left);
  }, { passive: false });
  canvas.addEventListener("keydown", function (event) {
    var span = view.to - view.from, middle = LEFT + width() / 2;
    if (event.key === "+") { scale(2, middle); }
    if (event.key === "-") { scale(0.5, middle); }
    if (event.key === "ArrowLeft") { show(view.from - span / 5, span); }
    if (event.key === "ArrowRight") { show(view.from + span / 5, span); }
  });
  zoom.querySelectorAll("button").forEach(function (button) {
    button.addEventListener("click", function () {
      var by = Number(button.dataset.zoom);
      if (by === 0) { show(0, data.end); } else { scale(by, LEFT + width() / 2); }
    });
  });
  dark.addEventListener("change", function () { readColours(); draw(); });
  window.addEventListener("resize", draw);
  zoom.style.display = "block";
  readColours();
  draw();
  root.dataset.script = "ran";
})();
