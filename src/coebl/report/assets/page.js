// Theme, URL and links; then all parts are connected and drawn.

const isDark = () => document.documentElement.dataset.theme === "dark";

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-checked", String(dark));
}

function connectTheme() {
  const remembered = () => { try { return localStorage.getItem("coebl-theme"); } catch { return null; } };
  setTheme(isDark());
  on("theme", "click", () => {
    setTheme(!isDark());
    try { localStorage.setItem("coebl-theme", isDark() ? "dark" : "light"); } catch { /* storage may be forbidden */ }
  });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", () => { if (!remembered()) setTheme(system.matches); });
}

/** Copy a string to the clipboard; if the browser forbids it, show the string so that it can be copied by hand. */
async function copy(button, text) {
  const label = button.textContent;
  try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch {
    button.after(element("input", { class: "by-hand", readonly: "", value: text, "aria-label": label }));
    button.nextSibling.select();
  }
  setTimeout(() => { button.textContent = label; }, 2000);
}

function connectLinks() {
  on("copy-link", "click", ({ target }) => { writeAddress(); copy(target, location.href); });
  on("copy-citation", "click", ({ target }) => copy(target, byId("citation-text").textContent));
}

/** Apply the URL: its choices, and the claims that it opens. */
function followAddress() {
  const claims = readAddress();
  if (PAGE.games.length) { change({ opponent: state.opponent }); drawSections(); }
  for (const button of claims.map(claimButton).filter(Boolean)) setOpen(button, true);
  if (claims.length) claimButton(claims[0])?.scrollIntoView();
}

/** On a phone, each bar collapses to one line; the section bar closes when a section is chosen. */
function connectBars() {
  const narrow = matchMedia("(max-width: 48rem)");
  const bars = [byId("sections"), byId("choices")].filter(Boolean);
  const fold = () => { for (const bar of bars) bar.open = !narrow.matches; };
  fold();
  narrow.addEventListener("change", fold);
  on("sections", "click", ({ target }) => { if (target.closest("a")) fold(); });
  const place = () => document.documentElement.style.setProperty("--bar", `${byId("sections").parentElement.offsetHeight}px`);
  new ResizeObserver(place).observe(byId("sections"));
}

connectTheme();
connectBars();
connectLinks();
connectClaims();
connectControls();
connectFigures();
connectMaps();
connectTable();
connectReplay();
connectDuels();
connectFrontier();
const initialHash = location.hash;
followAddress();
addEventListener("hashchange", () => (location.hash.includes("=") || claimButton(hashText()) ? followAddress() : writeAddress()));
if (initialHash && !initialHash.includes("=")) document.querySelector(`[id="${CSS.escape(initialHash.slice(1))}"]`)?.scrollIntoView();

enqueue(() => { document.documentElement.dataset.drawn = String(Math.round(performance.now())); }); // ms since opening
