// Comfort only: a line under the pointer with its values, and buttons that copy a command.
(() => {
  "use strict";
  const run = document.getElementById("fullbore-run"); // only the page of a run has lines under a pointer
  const record = run && JSON.parse(run.textContent);
  const timeline = record && record.timeline;
  const names = [["running", "running"], ["runnable", "waits for a CPU"], ["blocked_reading", "waits for input"],
    ["blocked_writing", "waits to write"], ["blocked_other", "waits for something else"]];
  const amount = (value, units, base) => {
    let place = 0;
    while (value >= base && place + 1 < units.length) { value /= base; place += 1; }
    return value.toFixed(value < 9.95 && place > 0 ? 1 : 0) + " " + units[place];
  };
  const time = (ns) => ns < 1e9 ? (ns / 1e6).toFixed(0) + " ms" : (ns / 1e9).toFixed(2) + " s";
  const values = (line, step, isRates) => {
    const start = time(timeline.start_ns + step * timeline.step_ns);
    if (isRates) {
      const rate = (bytes) => amount((bytes || 0) * 1e9 / timeline.step_ns, ["B/s", "kB/s", "MB/s", "GB/s"], 1000);
      return `${start}\nin ${rate(line.read_bytes[step])}\nout ${rate(line.written_bytes[step])}`;
    }
    return [start].concat(names.filter(([key]) => line[key][step] >= 0.5)
      .map(([key, name]) => `${name} ${Math.round(line[key][step])} %`)).join("\n");
  };
  const strips = [...document.querySelectorAll(".strip")];
  const steps = timeline ? Math.max(0, ...timeline.stages.map((line) =>
    Math.max(...names.map(([key]) => line[key].length), line.read_bytes.length, line.written_bytes.length))) : 0;
  const readout = document.createElement("div");
  readout.className = "readout";
  const crosses = new Map();
  const clear = () => { readout.remove(); crosses.forEach((cross) => cross.remove()); };
  for (const strip of strips) {
    const cross = document.createElement("div");
    cross.className = "cross";
    crosses.set(strip, cross);
    strip.querySelectorAll("rect.tip title").forEach((title) => title.remove());
    strip.addEventListener("pointerleave", clear);
    strip.addEventListener("pointermove", (event) => {
      const box = strip.getBoundingClientRect();
      const share = Math.min(0.9999, Math.max(0, (event.clientX - box.left) / box.width));
      for (const other of strip.closest(".chart").querySelectorAll(".strip")) {
        const line = crosses.get(other);
        line.style.left = share * 100 + "%";
        other.append(line);
      }
      readout.textContent = values(timeline.stages[strip.dataset.line], Math.floor(share * steps), strip.querySelector(".rates"));
      readout.style.left = share > 0.5 ? "auto" : `calc(${share * 100}% + 8px)`;
      readout.style.right = share > 0.5 ? `calc(${(1 - share) * 100}% + 8px)` : "auto";
      strip.append(readout);
    });
  }
  for (const block of document.querySelectorAll("pre.command")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const code = block.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
      }
    });
    block.classList.add("has-button");
    block.append(button);
  }
})();
