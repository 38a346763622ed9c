"use strict";
const one = (query, root = document) => root.querySelector(query);
const all = (query, root = document) => [...root.querySelectorAll(query)];
document.documentElement.classList.add("js");

/* Sorting moves whole tbody elements: every sortable row has one of its own. */
const order = new Intl.Collator("en", { numeric: true });

/* Header cells of the table itself, not of tables inside its cells. */
function headsOf(table) {
  return [...table.tHead.rows[0].cells];
}

function keyOf(body, column) {
  const cell = body.rows[0].cells[column];
  return cell.dataset.sort ?? cell.textContent.trim();
}

function sort(table, key, descending) {
  const heads = headsOf(table);
  const column = heads.findIndex((head) => head.dataset.key === key);
  const original = (table.original ??= [...table.tBodies]);
  const keys = new Map(original.map((body) => [body, keyOf(body, Math.max(column, 0))]));
  const compare = (a, b) => compareKeys(keys.get(a), keys.get(b)) * (descending ? -1 : 1);
  const bodies = column < 0 ? original : original.toSorted(compare);
  heads.forEach((head, k) => {
    if (k === column) head.ariaSort = descending ? "descending" : "ascending";
    else head.removeAttribute("aria-sort");
  });
  const foot = table.tFoot;
  bodies.forEach((body) => table.insertBefore(body, foot));
}

function compareKeys(a, b) {
  return a !== "" && b !== "" && isFinite(a) && isFinite(b) ? a - b : order.compare(a, b);
}

for (const table of all("table.sortable")) {
  for (const head of headsOf(table)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent.trim();
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      sort(table, head.dataset.key, head.ariaSort === "ascending");
      table.dispatchEvent(new Event("sorted"));
    });
  }
}

/* Zoom: figures open in a dialog. */
const zoom = one("#zoom");
const pictures = all("#figures .zoom img");
let current = 0;

function show(index) {
  current = (index + pictures.length) % pictures.length;
  const picture = pictures[current];
  const image = one("img", zoom);
  image.src = picture.src;
  image.alt = picture.alt;
  one("h2", zoom).textContent = picture.alt;
  one(".natural", zoom).scrollTo(0, 0);
  if (!zoom.open) zoom.showModal();
}

addEventListener("click", (event) => {
  const opener = event.target.closest(".zoom, .thumb");
  if (!opener) return;
  event.preventDefault();
  const figure = opener.closest("figure") ?? document.getElementById(opener.hash.slice(1));
  show(pictures.indexOf(one(".zoom img", figure)));
});
one("#previous").addEventListener("click", () => show(current - 1));
one("#next").addEventListener("click", () => show(current + 1));
one("#fit").addEventListener("click", (event) => {
  event.target.ariaPressed = String(zoom.classList.toggle("fitted"));
});
zoom.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  show(current + step);
});

/* Downloads are unpacked by the browser; without a script the compressed file is saved. */
async function unpacked(link) {
  const bytes = Uint8Array.from(atob(link.href.split(",")[1]), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return URL.createObjectURL(new Blob([await new Response(stream).arrayBuffer()], { type: "text/csv" }));
}

for (const link of "DecompressionStream" in window ? all("a.csv") : []) {
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    const file = document.createElement("a");
    file.href = await unpacked(link);
    file.download = link.download.replace(/\.gz$/, "");
    file.click();
    setTimeout(() => URL.revokeObjectURL(file.href), 60000);
  });
}
