// A part of the page's program, which `coebl.report.page` puts together in one scope: state, figures, sections, page.
// The two figures of curves, their list of lines and their controls.

// ---- The two figures of curves

/** The places of a curve as far as they follow each other without a gap. */
function stretches(isThere) {
  const found = [];
  for (const [at, there] of isThere.entries()) {
    if (there && !isThere[at - 1]) found.push([]);
    if (there) found.at(-1).push(at);
  }
  return found;
}

/** What is drawn of a match: on a log axis what is not positive has no place, and a band ends at its foot. */
function curve(match, metric, log) {
  const { rounds, means, halves } = match.metrics[metric];
  const foot = log ? Math.min(...means.filter((mean) => mean > 0)) / 3 : -Infinity;
  const drawn = means.map((mean) => (log && mean <= 0 ? null : mean));
  const outline = stretches(drawn.map((mean, at) => mean !== null && halves[at] !== null)).flatMap((places, nth) => {
    const high = places.map((at) => [rounds[at], means[at] + halves[at]]);
    const low = places.map((at) => [rounds[at], Math.max(foot, means[at] - halves[at])]);
    return [...(nth ? [[null, null]] : []), ...high, ...low.reverse()]; // a null parts one piece from the next
  });
  return { rounds, means, halves, drawn, outline };
}

/** The band and the line of a match. Neither has `meta`, which would have Plotly read names as templates. */
function traceOf(match, metric, log) {
  const learner = PAGE.learners[match.row];
  const colour = colourOf(learner);
  const { rounds, means, halves, drawn, outline } = curve(match, metric, log);
  const band = {
    type: "scatter", uid: `band-${match.row}`, mode: "lines", line: { width: 0 },
    fill: "toself", fillcolor: colourOf(learner, 0.16), hoverinfo: "skip", showlegend: false,
    x: outline.map(([x]) => x), y: outline.map(([, y]) => y),
  };
  const line = {
    type: "scatter", uid: `line-${match.row}`, mode: learner.symbol ? "lines+markers" : "lines",
    name: plain(learner.title), x: rounds, y: drawn,
    line: { color: colour, dash: learner.dash, width: 2.2 },
    marker: { symbol: learner.symbol || "circle", size: 7.5, color: colour, maxdisplayed: MARKS },
    customdata: means.map((mean, at) => plain(withInterval(mean, halves[at]))), hovertemplate: "%{customdata}",
  };
  return outline.length ? [band, line] : [line];
}

/** The reference line, if asked for, belongs to what adds up over the rounds, in self-play. */
function referenceOf(metric) {
  const { reference } = PAGE.games[state.game];
  if (!reference || state.opponent !== null || metric === null || !PAGE.metrics[metric].cumulative) return null;
  const { place, rounds } = longestCurve(metric);
  return { label: reference.label, rounds, heights: reference.heights[place] };
}

/** The curve of a metric with the latest round, among those that could be shown. */
const longestCurve = (metric) => viewMatches().filter((match) => metric in match.metrics)
  .map((match) => match.metrics[metric]).reduce((a, b) => (b.rounds.at(-1) > a.rounds.at(-1) ? b : a));

function referenceTrace({ label, rounds, heights }) {
  return {
    type: "scatter", uid: REFERENCE, mode: "lines", name: plain(label), x: rounds, y: heights,
    line: { color: referenceColour(), dash: "2px,4px", width: 1.8 }, hovertemplate: "%{y:.4g}",
  };
}

function drawCurves(figure) {
  const metric = metricOf(figure);
  byId(figure).hidden = metric === null;
  if (metric === null) return;
  const log = state.log[figure];
  const matches = shownMatches(metric);
  const traces = matches.flatMap((match) => traceOf(match, metric, log));
  traces.sort((a, b) => b.uid.startsWith("band") - a.uid.startsWith("band")); // no band covers a line
  const longest = longestCurve(metric).rounds;
  const reference = state.reference ? referenceOf(metric) : null;
  if (reference) traces.push(referenceTrace(reference));
  const lowest = traces.flatMap((trace) => trace.y).reduce((a, b) => Math.min(a, b), 0);
  const x = {
    ...axis("round", false), rangemode: "tozero", unifiedhovertitle: { text: "round %{x}" },
    autorangeoptions: { minallowed: 0, maxallowed: longest.at(-1) }, // symbols would make room at the ends
  };
  const y = { ...axis("", log), ...(log ? {} : { rangemode: "tozero", autorangeoptions: { minallowed: lowest } }) };
  Plotly.react(chartOf(figure), traces, layoutOf(figure, x, y, [state.game, state.opponent, metric, log]), CONFIG);
  const where = `${metricTitle(metric)} over rounds, ${viewTitle()}: ${matches.length} lines.`;
  chartOf(figure).setAttribute("aria-label", `${where} The values at the last round are in the table below.`);
  byId(`${figure}-caption`).textContent = captionOf(metric, matches, reference, log);
  watchZoom(figure);
}

function captionOf(metric, matches, reference, log) {
  if (!matches.length) return "No line is shown.";
  const seeds = matches.map((match) => match.metrics[metric].seeds);
  const numbers = matches.flatMap((match) => match.metrics[metric].means);
  const band = `; band: 95 % interval of the mean over ${range(seeds)} seeds`;
  return [
    `${metricTitle(metric)}: mean${Math.max(...seeds) > 1 ? band : " of one seed, so there is no band"}.`,
    reference ? `Dotted: ${reference.label}.` : "",
    numbers.includes(null) ? "Where a value is not finite, the line has a gap." : "",
    log && numbers.some((number) => number !== null && number <= 0) ? "A log axis has no zero, and nothing below." : "",
  ].filter(Boolean).join(" ");
}

/** Zoomed means that Plotly holds a range of its own; only then is there something to reset. */
function watchZoom(figure) {
  const chart = chartOf(figure);
  const isWhole = () => [chart.layout.xaxis, chart.layout.yaxis].every((one) => one.autorange !== false);
  const update = () => { byId(`${figure}-reset`).disabled = isWhole(); };
  if (!chart.dataset.watched) chart.on("plotly_relayout", update);
  chart.dataset.watched = "yes";
  update();
}

const resetZoom = (figure) => Plotly.relayout(chartOf(figure), { "xaxis.autorange": true, "yaxis.autorange": true });

// ---- The list of lines

function lineRow(name, label, spec, picture, checked, values) {
  const box = element("input", { type: "checkbox", "data-line": name });
  box.checked = checked;
  box.addEventListener("change", () => toggleLine(name, box.checked));
  const title = element("span", {}, label);
  if (spec && !label.startsWith(spec)) title.append(" ", element("span", { class: "spec" }, spec));
  const head = element("th", { scope: "row" }, element("label", { class: "check" }, box, picture, title));
  return element("tr", checked ? {} : { class: "off" }, head, ...values.map((value) => element("td", {}, value)));
}

function matchRow(match, metrics) {
  const learner = PAGE.learners[match.row];
  const values = metrics.map((metric) => {
    if (metric === null || !(metric in match.metrics)) return "";
    const { mean, half } = lastOf(match, metric);
    return withHalf(mean, half);
  });
  const picture = TOOLS.sample(colourOf(learner), learner.dash, learner.symbol);
  return lineRow(String(match.row), markedTitle(match.row), learner.spec, picture, state.shown.has(match.row), values);
}

function drawLines() {
  const focused = document.activeElement?.dataset?.line; // the list is made anew; keep the keyboard's place in it
  const matches = viewMatches();
  const metrics = FIGURES.map(metricOf);
  const lastRounds = (metric) =>
    matches.filter((match) => metric in match.metrics).map((match) => lastOf(match, metric).round);
  FIGURES.forEach((figure, place) => {
    const metric = metrics[place];
    const head = () => `${metricTitle(metric)} at round ${range(lastRounds(metric))}`;
    byId(`${figure}-head`).textContent = metric === null ? "" : head();
  });
  const isFurther = (match) => !state.listed.has(match.row) && !state.shown.has(match.row);
  const listed = matches.filter((match) => state.listAll || !isFurther(match));
  const rows = listed.map((match) => matchRow(match, metrics));
  const reference = referenceOf(metrics[0]);
  if (reference) {
    const values = [show(reference.heights.at(-1)), ""];
    const picture = TOOLS.sample(referenceColour(), "2 4", "");
    rows.push(lineRow(REFERENCE, reference.label, "", picture, state.reference, values));
  }
  byId("lines").tBodies[0].replaceChildren(...rows);
  explainMarks("lines", listed.map((match) => match.row));
  drawMore(matches.filter(isFurther).length);
  if (focused) document.querySelector(`[data-line="${CSS.escape(focused)}"]`)?.focus();
}

function drawMore(further) {
  const button = byId("more-lines");
  button.hidden = !further;
  button.textContent = state.listAll ? "List fewer" : `List ${further} more`;
  button.setAttribute("aria-expanded", String(state.listAll));
}

function toggleLine(name, checked) {
  if (name === REFERENCE) state.reference = checked;
  else {
    state.preset = null;
    state.shown[checked ? "add" : "delete"](Number(name));
  }
  drawAll();
}

function showLines(rows) {
  state.preset = null;
  state.shown = new Set(rows);
  drawAll();
}

/** Below a table, what its marked learners see. */
function explainMarks(table, learners) {
  const marked = ascending(learners).filter((learner) => PAGE.learners[learner].sees);
  const notes = marked.map((learner) => `† ${titleOf(learner)}: ${PAGE.learners[learner].sees}`);
  byId(`${table}-marks`).textContent = notes.join("; ");
  byId(`${table}-marks`).hidden = !notes.length;
}

// ---- The controls

function drawControls() {
  const chosen = PAGE.games[state.game];
  let games = PAGE.games;
  for (const part of ["family", "size", "noise"]) { // each among the games that are like the chosen one so far
    const titles = new Map(games.map((game) => [game[part], game[`${part}Title`] || "–"]));
    fill(byId(part), [...titles], chosen[part]);
    byId(part).disabled = part !== "family" && titles.size < 2;
    games = games.filter((game) => game[part] === chosen[part]);
  }
  byId("size-label").hidden = PAGE.games.every((game) => !game.size);
  byId("noise-label").hidden = PAGE.games.every((game) => !game.noise);
  const opponents = opponentsOf(state.game).map((learner) => [learner, `against ${titleOf(learner)}`]);
  const selfPlay = hasSelfPlay(state.game) ? [["", "self-play"]] : [];
  fill(byId("opponent"), [...selfPlay, ...opponents], state.opponent ?? "");
  for (const figure of FIGURES) {
    const options = metricsOf(figure).map((metric) => [metric, metricTitle(metric)]);
    fill(byId(`${figure}-metric`), options, metricOf(figure) ?? "");
  }
  drawPresets();
  if (byId("view-title").textContent !== viewTitle()) byId("view-title").textContent = viewTitle(); // read out once
}

function drawPresets() {
  const buttons = byId("presets").querySelectorAll("button");
  buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(place === state.preset)));
  const note = state.preset === null ? "" : PAGE.presets[state.preset].note;
  byId("preset-note").textContent = note;
  byId("preset-note").hidden = !note;
}

function drawFigures() {
  if (!byId("figures")) return;
  drawControls();
  FIGURES.forEach(drawCurves);
  document.querySelector(".charts").classList.toggle("single", FIGURES.some((figure) => byId(figure).hidden));
  drawLines();
}

/** Every section, as far as the page has it. */
function drawAll() {
  if (!PAGE.games.length) return;
  drawFigures();
  drawTable();
  drawFrontier();
}

/** Redraw after the game, the opponent or the preset has changed. */
function choose(change) {
  Object.assign(state, change);
  chooseOpponent();
  chooseLines();
  drawAll();
}

/** The game most like the chosen one after a change: of its family, then of its size, then with its noise. */
function gameLike(change) {
  const wanted = { ...PAGE.games[state.game], ...change };
  const likeness = PAGE.games.map(({ family, size, noise }) =>
    4 * (family === wanted.family) + 2 * (size === wanted.size) + (noise === wanted.noise));
  return likeness.indexOf(Math.max(...likeness));
}

function connectFigures() {
  if (!byId("figures")) return;
  byId("presets").hidden = !PAGE.presets.length;
  for (const [place, preset] of PAGE.presets.entries()) {
    const button = element("button", { type: "button" }, preset.name);
    button.addEventListener("click", () => choose({ preset: place }));
    byId("presets").append(button);
  }
  for (const part of ["family", "size", "noise"]) {
    on(part, "change", (event) => choose({ game: gameLike({ [part]: event.target.value }) }));
  }
  on("opponent", "change", ({ target }) => choose({ opponent: target.value === "" ? null : Number(target.value) }));
  on("more-lines", "click", () => { state.listAll = !state.listAll; drawLines(); });
  on("all-lines", "click", () => showLines(viewMatches().map((match) => match.row)));
  on("no-lines", "click", () => showLines([]));
  for (const figure of FIGURES) {
    connectChart(figure, drawFigures, () => [viewTitle(), PAGE.metrics[metricOf(figure)].name], () => {
      const metric = metricOf(figure);
      const rowsOf = (match) => match.metrics[metric].rounds.map((_, at) => csvRow(match, metric, at));
      return shownMatches(metric).flatMap(rowsOf);
    });
  }
}

/** What every chart has: a metric, a log axis, and buttons to reset the zoom and to save data and picture. */
function connectChart(figure, draw, titles, rows) {
  on(`${figure}-metric`, "change", (event) => {
    state.metric[figure][mode(figure)] = PAGE.metrics[event.target.value].name;
    draw();
  });
  on(`${figure}-log`, "change", (event) => { state.log[figure] = event.target.checked; draw(); });
  on(`${figure}-reset`, "click", () => resetZoom(figure));
  on(`${figure}-csv`, "click", () => saveCsv(titles(), rows()));
  on(`${figure}-svg`, "click", () => savePicture(figure, titles()));
}
