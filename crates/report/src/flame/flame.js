
// Draws the towers, and lets one look into them.
(() => {
  "use strict";
  const source = document.getElementById("fullbore-flame");
  const place = document.getElementById("towers");
  if (!source || !place) return;
  const data = JSON.parse(source.textContent);
  const ROW = 18, LEAST = 1.5;
  const ns = (value) => data.unit === "us" ? value * 1000 : value;
  const time = (value) => {
    const v = ns(value);
    return v < 1e6 ? (v / 1e3).toFixed(0) + " µs" : v < 1e9 ? (v / 1e6).toFixed(v < 1e7 ? 1 : 0) + " ms" : (v / 1e9).toFixed(2) + " s";
  };
  const isDiff = (node) => node.b !== undefined;
  const share = (part, whole) => (whole > 0 ? 100 * part / whole : 0).toFixed(1) + " %";
  const change = (node) => node.b > 0 ? `${node.a >= node.b ? "+" : "−"}${Math.abs(100 * (node.a - node.b) / node.b).toFixed(1)} %` : "new";
  const about = (node, tower) => isDiff(node)
    ? `${node.n}: ${time(node.b)} before, ${time(node.a)} after (${change(node)})`
    : `${node.n}: ${time(node.v)}, ${share(node.v, tower.root.v)} of the stage, ${share(node.v, data.total)} of the run`;
  const paint = (cell, node) => {
    if (!isDiff(node)) {
      cell.className = "f-" + node.k;
      // What a function called stands below it, from the left; the rest is its own time.
      const below = node.v - node.o;
      if (below > 0) cell.style.background = `linear-gradient(to right, var(--f-caller) ${100 * below / node.v}%, var(--f-${node.k}) 0)`;
      return;
    }
    const by = (node.a - node.b) / (node.a + node.b || 1);
    const name = by > 0 ? "--f-longer" : "--f-shorter";
    cell.style.background = Math.abs(by) < 0.01 ? "var(--track)" : `rgb(var(${name}) / ${(0.15 + 0.85 * Math.abs(by)).toFixed(2)})`;
  };
  const link = (node, parent) => { node.p = parent; (node.c || []).forEach((child) => link(child, node)); };
  let searched = "";
  let chosen = null;

  const towers = data.towers.map((tower) => {
    link(tower.root, null);
    const box = document.createElement("div");
    box.className = "tower";
    const title = document.createElement("h3");
    const code = document.createElement("code");
    code.textContent = tower.title;
    const length = document.createElement("span");
    title.append(code, length);
    const graph = document.createElement("div");
    graph.className = "graph";
    graph.setAttribute("role", "group");
    graph.setAttribute("aria-label", tower.title);
    box.append(title, graph);
    place.append(box);
    return { ...tower, graph, length, top: tower.root, cells: new Map() };
  });

  const choose = (tower, node) => {
    chosen = node;
    const names = [];
    for (let at = node; at; at = at.p) names.unshift(at.n);
    document.getElementById("about").textContent = about(node, tower);
    document.getElementById("stack").textContent = names.map((name, depth) => "  ".repeat(depth) + name).join("\n");
    document.getElementById("chosen").hidden = false;
    // The chosen one is the last of its stack.
    const stack = document.getElementById("stack");
    stack.scrollTop = stack.scrollHeight;
  };

  const draw = (tower, focus) => {
    const { graph, cells } = tower;
    graph.textContent = "";
    cells.clear();
    const width = graph.clientWidth;
    const whole = tower.top === tower.root;
    const scale = whole ? width / data.total : width / tower.top.v;
    let deepest = 0;
    const cell = (node, left, depth, size) => {
      const wide = node.v * size;
      if (wide < LEAST && node !== tower.top && size > 0) return;
      const element = document.createElement("div");
      paint(element, node);
      element.style.left = left + "px";
      element.style.top = depth * ROW + "px";
      element.style.width = Math.max(wide, 1) + "px";
      element.textContent = node.n;
      element.title = about(node, tower);
      element.tabIndex = node === (focus || tower.top) ? 0 : -1;
      element.setAttribute("role", "button");
      element.setAttribute("aria-label", about(node, tower));
      if (wide < 18) element.classList.add("narrow-one");
      if (searched && node.n.toLowerCase().includes(searched)) element.classList.add("hit");
      element.addEventListener("click", () => { choose(tower, node); tower.top = node; draw(tower, node); });
      element.addEventListener("keydown", (event) => key(event, tower, node));
      graph.append(element);
      cells.set(node, element);
      deepest = Math.max(deepest, depth);
      return element;
    };
    let depth = 0;
    const above = [];
    for (let at = tower.top.p; at; at = at.p) above.unshift(at);
    for (const node of above) {
      const element = cell(node, 0, depth, 0);
      if (element) { element.style.width = width + "px"; element.classList.add("above"); element.classList.remove("narrow-one"); }
      depth += 1;
    }
    const all = (node, left, row) => {
      if (!cell(node, left, row, scale)) return;
      let at = left;
      for (const child of node.c || []) { all(child, at, row + 1); at += child.v * scale; }
    };
    all(tower.top, whole ? tower.start * scale : 0, depth);
    graph.style.height = (deepest + 1) * ROW + "px";
    graph.classList.toggle("searching", searched !== "");
    const both = (node) => isDiff(node) ? `${time(node.b)} → ${time(node.a)}` : time(node.v);
    tower.length.textContent = whole ? both(tower.root) : `${both(tower.top)} of ${both(tower.root)}`;
    if (focus && cells.get(focus)) cells.get(focus).focus();
  };

  const key = (event, tower, node) => {
    const siblings = node.p ? node.p.c : [node];
    const to = {
      ArrowUp: () => node.p, ArrowDown: () => (node.c || []).find((child) => tower.cells.has(child)),
      ArrowLeft: () => siblings[siblings.indexOf(node) - 1], ArrowRight: () => siblings[siblings.indexOf(node) + 1],
    }[event.key];
    if (to) {
      const next = to();
      const element = next && tower.cells.get(next);
      if (element) {
        tower.cells.get(node).tabIndex = -1;
        element.tabIndex = 0;
        element.focus();
        choose(tower, next);
      }
      event.preventDefault();
    } else if (event.key === "Enter" || event.key === " ") {
      choose(tower, node);
      tower.top = node;
      draw(tower, node);
      event.preventDefault();
    } else if (event.key === "Escape") {
      reset();
      draw(tower, tower.cells.has(node) ? node : tower.root);
      event.preventDefault();
    }
  };

  const reset = () => towers.forEach((tower) => { tower.top = tower.root; draw(tower, null); });
  // Time in functions of this name, each counted once where one calls another.
  const within = (node) => node.n.toLowerCase().includes(searched) ? node.v : (node.c || []).reduce((sum, child) => sum + within(child), 0);
  document.getElementById("search").addEventListener("input", (event) => {
    searched = event.target.value.trim().toLowerCase();
    towers.forEach((tower) => draw(tower, null));
    const found = document.getElementById("found");
    found.textContent = searched === "" ? "" : towers.map((tower) => [tower, within(tower.root)]).filter(([, value]) => value > 0)
      .map(([tower, value]) => `${tower.title.split(" ").slice(0, 2).join(" ")}: ${time(value)} (${share(value, tower.root.v)})`).join(", ") || "found nowhere";
  });
  document.querySelector(".tools").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("reset").addEventListener("click", reset);
  window.addEventListener("resize", () => towers.forEach((tower) => draw(tower, null)));
  reset();
})();
