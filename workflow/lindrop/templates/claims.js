/* The table of claims. page.js is loaded before it. */
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
claims.addEventListener("sorted", remember);

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
