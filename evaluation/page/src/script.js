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
