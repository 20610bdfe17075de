"use strict";
(function () {
  const box = document.getElementById("values");
  const make = (name, words) => {
    const node = document.createElement(name);
    if (words !== undefined) node.textContent = words;
    return node;
  };
  const readable = (value, chart) =>
    value === null ? "-" : chart.dataset.percent ? (100 * value).toFixed(2) + " %" : String(value);

  function hide() {
    box.hidden = true;
    for (const cursor of document.querySelectorAll("svg.chart .cursor")) cursor.setAttribute("visibility", "hidden");
  }
  // A finger leaves as it is lifted: what it touched stays until something else is touched.
  document.addEventListener("pointerdown", hide, true);
  for (const chart of document.querySelectorAll("svg.chart"))
    chart.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(); });
  document.addEventListener("pointercancel", hide); // the finger scrolls the page

  function show(chart, index, left, top) {
    const x = JSON.parse(chart.dataset.x);
    const places = JSON.parse(chart.dataset.places);
    index = Math.max(0, Math.min(x.length - 1, index));
    chart.dataset.index = index;
    const cursor = chart.querySelector(".cursor");
    cursor.setAttribute("x1", places[index]);
    cursor.setAttribute("x2", places[index]);
    cursor.setAttribute("visibility", "visible");
    const rows = [];
    for (const line of chart.querySelectorAll(".line")) {
      const value = JSON.parse(line.dataset.values)[index];
      if (value !== null && value !== undefined) rows.push([value, line]);
    }
    rows.sort((a, b) => b[0] - a[0]);
    box.replaceChildren(make("strong", chart.dataset.label + " " + x[index]));
    for (const [value, line] of rows) {
      const row = make("div");
      const key = document.createElementNS(chart.namespaceURI, "svg");
      const stroke = document.createElementNS(chart.namespaceURI, "path");
      key.setAttribute("viewBox", "0 0 20 8");
      stroke.setAttribute("d", "M0 4H20");
      stroke.setAttribute("class", line.getAttribute("class"));
      stroke.setAttribute("stroke-width", "2");
      key.append(stroke);
      row.append(key, make("span", line.dataset.name), make("b", readable(value, chart)));
      box.append(row);
    }
    box.hidden = false;
    const width = box.offsetWidth, height = box.offsetHeight;
    const right = left + 14 + width > window.innerWidth ? left - 14 - width : left + 14;
    box.style.left = Math.max(4, Math.min(right, window.innerWidth - width - 4)) + "px";
    box.style.top = Math.max(4, Math.min(top - height / 2, window.innerHeight - height - 4)) + "px";
  }

  for (const chart of document.querySelectorAll("svg.chart[data-x]")) {
    const places = JSON.parse(chart.dataset.places);
    const follow = (event) => {
      const area = chart.getBoundingClientRect();
      const at = ((event.clientX - area.left) / area.width) * chart.viewBox.baseVal.width;
      let nearest = 0;
      places.forEach((place, i) => {
        if (Math.abs(place - at) < Math.abs(places[nearest] - at)) nearest = i;
      });
      show(chart, nearest, event.clientX, event.clientY);
    };
    chart.addEventListener("pointermove", follow);
    chart.addEventListener("pointerdown", follow);
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
      if (event.key === "Escape") hide();
      if (step === undefined) return;
      event.preventDefault();
      const index = Number(chart.dataset.index ?? places.length - 1) + step;
      const bounded = Math.max(0, Math.min(places.length - 1, index));
      const area = chart.getBoundingClientRect();
      const scale = area.width / chart.viewBox.baseVal.width;
      show(chart, bounded, area.left + places[bounded] * scale, area.top + area.height / 2);
    });
  }

  for (const entry of document.querySelectorAll("ul.legend li[data-name]")) {
    const group = entry.closest(".charts-with-legend") || entry.closest("figure");
    const light = (on) => {
      group.classList.toggle("faded", on);
      for (const line of group.querySelectorAll(".line")) {
        line.classList.toggle("lit", on && line.dataset.name === entry.dataset.name);
      }
    };
    entry.addEventListener("pointerenter", () => light(true));
    entry.addEventListener("pointerleave", () => light(false));
  }
})();
