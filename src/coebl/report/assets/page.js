// A part of the page's program, which `coebl.report.page` puts together in one scope: state, figures, sections, page.
// Theme, paper and claims; then everything is connected and drawn.

// ---- Theme and paper

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-checked", String(dark));
  drawAll();
}

function connectTheme() {
  const remembered = () => { try { return localStorage.getItem("coebl-theme"); } catch { return null; } };
  byId("theme").setAttribute("aria-checked", String(isDark()));
  on("theme", "click", () => {
    setTheme(!isDark());
    try { localStorage.setItem("coebl-theme", isDark() ? "dark" : "light"); } catch { /* then it is forgotten */ }
  });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", () => { if (!remembered()) setTheme(system.matches); });
}

let themeOnScreen = "light";

/** On paper the charts are light and as wide as a page. */
function setPrinting(printing) {
  if (state.printing === printing) return;
  state.printing = printing;
  const root = document.documentElement.dataset;
  if (printing) themeOnScreen = root.theme;
  root.theme = printing ? "light" : themeOnScreen;
  drawAll();
}

function connectPaper() {
  addEventListener("beforeprint", () => setPrinting(true));
  addEventListener("afterprint", () => setPrinting(false));
  matchMedia("print").addEventListener("change", (event) => setPrinting(event.matches));
}

// ---- Claims

/** List the checks of a claim when it is first opened. */
function listChecks(detail) {
  for (const place of detail.querySelectorAll(".checks:empty")) {
    place.append(...TOOLS.checkList(PAGE.verdicts[place.dataset.verdict].checks, PAGE.verdictKinds));
  }
}

TOOLS.connectClaims(listChecks);
on("save-verdicts", "click", () => {
  TOOLS.save(nameOf(["verdicts"], "json"), "application/json", JSON.stringify(PAGE.verdicts, null, 1) + "\n");
});
connectTheme();
connectPaper();
connectFigures();
connectTable();
connectFrontier();
if (PAGE.games.length) choose({});
document.documentElement.dataset.drawn = String(Math.round(performance.now())); // milliseconds since it was opened
