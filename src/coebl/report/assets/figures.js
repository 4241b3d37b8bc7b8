// The two figures of curves, their list of lines and their controls.

const MARKS = 9; // symbols along a line
const HEIGHT = () => (innerWidth < 768 ? 280 : 340);

// ---- Curves

/** The rows of a match: on a log axis what is not positive has no place, and a band ends at its foot. */
function rowsOf(match, metric, log) {
  const { rounds, means, halves } = match.metrics[metric];
  const learner = titleOf(match.row);
  const lowest = Math.min(...means.filter((mean) => mean > 0)) / 3;
  const foot = log ? lowest : PAGE.metrics[metric].floored ? 0 : -Infinity;
  const shapeAt = (at) => (at % Math.ceil(rounds.length / MARKS) ? "" : PAGE.learners[match.row].shape);
  return rounds.map((round, at) => {
    const mean = log && means[at] <= 0 ? null : means[at];
    const band = mean === null || halves[at] === null ? [null, null] : [mean - halves[at], mean + halves[at]];
    const low = band[0] === null ? null : Math.max(foot, band[0]);
    return { round, mean, low, high: band[1], learner, colour: colourOf(match.row), shape: shapeAt(at) };
  });
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

/** Lines with their looks: names, colours and dashes, each by place. */
function looksOf(matches, reference) {
  const learners = matches.map((match) => match.row);
  const more = reference ? [{ title: reference.label, colour: "var(--ink)", dash: [2, 4] }] : [];
  const lines = [...learners.map((one) => ({ ...PAGE.learners[one], colour: colourOf(one) })), ...more];
  return {
    names: lines.map(({ title }) => title), colours: lines.map(({ colour }) => colour),
    dashes: lines.map(({ dash }) => (dash.length ? dash : [1, 0])),
  };
}

const yTitle = (metric) => (state.opponent !== null && PAGE.metrics[metric].signed
  ? [metricTitle(metric), `above 0: ${titleOf(state.opponent)} is ahead`] : metricTitle(metric));

const BRUSH = [{ name: "brush", select: { type: "interval" } }];
const brushOf = () => (matchMedia("(pointer: coarse)").matches ? undefined : BRUSH); // a finger scrolls the page

/** All that the chart of a figure needs. */
function makeCurves(figure) {
  const metric = metricOf(figure);
  const log = state.log[figure];
  const matches = shownMatches(metric);
  const reference = state.reference ? referenceOf(metric) : null;
  const longest = longestCurve(metric);
  const byLogarithm = PAGE.logarithmic[longest.place];
  const line = (reference?.rounds ?? []).map((round, at) =>
    ({ round, mean: reference.heights[at], low: null, high: null, learner: reference.label, colour: "var(--ink)", shape: "" }));
  const zoom = state.zoom[figure];
  const start = byLogarithm ? longest.rounds[0] : 0;
  const values = {
    width: "container", height: HEIGHT(), title: null, brush: brushOf(), legend: null, ...looksOf(matches, reference),
    rows: [...matches.flatMap((match) => rowsOf(match, metric, log)), ...line],
    xType: byLogarithm ? "log" : "linear", xDomain: zoom?.x ?? [start, longest.rounds.at(-1)],
    yType: log ? "log" : "linear", yDomain: zoom?.y, zero: log ? undefined : !zoom, nice: !zoom, yTitle: yTitle(metric),
  };
  return {
    chart: "curves", values, reader: curveReader(matches, metric, longest.rounds), text: curvesText(matches, metric),
    title: viewTitle(), note: captionOf(metric, matches, reference, log),
    alone: { legend: { orient: "bottom", columns: 3, title: null, symbolType: "stroke", symbolSize: 900, symbolStrokeWidth: 2.2 } },
  };
}

/** What the curves show, in words: who is lowest and who is highest in the end. */
function curvesText(matches, metric) {
  const where = `${metricTitle(metric)} over rounds, ${viewTitle()}`;
  const ends = matches.map((match) => ({ title: titleOf(match.row), ...lastOf(match, metric) }))
    .filter(({ mean }) => mean !== null).sort((a, b) => a.mean - b.mean);
  if (!ends.length) return `${where}: no line is shown.`;
  const [low, high] = [ends[0], ends.at(-1)];
  const round = range(ends.map((end) => end.round));
  if (ends.length === 1) return `${where}: ${low.title} has ${show(low.mean)} at round ${round}.`;
  return `${where}: ${low.title} lowest (${show(low.mean)}), ${high.title} highest (${show(high.mean)}) at round ${round}. All values are in the table below.`;
}

/** The values of all lines at a recorded round. */
function curveReader(matches, metric, rounds) {
  const valueAt = (match, round) => {
    const { rounds: own, means, halves } = match.metrics[metric];
    const at = own.indexOf(round);
    return at < 0 ? [] : [{ title: titleOf(match.row), mean: means[at], half: halves[at] }];
  };
  return {
    places: rounds.length,
    nearest: (view, x) => {
      const round = view.scale("x").invert(x);
      return rounds.reduce((best, one, at) => (Math.abs(one - round) < Math.abs(rounds[best] - round) ? at : best), 0);
    },
    text: (at) => {
      const found = matches.flatMap((match) => valueAt(match, rounds[at])).sort((a, b) => b.mean - a.mean);
      return `Round ${rounds[at]}: ${found.map(({ title, mean, half }) => `${title} ${withInterval(mean, half)}`).join(" · ")}`;
    },
    mark: (view, at) => view.signal("at", rounds[at]).run(),
  };
}

function captionOf(metric, matches, reference, log) {
  if (!matches.length) return "No line is shown.";
  const curves = matches.map((match) => match.metrics[metric]);
  const seeds = curves.map((one) => one.seeds);
  const numbers = curves.flatMap((one) => one.means);
  const isCut = curves.some(({ means, halves }) => means.some((mean, at) => mean !== null && mean < halves[at]));
  const band = `; band: 95 % interval of the mean over ${range(seeds)} seeds`;
  return [
    `${metricTitle(metric)}: mean${Math.max(...seeds) > 1 ? band : " of one seed, so there is no band"}.`,
    PAGE.metrics[metric].floored && isCut && !log ? "No run is below 0, so bands end there." : "",
    reference ? `Dotted: ${reference.label}.` : "",
    numbers.includes(null) ? "Where a value is not finite, the line has a gap." : "",
    log && numbers.some((number) => number !== null && number <= 0) ? "A log axis has no zero, and nothing below." : "",
  ].filter(Boolean).join(" ");
}

const HINT = "Point at the chart, or go to it and use the arrow keys, to read its values.";

function drawCurves(figure) {
  const metric = metricOf(figure);
  byId(figure).hidden = metric === null;
  if (metric === null) return;
  const reference = state.reference ? referenceOf(metric) : null;
  byId(`${figure}-caption`).textContent = captionOf(metric, shownMatches(metric), reference, state.log[figure]);
  byId(`${figure}-readout`).textContent = HINT;
  byId(`${figure}-reset`).disabled = !state.zoom[figure];
  byId(`${figure}-log`).checked = state.log[figure];
  planChart(figure, () => makeCurves(figure));
}

// ---- Zoom: a rectangle is drawn with the pointer, and becomes the whole

function connectZoom(figure, redraw, fields) {
  const zoomTo = (zoom) => { state.zoom[figure] = zoom; redraw(); };
  chartOf(figure).addEventListener("pointerup", () => {
    const brush = charts.get(figure)?.view?.signal("brush") ?? {};
    const [x, y] = fields.map((field) => brush[field]?.slice().sort((a, b) => a - b));
    if (x && y && x[0] < x[1] && y[0] < y[1]) zoomTo({ x, y });
  });
  chartOf(figure).addEventListener("dblclick", () => zoomTo(undefined));
  on(`${figure}-reset`, "click", () => zoomTo(undefined));
}

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

function matchRow(match, metrics, shown) {
  const { dash, shape, spec } = PAGE.learners[match.row];
  const values = metrics.map((metric) => {
    if (metric === null || !(metric in match.metrics)) return "";
    const { mean, half } = lastOf(match, metric);
    return withHalf(mean, half);
  });
  const picture = sample(colourOf(match.row), dash, shape);
  return lineRow(String(match.row), markedTitle(match.row), spec, picture, shown.has(match.row), values);
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
  const shown = shownLearners();
  const own = new Set([...givenLearners(), ...state.added]);
  const listed = matches.filter((match) => state.listAll || own.has(match.row));
  const rows = listed.map((match) => matchRow(match, metrics, shown));
  const reference = referenceOf(metrics[0]);
  if (reference) {
    const values = [show(reference.heights.at(-1)), ""];
    const picture = sample("var(--ink)", [2, 4], "");
    rows.push(lineRow(REFERENCE, reference.label, "", picture, state.reference, values));
  }
  byId("lines").tBodies[0].replaceChildren(...rows);
  explainMarks("lines", listed.map((match) => match.row));
  drawMore(matches.filter((match) => !own.has(match.row)).length);
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
    const learner = Number(name);
    const isGiven = givenLearners().includes(learner);
    state.removed[isGiven && !checked ? "add" : "delete"](learner);
    state.added[!isGiven && checked ? "add" : "delete"](learner);
  }
  drawAll();
}

function showLines(rows) {
  const given = givenLearners();
  state.added = new Set(rows.filter((row) => !given.includes(row)));
  state.removed = new Set(given.filter((row) => !rows.includes(row)));
  drawAll();
}

/** Below a table, what its marked learners see. */
function explainMarks(table, learners) {
  const marked = ascending(learners).filter((learner) => PAGE.learners[learner].sees);
  const notes = marked.map((learner) => `† ${titleOf(learner)}: ${PAGE.learners[learner].sees}`);
  say(`${table}-marks`, notes.join("; "));
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
  say("view-title", viewTitle());
}

/** Which preset is on, what it is, and what the reader sees that is not of it. */
function drawPresets() {
  const buttons = byId("presets").querySelectorAll("button");
  buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(place === state.preset)));
  const preset = PAGE.presets[state.preset];
  const names = (learners) => [...learners].map(titleOf).join(", ");
  const isForeign = preset && state.opponent !== null
    && !presetLearners(state.preset, state.game).includes(state.opponent)
    && PAGE.presets.some((one) => one.learners[state.game].map(learnerOf).includes(state.opponent));
  say("preset-note", [
    state.why,
    preset?.note ?? "",
    isForeign ? `The opponent is not of “${preset.name}”: ${titleOf(state.opponent)}.` : "",
    state.removed.size ? `Turned off: ${names(state.removed)}.` : "",
    state.added.size ? `Turned on: ${names(state.added)}.` : "",
  ].filter(Boolean).join(" "));
  byId("reset-lines").disabled = !isChanged();
}

function drawFigures() {
  if (!byId("figures")) return;
  drawControls();
  FIGURES.forEach(drawCurves);
  document.querySelector(".charts").classList.toggle("single", FIGURES.some((figure) => byId(figure).hidden));
  drawLines();
}

/** Every section, as far as the page has it. */
function drawSections() {
  drawFigures();
  drawTable();
  drawDuels();
  drawFrontier();
}

/** After a choice, which the address keeps. */
function drawAll() {
  drawSections();
  writeAddress();
}

function choose(wanted) {
  change(wanted);
  drawAll();
}

/** The game most like the chosen one after a change: of its family, then of its size, then with its noise. */
function gameLike(wish) {
  const wanted = { ...PAGE.games[state.game], ...wish };
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
  on("reset-lines", "click", () => showLines(givenLearners()));
  for (const figure of FIGURES) {
    connectZoom(figure, () => drawCurves(figure), ["round", "mean"]);
    connectChart(figure, () => [viewTitle(), metricTitle(metricOf(figure))], () => {
      const metric = metricOf(figure);
      const rows = (match) => match.metrics[metric].rounds.map((_, at) => csvRow(match, metric, at));
      return shownMatches(metric).flatMap(rows);
    });
  }
}

/** What every chart has: a metric, a log axis, values to read, and buttons to save data and pictures. */
function connectChart(figure, titles, rows) {
  on(`${figure}-metric`, "change", (event) => {
    state.metric[figure][mode(figure)] = PAGE.metrics[event.target.value].name;
    delete state.zoom[figure];
    drawAll();
  });
  on(`${figure}-log`, "change", (event) => {
    state.log[figure] = event.target.checked;
    delete state.zoom[figure];
    drawAll();
  });
  on(`${figure}-csv`, "click", () => saveCsv(titles(), rows()));
  connectReading(figure);
  connectPictures(figure, titles);
}
