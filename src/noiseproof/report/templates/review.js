"use strict";
(function () {
  const PAGE = 24;
  const data = JSON.parse(document.getElementById("review-data").textContent);
  const $ = (id) => document.getElementById(id);
  // As noiseproof.report.page shows them: after a sign that turns the direction of writing, a name
  // would read backwards, and so would what follows it.
  const turning = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;
  const code = (sign) => sign.charCodeAt(0).toString(16);
  const shown = (words) => String(words).replace(turning, (sign) =>
    code(sign).length > 2 ? "\\u" + code(sign) : "\\x" + code(sign).padStart(2, "0"));
  const make = (name, words, kind) => {
    const node = document.createElement(name);
    if (words !== undefined) node.textContent = shown(words); // text, never markup
    if (kind) node.className = kind;
    return node;
  };
  const rows = data.rows;
  const places = new Map(rows.map((row, at) => [row.n, at]));
  const isRandom = new Map(data.random.map((at, i) => [at, i]));

  // What was decided: by the name of the row {v: decision, l: class, via: list}.
  const state = { decided: Object.create(null), history: [] }; // a row may be called "constructor"
  for (const one of data.before) {
    const label = data.classes.indexOf(one.label);
    state.decided[one.row] = { v: one.decision, l: label, via: one.random ? "random" : "doubtful", g: one.given };
  }
  let kept = true;
  function load() {
    if (!kept) return; // what is only here would be lost
    try {
      const saved = JSON.parse(localStorage.getItem(data.key) || "null");
      if (saved && typeof saved.decided === "object") {
        state.decided = Object.assign(Object.create(null), saved.decided);
        state.history = Array.isArray(saved.history) ? saved.history : [];
      }
    } catch {
      kept = false;
    }
  }
  load();
  function save() {
    try {
      localStorage.setItem(data.key, JSON.stringify(state));
      kept = true;
    } catch {
      kept = false;
    }
    $("unsaved").hidden = kept;
  }

  let list = data.doubtful.length ? "doubtful" : "random";
  let view = []; // places of the rows that match
  let current = 0; // in the view
  const spot = { doubtful: 0, random: 0 };

  const said = (row) => state.decided[row.n];
  const blind = () => list === "random";

  function matching() {
    const given = $("filter-given").value, proposed = $("filter-proposed").value;
    const open = $("filter-open").checked;
    return data[list].filter((at) => {
      const row = rows[at];
      if (blind()) return true;
      if (given !== "" && row.g !== Number(given)) return false;
      if (proposed !== "" && row.p !== Number(proposed)) return false;
      return !(open && said(row));
    });
  }

  function highlighted(node, raw, words) {
    const text = shown(raw);
    if (!words || !words.length || blind()) {
      node.textContent = text;
      return node;
    }
    const quoted = words.map((word) => {
      const plain = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      // Scripts without spaces have no ends of words.
      return /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_]+$/u.test(word)
        ? "(?<![\\p{L}\\p{N}_])" + plain + "(?![\\p{L}\\p{N}_])" : plain;
    });
    let last = 0;
    for (const found of text.matchAll(new RegExp(quoted.join("|"), "giu"))) {
      node.append(text.slice(last, found.index), make("mark", found[0]));
      last = found.index + found[0].length;
    }
    node.append(text.slice(last));
    return node;
  }

  function verdict(row) {
    const one = said(row);
    if (!one) return null;
    const words = { keep: "kept", skip: "skipped" }[one.v] || "→ " + data.classes[one.l];
    return make("span", words, "said " + one.v);
  }

  function columns(row) {
    const typical = !blind() && row.p !== row.g && row.k.some((one) => one[2] !== "");
    const table = make("div", undefined, typical ? "columns typical" : "columns");
    if (typical) {
      const head = ["", "here", data.classes[row.g], data.classes[row.p]];
      table.append(...head.map((words) => make("span", words, "head")));
    }
    for (const [column, value, given, proposed] of row.k) {
      table.append(make("span", column, "quiet"), make("b", value === "" ? "–" : value));
      if (typical) table.append(make("span", given), make("span", proposed));
    }
    return table;
  }

  function card(at, index) {
    const row = rows[at];
    const node = make("li");
    node.dataset.row = row.n;
    node.tabIndex = -1;
    if (index === current) node.setAttribute("aria-current", "true");
    const name = make("div", undefined, "name");
    name.append(make("span", "row " + row.n));
    const done = verdict(row);
    if (done) {
      node.classList.add("done");
      name.append(done);
    } else if (!blind() && row.p !== row.g) {
      name.append(make("span", row.c >= 0.9995 ? "over 99.9% sure" : (100 * row.c).toFixed(1) + "% sure"));
    }
    const labels = make("div", undefined, "labels");
    labels.append("given ", make("b", data.classes[row.g]));
    if (!blind() && row.p !== row.g) labels.append(", proposed ", make("b", data.classes[row.p]));
    node.append(name, labels);
    if (row.i) {
      const picture = make("img");
      picture.src = row.i;
      picture.alt = "row " + row.n;
      if (row.i.startsWith("data:image/png")) picture.className = "tiny";
      node.append(picture);
    }
    for (const [column, text] of row.t || []) {
      const words = make("p", undefined, "text");
      if (row.t.length > 1) words.append(make("span", column + ": ", "quiet"));
      words.append(highlighted(make("span"), text, row.w));
      node.append(words);
    }
    if (row.k) node.append(columns(row));
    node.addEventListener("click", () => go(index, false));
    return node;
  }

  function draw(scroll) {
    current = Math.max(0, Math.min(current, view.length - 1));
    spot[list] = current;
    const first = Math.floor(current / PAGE) * PAGE;
    const cards = view.slice(first, first + PAGE).map((at, i) => card(at, first + i));
    $("cards").replaceChildren(...cards);
    $("nothing").hidden = view.length > 0;
    const pages = Math.max(1, Math.ceil(view.length / PAGE));
    $("page-words").textContent = "page " + (Math.floor(current / PAGE) + 1) + " of " + pages.toLocaleString("en");
    $("page-back").disabled = first === 0;
    $("page-on").disabled = first + PAGE >= view.length;
    const row = view.length ? rows[view[current]] : null;
    const now = cards[current - first];
    $("now").textContent = row ? now.querySelector(".name").firstChild.textContent + ": " + now.querySelector(".labels").textContent : "";
    $("do-keep").disabled = $("do-other").disabled = $("do-skip").disabled = !row;
    $("do-proposal").disabled = !row || blind() || row.p === row.g;
    $("do-undo").disabled = state.history.length === 0;
    if (scroll && row) now.scrollIntoView({ block: "nearest" });
    tell();
  }

  function tell() {
    for (const name of ["doubtful", "random"]) {
      const done = data[name].filter((at) => said(rows[at])).length;
      const tab = $("tab-" + name);
      tab.setAttribute("aria-selected", String(name === list));
      tab.querySelector(".count").textContent = "(" + done.toLocaleString("en") + " of " + data[name].length.toLocaleString("en") + ")";
      $("about-" + name).hidden = name !== list;
    }
    const done = data[list].filter((at) => said(rows[at])).length;
    const changed = Object.values(state.decided).filter((one) => one.v === "proposal" || one.v === "other").length;
    $("progress").max = Math.max(1, data[list].length);
    $("progress").value = done;
    $("progress-words").textContent = done.toLocaleString("en") + " of " + data[list].length.toLocaleString("en") +
      " decided; " + changed.toLocaleString("en") + (changed === 1 ? " label" : " labels") + " corrected in all";
    for (const id of ["filter-given", "filter-proposed", "filter-open", "filter-clear"]) $(id).disabled = blind();
    $("measured").hidden = !blind();
    if (blind()) $("measured").textContent = measured();
  }

  // The exact interval of Clopper and Pearson, by bisection on the binomial distribution.
  function atMost(k, n, p) {
    let term = Math.pow(1 - p, n), sum = term;
    for (let i = 1; i <= k; i++) sum += term *= ((n - i + 1) / i) * (p / (1 - p));
    return sum;
  }
  function solve(above) {
    let low = 0, high = 1;
    for (let i = 0; i < 50; i++) above((low + high) / 2) ? (low = (low + high) / 2) : (high = (low + high) / 2);
    return low;
  }
  function exact(k, n, interval) {
    const low = k === 0 ? 0 : solve((p) => 1 - atMost(k - 1, n, p) < 0.025);
    const high = k === n ? 1 : solve((p) => atMost(k, n, p) > 0.025);
    const percent = (x) => (100 * x).toFixed(1) + "%";
    return percent(k / n) + (interval ? " (" + percent(low) + " to " + percent(high) + ")" : "");
  }
  function sample() {
    // Up to the last row decided in this list; those decided among the doubtful rows alone would
    // make the sample look worse than the data are.
    let last = -1;
    data.random.forEach((at, i) => { if (said(rows[at])?.via === "random") last = i; });
    return data.random.slice(0, last + 1);
  }
  function measured() {
    const looked = sample().map((at) => rows[at]).filter((row) => said(row) && said(row).v !== "skip");
    if (!looked.length) return "Decide about some of these rows to see what they say.";
    const wrong = looked.filter((row) => said(row).l !== row.g).length;
    const right = looked.filter((row) => said(row).l === row.q).length;
    // Rows that belong together may err together: their number would make intervals too narrow.
    const units = looked.map((row) => row.u ?? row.n), alone = new Set(units).size === looked.length;
    const told = (k) => exact(k, looked.length, alone);
    return "By " + (looked.length === 1 ? "this row: " : "these " + looked.length + " rows: ") + told(wrong) + " of the labels are wrong, and the model is right on " +
      told(right) + " of rows it has not seen. " + (alone ? "The intervals are exact (95%)." :
        "Some of these rows belong together; noiseproof fit --reviewed says how wide the intervals are.");
  }

  function go(index, scroll) {
    current = index;
    draw(scroll);
  }
  function open(name) {
    spot[list] = current;
    list = name;
    view = matching();
    current = spot[name];
    draw(false);
  }
  function filter() {
    view = matching();
    current = 0;
    draw(false);
  }

  function decide(v, label) {
    if (!view.length) return;
    const row = rows[view[current]];
    load(); // another tab may have decided since
    state.history.push([row.n, said(row) || null, list]);
    state.decided[row.n] = { v, l: label, via: list };
    save();
    if (current < view.length - 1) current += 1;
    draw(true);
  }
  function undo() {
    load();
    const last = state.history.pop();
    if (!last) return;
    const [name, before, where] = last;
    if (before) state.decided[name] = before;
    else delete state.decided[name];
    save();
    if (where !== list) {
      list = where;
      view = matching();
    }
    const at = view.indexOf(places.get(name));
    if (at >= 0) current = at;
    draw(true);
  }

  const row = () => rows[view[current]];
  const keep = () => row() && decide("keep", row().g);
  const take = () => row() && !blind() && row().p !== row().g && decide("proposal", row().p);
  const skip = () => row() && decide("skip", -1);
  const label = (k) => row() && (k === row().g ? keep() : !blind() && k === row().p ? take() : decide("other", k));
  const step = (by) => go(Math.max(0, Math.min(view.length - 1, current + by)), true);

  const numbered = data.classes.length <= 9; // each has a key
  const dialog = $("choose");
  let offered = [], picked = 0;
  function offer() {
    const words = $("choose-filter").value.toLowerCase();
    offered = data.classes.map((name, k) => [name, k])
      .filter(([name]) => name.toLowerCase().includes(words)).slice(0, 200);
    picked = Math.max(0, Math.min(picked, offered.length - 1));
    $("choose-list").replaceChildren(...offered.map(([name, k], i) => {
      const item = make("li"), button = make("button");
      if (numbered) button.append(make("kbd", k + 1), " ");
      button.append(shown(name));
      button.type = "button";
      if (i === picked) button.setAttribute("aria-selected", "true");
      button.addEventListener("click", () => { dialog.close(); label(k); });
      item.append(button);
      return item;
    }));
    $("choose-list").querySelector("[aria-selected]")?.scrollIntoView({ block: "nearest" });
  }
  function ask() {
    if (!row()) return;
    $("choose-filter").value = "";
    picked = 0;
    offer();
    dialog.showModal();
    $("choose-filter").focus();
  }
  $("choose-filter").addEventListener("input", () => { picked = 0; offer(); });
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) { event.preventDefault(); picked += by; offer(); }
    if (event.key === "Enter" && event.target === $("choose-filter")) {
      event.preventDefault();
      if (offered.length) { dialog.close(); label(offered[picked][1]); }
    }
  });

  // As noiseproof.files.spreadsheet escapes texts that a spreadsheet would run.
  const formula = /^'*[=+\-@\t\r\n＝＋－＠]/, number = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
  function field(text) {
    if (formula.test(text) && !number.test(text)) text = "'" + text;
    return /[",;\t\r\n]|^\s|\s$|^'/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }
  function exported() {
    const sampled = new Set(sample().map((at) => rows[at].n));
    const lines = ["row,given_label,decision,label,list,fingerprint"];
    for (const [name, one] of Object.entries(state.decided)) {
      const at = places.get(name);
      const given = at === undefined ? one.g : data.classes[rows[at].g];
      const random = sampled.has(name) || (one.via === "random" && !isRandom.has(at));
      const words = [name, given, one.v, one.v === "skip" ? "" : data.classes[one.l],
        random ? "random" : "doubtful", data.fingerprint];
      lines.push(words.map(field).join(","));
    }
    return lines.join("\r\n") + "\r\n";
  }
  function download() {
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([exported()], { type: "text/csv;charset=utf-8" }));
    link.download = "reviewed.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const keys = { k: keep, p: take, o: ask, s: skip, u: undo, d: download, arrowright: () => step(1), arrowleft: () => step(-1) };
  window.addEventListener("storage", (event) => {
    if (event.key !== data.key) return;
    load();
    draw(false);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const inside = $("review").contains(event.target);
    if (event.target.closest("select, input[type=text], summary, svg") || (!inside && event.target !== document.body)) return;
    if (!inside) { // only if the row is in sight
      const area = $("cards").querySelector("[aria-current]")?.getBoundingClientRect();
      if (!area || area.bottom < 0 || area.top > window.innerHeight) return;
    }
    const digit = numbered ? Number(event.key) : NaN;
    if (digit >= 1 && digit <= data.classes.length) {
      event.preventDefault();
      label(digit - 1);
    } else if (keys[event.key.toLowerCase()]) {
      event.preventDefault();
      keys[event.key.toLowerCase()]();
    }
  });
  const clicks = { "do-keep": keep, "do-proposal": take, "do-other": ask, "do-skip": skip, "do-undo": undo, download,
    "do-back": () => step(-1), "do-on": () => step(1), "page-back": () => step(-PAGE), "page-on": () => step(PAGE),
    "tab-doubtful": () => open("doubtful"), "tab-random": () => open("random"),
    "filter-clear": () => { $("filter-given").value = $("filter-proposed").value = ""; $("filter-open").checked = false; filter(); } };
  for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
  for (const id of ["filter-given", "filter-proposed", "filter-open"]) $(id).addEventListener("change", filter);
  for (const [id, key] of [["filter-given", "g"], ["filter-proposed", "p"]]) {
    const counts = new Map();
    for (const at of data.doubtful) counts.set(rows[at][key], (counts.get(rows[at][key]) || 0) + 1);
    for (const k of [...counts.keys()].sort((a, b) => a - b)) {
      const option = make("option", data.classes[k] + " (" + counts.get(k) + ")");
      option.value = k;
      $(id).append(option);
    }
  }

  function picture(at) {
    const button = make("button"), image = make("img"), of = rows[data.doubtful[at]];
    button.type = "button";
    button.title = "row " + of.n;
    image.src = of.i || "data:,";
    image.alt = "row " + of.n;
    if (image.src.startsWith("data:image/png")) image.className = "tiny";
    image.loading = "lazy";
    button.append(image);
    button.addEventListener("click", () => {
      clicks["filter-clear"]();
      open("doubtful");
      go(view.indexOf(data.doubtful[at]), true);
    });
    return button;
  }
  for (const box of document.querySelectorAll(".montage[data-rows]"))
    box.append(...JSON.parse(box.dataset.rows).map(picture));

  for (const map of document.querySelectorAll("svg[data-map]")) {
    const box = $("values"), width = map.viewBox.baseVal.width;
    const points = [...map.querySelectorAll("circle > title")].map((title) => {
      const of = title.parentNode;
      title.remove(); // else the browser shows it too
      return [of.cx.baseVal.value, of.cy.baseVal.value, title.textContent];
    });
    const follow = (event) => {
      const area = map.getBoundingClientRect(), scale = width / area.width;
      const x = (event.clientX - area.left) * scale, y = (event.clientY - area.top) * scale;
      let nearest = 10, told = "";
      for (const [cx, cy, words] of points) {
        const far = Math.hypot(cx - x, cy - y);
        if (far <= nearest) [nearest, told] = [far, words];
      }
      box.hidden = !told;
      if (!told) return;
      box.replaceChildren(make("strong", told));
      box.style.left = Math.max(4, Math.min(event.clientX + 12, window.innerWidth - box.offsetWidth - 4)) + "px";
      box.style.top = Math.max(4, event.clientY - 34) + "px";
    };
    map.addEventListener("pointermove", follow);
    map.addEventListener("pointerdown", follow);
  }

  document.documentElement.classList.add("scripted");
  if (rows.some((one) => one.i)) $("cards").style.setProperty("--card", "190px");
  else if (rows.some((one) => one.t)) $("cards").style.setProperty("--card", "460px");
  $("review").hidden = false;
  $("unsaved").hidden = kept;
  for (const name of ["doubtful", "random"]) // go on where it was left
    spot[name] = Math.max(0, data[name].findIndex((at) => !said(rows[at])));
  view = matching();
  current = spot[list];
  draw(false);
})();
