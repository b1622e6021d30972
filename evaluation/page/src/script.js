// Tables sort by a click on a header; numbers as numbers, what is none last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const key = (cell) => {
    const value = cell.dataset.value;
    if (value === undefined) return cell.textContent;
    return value === "" ? null : Number(value);
  };
  const order = (a, b) => (typeof a === "number" ? (a > b) - (a < b) : a.localeCompare(b));
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows].map((row) => [key(row.cells[column]), row]);
      rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : sign * order(a, b)));
      table.tBodies[0].append(...rows.map(([, row]) => row));
    });
  });
}
// A name in the legend brings its series forward.
for (const figure of document.querySelectorAll("figure")) {
  const series = [...figure.querySelectorAll(".series")];
  [...figure.querySelectorAll(".legend li[data-series]")].forEach((item) => {
    const show = (only) => series.forEach((one) => one.classList.toggle("faint", only !== null && one.dataset.series !== only));
    item.addEventListener("pointerenter", () => show(item.dataset.series));
    item.addEventListener("pointerleave", () => show(null));
  });
}
// A command is copied by a click.
for (const command of document.querySelectorAll("pre.command")) {
  const box = document.createElement("div");
  box.className = "copied";
  command.replaceWith(box);
  const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "copy" });
  box.append(command, button);
  button.addEventListener("click", async () => {
    getSelection().selectAllChildren(command);
    try {
      await navigator.clipboard.writeText(command.textContent);
    } catch {
      document.execCommand("copy");
    }
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy"), 1500);
  });
}
// A chart is saved as it looks.
const looks = document.querySelector("style").textContent;
const save = (href, name) => Object.assign(document.createElement("a"), { href, download: name }).click();
const picture = (chart) => {
  const copy = chart.cloneNode(true);
  const [, , width, height] = chart.getAttribute("viewBox").split(" ");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const make = (name, given) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(given).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };
  const style = make("style", {});
  style.textContent = looks.replace(/@media[^{]*(print|max-width)[^]*$/, "") + "text{font-family:system-ui,sans-serif}.chart{width:auto}";
  copy.prepend(style, make("rect", { width: "100%", height: "100%", fill: "var(--paper)" }));
  return "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
};
for (const chart of document.querySelectorAll("svg.chart")) {
  const name = chart.getAttribute("aria-label").replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "").toLowerCase();
  const tools = Object.assign(document.createElement("div"), { className: "tools" });
  const tool = (text, act) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    button.addEventListener("click", act);
    tools.append(button);
  };
  tool("SVG", () => save(picture(chart), `${name}.svg`));
  tool("PNG", () => {
    const image = new Image();
    image.addEventListener("load", () => {
      const canvas = Object.assign(document.createElement("canvas"), { width: 2 * image.width, height: 2 * image.height });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      save(canvas.toDataURL("image/png"), `${name}.png`);
    });
    image.src = picture(chart);
  });
  chart.after(tools);
}
