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
      if (table === claims) remember();
    });
  }
}

/* Claims: a click on a row opens or closes its evidence. */
const claims = one("#claims-table");
const claimBodies = [...claims.tBodies];
const filter = one("#filter");
const texts = new Map();

function setOpen(body, open) {
  body.classList.toggle("expanded", open);
  one(".open", body).ariaExpanded = String(open);
  if (open) all(".thumb:not(:has(img))", body).forEach(addImage);
}

function addImage(link) {
  const image = new Image();
  image.alt = "";
  image.src = one("img", document.getElementById(link.hash.slice(1))).src;
  link.prepend(image);
}

for (const body of claimBodies) {
  const link = one(".open", body);
  link.ariaExpanded = "false";
  one(".claim", body).addEventListener("click", (event) => {
    const other = event.target.closest("a");
    if ((other && other !== link) || (!other && String(getSelection()))) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    setOpen(body, !body.classList.contains("expanded"));
  });
}

/* Filters: their state is kept in the address, after "#?". */
function textOf(body) {
  if (!texts.has(body)) texts.set(body, `${body.id} ${body.textContent}`.toLowerCase());
  return texts.get(body);
}

function matches(body, wanted) {
  const same = (name) => !wanted.get(name) || body.dataset[name] === wanted.get(name);
  const words = (wanted.get("q") || "").toLowerCase().split(/\s+/);
  return ["paper", "verdict", "kind"].every(same)
    && (!wanted.get("errata") || "errata" in body.dataset)
    && words.every((word) => textOf(body).includes(word));
}

function apply() {
  const wanted = new FormData(filter);
  const shown = claimBodies.filter((body) => {
    body.hidden = !matches(body, wanted);
    return !body.hidden;
  }).length;
  one("#nothing").hidden = shown > 0;
  one("#count").value = `${shown} of ${claimBodies.length} claims`;
}

function remember() {
  const state = new URLSearchParams([...new FormData(filter)].filter(([, value]) => value));
  const head = headsOf(claims).find((cell) => cell.ariaSort);
  if (head) state.set("sort", (head.ariaSort === "descending" ? "-" : "") + head.dataset.key);
  history.replaceState(null, "", String(state) ? `#?${state}` : "#claims");
}

function setFilter(state) {
  for (const control of filter.elements) {
    if (control.type === "checkbox") control.checked = state.has(control.name);
    else if (control.name) control.value = state.get(control.name) ?? "";
  }
  const key = state.get("sort") ?? "";
  sort(claims, key.replace("-", ""), key.startsWith("-"));
  apply();
}

filter.addEventListener("input", () => { apply(); remember(); });
filter.addEventListener("submit", (event) => event.preventDefault());
filter.addEventListener("reset", (event) => { event.preventDefault(); setFilter(new URLSearchParams()); remember(); });
one("#all").addEventListener("click", () => filter.reset());

function follow() {
  const hash = location.hash.slice(1);
  if (hash.startsWith("?")) {
    setFilter(new URLSearchParams(hash.slice(1)));
    one("#claims").scrollIntoView();
  } else if (document.getElementById(hash)?.matches("#claims-table tbody")) {
    const body = document.getElementById(hash);
    if (body.hidden) setFilter(new URLSearchParams());
    setOpen(body, true);
    body.scrollIntoView();
    one(".open", body).focus({ preventScroll: true });
  }
}

filter.hidden = false;
apply();
follow();
addEventListener("hashchange", follow);
addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link?.hash === location.hash && !event.defaultPrevented) follow();
});

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
