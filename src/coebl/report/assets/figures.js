// The two figures with curves, small for all games and large for one, with their lines and controls; and sweeps.

const MARKS = 9; // symbols along a line
const BRUSH = [{ name: "brush", select: { type: "interval" } }];
const brushOf = () => (matchMedia("(pointer: coarse)").matches ? undefined : BRUSH); // a finger scrolls the page
const axisOf = (name, log, zoom, zero = false) =>
  ({ [`${name}Type`]: log ? "log" : "linear", [`${name}Domain`]: zoom, [`${name}Zero`]: log ? undefined : zero });

// ---- Curves: a line has a style and values

const lineOf = (match, metric) => ({ ...PAGE.learners[match.row], colour: colourOf(match.row), ...match.curves[metric] });
const linesOf = (metric) => shownMatches(metric).map((match) => lineOf(match, metric));

/** Return the longest curve of a metric, among those that can be shown. */
const longestCurve = (metric) => viewMatches().filter((match) => metric in match.curves)
  .map((match) => match.curves[metric]).reduce((a, b) => (b.rounds.at(-1) > a.rounds.at(-1) ? b : a));

/** Return the reference line, which only cumulative metrics in self-play have, or null. */
function referenceOf(metric) {
  const { reference } = PAGE.games[state.game];
  if (!reference || state.opponent !== null || metric === null || !PAGE.metrics[metric].cumulative) return null;
  const { grid, rounds } = longestCurve(metric);
  const look = { title: reference.label, colour: "var(--ink)", dash: [2, 4], shape: "" };
  return { ...look, rounds, means: reference.heights[grid], halves: rounds.map(() => null) };
}

const shownReference = (metric) => (state.reference ? [referenceOf(metric)].filter(Boolean) : []);

/** Return the rows of a line; on a log axis, values that are not positive are left out, and bands are cut off. */
function rowsOf({ title, colour, shape, rounds, means, halves }, log, floored) {
  const floor = log ? Math.min(...means.filter((mean) => mean > 0)) / 3 : floored ? 0 : -Infinity;
  const step = Math.ceil(rounds.length / MARKS);
  return rounds.map((round, index) => {
    const [mean, half] = [log && means[index] <= 0 ? null : means[index], halves[index]];
    const hasBand = mean !== null && half !== null;
    const [low, high] = hasBand ? [Math.max(floor, mean - half), mean + half] : [null, null];
    return { round, mean, low, high, learner: title, colour, shape: index % step ? "" : shape };
  });
}

/** Return the data and the labels of the chart of a figure. */
function makeCurves(figure) {
  const [metric, log, zoom] = [metricOf(figure), state.log[figure], state.zoom[figure]];
  const { signed, floored } = PAGE.metrics[metric];
  const [lines, reference] = [linesOf(metric), shownReference(metric)];
  const { grid, rounds } = longestCurve(metric);
  const byLogarithm = PAGE.logarithmic[grid];
  const all = [...lines, ...reference];
  const ahead = state.opponent !== null && signed ? [`above 0: ${titleOf(state.opponent)} is ahead`] : [];
  return {
    chart: "curves",
    values: {
      width: "container", height: innerWidth < 768 ? 280 : 340, brush: brushOf(), legend: null,
      names: all.map(({ title }) => title), colours: all.map(({ colour }) => colour),
      dashes: all.map(({ dash }) => (dash.length ? dash : [1, 0])),
      rows: all.flatMap((line) => rowsOf(line, log, floored)),
      ...axisOf("x", byLogarithm, zoom?.x ?? [byLogarithm ? rounds[0] : 0, rounds.at(-1)]),
      ...axisOf("y", log, zoom?.y, !zoom), nice: !zoom, yTitle: [metricTitle(metric), ...ahead],
    },
    reader: curveReader(lines, rounds), text: curvesText(lines, metric),
    title: viewTitle(), note: captionOf(metric, lines, reference, log),
    picture: { legend: { orient: "bottom", columns: 3, title: null, symbolType: "stroke", symbolSize: 900, symbolStrokeWidth: 2.2 } },
  };
}

/** Describe the curves: the learners with the lowest and the highest last value. */
function curvesText(lines, metric) {
  const where = `${metricTitle(metric)} over rounds, ${viewTitle()}`;
  const ends = lines.map(({ title, means, rounds }) => ({ title, mean: means.at(-1), round: rounds.at(-1) }))
    .filter(({ mean }) => mean !== null).sort((a, b) => a.mean - b.mean);
  if (!ends.length) return `${where}: no line is shown.`;
  const [low, high] = [ends[0], ends.at(-1)];
  const round = range(ends.map((end) => end.round));
  if (ends.length === 1) return `${where}: ${low.title} has ${show(low.mean)} at round ${round}.`;
  return `${where}: ${low.title} lowest (${show(low.mean)}), ${high.title} highest (${show(high.mean)}) at round ${round}. All values are in the table below.`;
}

/** Return a reader (see `connectReading`) that lists the values of all lines at a recorded round. */
function curveReader(lines, places) {
  const valueAt = ({ title, rounds, means, halves }, round) => {
    const index = rounds.indexOf(round);
    return index < 0 ? [] : [{ mean: means[index], text: `${title} ${withInterval(means[index], halves[index])}` }];
  };
  return {
    places: places.length,
    nearest: (view, x) => {
      const distances = places.map((round) => Math.abs(view.scale("x").invert(x) - round));
      return distances.indexOf(Math.min(...distances));
    },
    text: (place) => {
      const values = lines.flatMap((line) => valueAt(line, places[place])).sort((a, b) => b.mean - a.mean);
      return `Round ${places[place]}: ${values.map(({ text }) => text).join(" · ")}`;
    },
    mark: (view, place) => view.signal("shownRound", places[place]).run(),
  };
}

function captionOf(metric, lines, reference, log) {
  if (!lines.length) return "No line is shown.";
  const seeds = lines.map((line) => line.seeds);
  const numbers = lines.flatMap((line) => line.means);
  const isCut = lines.some(({ means, halves }) => means.some((mean, index) => mean !== null && mean < halves[index]));
  const band = `; band: 95 % interval of the mean over ${range(seeds)} seeds`;
  return [
    byId("multiples").hidden ? PAGE.metrics[metric].meaning : "", // else it is in the caption of the small charts
    `${metricTitle(metric)}: mean${Math.max(...seeds) > 1 ? band : " of one seed, so there is no band"}.`,
    PAGE.metrics[metric].floored && isCut && !log ? "No run is below 0, so bands are cut off there." : "",
    ...reference.map(({ title }) => `Dotted: ${title}.`),
    numbers.includes(null) ? "Lines have gaps where values are not finite." : "",
    log && numbers.some((number) => number !== null && number <= 0) ? "A log axis cannot show zero or negative values." : "",
  ].filter(Boolean).join(" ");
}

function drawCurves(figure) {
  const metric = metricOf(figure);
  byId(figure).hidden = metric === null;
  if (metric === null) return;
  showAxes(figure);
  const { rounds } = longestCurve(metric);
  for (const part of ["chart", "readout", "reset", "svg", "png"]) byId(`${figure}-${part}`).hidden = rounds.length < 2;
  if (rounds.length > 1) planChart(figure, () => makeCurves(figure));
  else say(`${figure}-caption`, `${metricTitle(metric)}: only ${PAGE.until ? "the end of each run" : `round ${rounds[0]}`} was recorded, so there are no curves. The values are in the list.`);
}

// ---- Small multiples: every game, with the lines and the metric of the large figure

const MOST_MULTIPLES = 24;
const MOST_LABELS = 5; // with more lines, their names are not written at their ends

/** Return non-overlapping heights for the labels at the ends of lines, in the units of each game's axis. */
function endLabels(lines) {
  const places = new Map();
  for (const game of unique(lines.map((line) => line.game))) {
    const drawn = lines.filter((line) => line.game === game && isKnown(line.means.at(-1))).sort((a, b) => a.means.at(-1) - b.means.at(-1));
    const all = drawn.flatMap(({ means }) => means).filter(isKnown);
    const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
    const gap = (high - low) / 7.5; // the height of a label
    drawn.forEach((line, index) => places.set(line, Math.max(line.means.at(-1), index ? places.get(drawn[index - 1]) + gap : low)));
    drawn.forEach((line, index) => places.set(line, Math.min(places.get(line), high - gap * (drawn.length - 1 - index))));
  }
  return places;
}

const panelTitle = (game) => game.replaceAll("\u00a0=\u00a0", "=");

function makeMultiples(figure) {
  const metric = metricOf(figure);
  const lines = PAGE.games.flatMap((_, game) => viewMatches(game).filter((match) => metric in match.curves && shownLearners(game).has(match.row))
    .map((match) => ({ ...lineOf(match, metric), game: gameTitle(game) })));
  const looks = [...new Map(lines.map((line) => [line.title, line])).values()];
  const boxWidth = boxOf(`small-${figure}`).clientWidth;
  const games = unique(lines.map(({ game }) => game));
  const room = boxWidth > 600 && looks.length <= MOST_LABELS ? 75 : 0; // for labels at the ends of the lines
  const rows = Math.ceil(games.length / Math.max(1, Math.floor(boxWidth / (175 + room))));
  const columns = Math.ceil(games.length / rows);
  const labels = room ? endLabels(lines) : new Map();
  const width = boxWidth / columns - 62 - room;
  const inPanel = (game) => inLines(panelTitle(game), (width + 40 + room) / 7.5).join("\n"); // as wide as the panel
  return {
    chart: "multiples",
    values: {
      games: games.map(inPanel), columns, room, width, names: looks.map(({ title }) => title), colours: looks.map(({ colour }) => colour),
      dashes: looks.map(({ dash }) => (dash.length ? dash : [1, 0])), xType: PAGE.logarithmic[longestCurve(metric).grid] ? "log" : "linear",
      rows: lines.flatMap((line) => line.rounds.map((round, index) =>
        ({ game: inPanel(line.game), learner: line.title, round, mean: line.means[index], shape: index % Math.ceil(line.rounds.length / 4) ? "" : line.shape,
          label: index === line.rounds.length - 1 ? labels.get(line) : undefined }))),
    },
    looks, text: `${metricTitle(metric)} over rounds, a small chart for each of ${games.length} games`, title: metricTitle(metric),
    note: `${metricTitle(metric)} over rounds, ${state.opponent === null ? "self-play" : `against ${titleOf(state.opponent)}, or the learner in that role`}. ${PAGE.metrics[metric].meaning}`,
  };
}

function drawMultiples() {
  byId("multiples").hidden = PAGE.games.length < 2 || PAGE.games.length > MOST_MULTIPLES;
  if (byId("multiples").hidden) return;
  const place = (figure) => boxOf(`small-${figure}`).parentElement;
  for (const figure of FIGURES) {
    const metric = metricOf(figure);
    place(figure).hidden = metric === null || longestCurve(metric).rounds.length < 2;
    if (place(figure).hidden) continue;
    planChart(`small-${figure}`, () => makeMultiples(figure));
    const { looks } = charts.get(`small-${figure}`).content;
    byId("multiples-key").replaceChildren(...looks.map(({ title, colour, dash, shape }) => element("span", {}, sample(colour, dash, shape), " ", title)));
  }
  byId("multiples").hidden = FIGURES.every((figure) => place(figure).hidden);
}

/** Select a game when its small chart is clicked. */
function connectMultiples() {
  for (const figure of FIGURES) {
    boxOf(`small-${figure}`).addEventListener("click", ({ target }) => {
      let item = target.__data__; // set by Vega: a mark, within the group of its panel
      while (item && !item.datum?.game) item = item.mark?.group;
      const game = PAGE.games.findIndex(({ title }) => panelTitle(title) === item?.datum.game.replaceAll("\n", " "));
      if (game < 0) return;
      choose({ game });
      byId("view-title").scrollIntoView();
    });
  }
}

// ---- The list of lines

function lineRow(name, { title, spec, colour, dash, shape }, checked, values, look = {}) {
  const box = element("input", { type: "checkbox", "data-line": name });
  box.checked = checked;
  box.addEventListener("change", () => toggleLine(name, box.checked));
  const label = element("span", look, title);
  if (spec && !title.startsWith(spec)) label.append(" ", element("span", { class: "spec" }, spec));
  const head = element("th", { scope: "row" }, element("label", { class: "check" }, box, sample(colour, dash, shape), label));
  return element("tr", checked ? {} : { class: "off" }, head, ...values.map((value) => element("td", {}, value)));
}

function drawLines() {
  const matches = viewMatches();
  const metrics = FIGURES.map(metricOf);
  const has = (match, metric) => metric !== null && metric in match.curves;
  FIGURES.forEach((figure, place) => {
    const rounds = matches.filter((match) => has(match, metrics[place])).map((match) => lastOf(match, metrics[place]).round);
    byId(`${figure}-head`).textContent = rounds.length ? `${metricTitle(metrics[place])} at ${PAGE.until ? "the end of a run" : `round ${range(rounds)}`}` : "";
  });
  const [shown, preselected] = [shownLearners(), new Set([...givenLearners(), ...state.added])];
  const listed = matches.filter((match) => state.listAll || preselected.has(match.row));
  const valueOf = (match, metric) => (has(match, metric) ? withHalf(lastOf(match, metric).mean, lastOf(match, metric).half) : "");
  const rows = listed.map((match) => lineRow(String(match.row), { ...lineOf(match), title: markedTitle(match.row) },
    shown.has(match.row), metrics.map((metric) => valueOf(match, metric)), ownClass(match.row)));
  const reference = referenceOf(metrics[0]);
  if (reference) rows.push(lineRow(REFERENCE, reference, state.reference, [show(reference.means.at(-1)), ""]));
  keepingFocus("line", () => byId("lines").tBodies[0].replaceChildren(...rows));
  explainMarks("lines", listed.map((match) => match.row));
  const further = matches.filter((match) => !preselected.has(match.row)).length;
  byId("more-lines").hidden = !further;
  byId("more-lines").textContent = state.listAll ? "List fewer" : `List ${further} more`;
  byId("more-lines").setAttribute("aria-expanded", String(state.listAll));
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

/** Explain below a table what the learners marked with a dagger see. */
function explainMarks(table, learners) {
  const marked = ascending(learners).filter((learner) => PAGE.learners[learner].sees);
  say(`${table}-marks`, marked.map((learner) => `† ${titleOf(learner)}: ${PAGE.learners[learner].sees}`).join("; "));
}

// ---- The controls

const PARTS = ["family", "size", "noise"]; // of a game; each is a select element

function drawControls() {
  const chosen = PAGE.games[state.game];
  let games = PAGE.games;
  for (const part of PARTS) { // among the games that match the choices so far
    const titles = unique(games.map((game) => game[part]));
    fill(byId(part), titles.map((title) => [title, title || "–"]), chosen[part]);
    byId(part).disabled = part !== "family" && titles.length < 2;
    byId(part).labels[0].hidden = PAGE.games.every((game) => !game[part]);
    games = games.filter((game) => game[part] === chosen[part]);
  }
  const opponents = opponentsOf(state.game).map((learner) => [learner, `against ${titleOf(learner)}`]);
  fill(byId("opponent"), [...(hasSelfPlay(state.game) ? [["", "self-play"]] : []), ...opponents], state.opponent ?? "");
  say("choices-now", [gameTitle(state.game), state.opponent === null ? "self-play" : `against ${titleOf(state.opponent)}`,
    PAGE.presets[state.preset]?.name].filter(Boolean).join(" · "));
  presetButtons.forEach((button, place) => button.setAttribute("aria-pressed", String(place === state.preset)));
}

/** Describe the preset and the reader's changes. */
function drawNote() {
  const preset = PAGE.presets[state.preset];
  const names = (learners) => [...learners].map(titleOf).join(", ");
  const plays = (place) => presetLearners(place, state.game).includes(state.opponent);
  const isForeign = preset && !plays(state.preset) && PAGE.presets.some((_, place) => plays(place));
  say("preset-note", [
    state.why,
    preset?.note ?? "",
    isForeign ? `The opponent, ${titleOf(state.opponent)}, is not in “${preset.name}”.` : "",
    state.removed.size ? `Hidden: ${names(state.removed)}.` : "",
    state.added.size ? `Added: ${names(state.added)}.` : "",
  ].filter(Boolean).join(" "));
  byId("reset-lines").disabled = !(state.added.size + state.removed.size);
}

function drawFigures() {
  if (!byId("figures")) return;
  for (const figure of FIGURES) {
    fill(byId(`${figure}-metric`), metricsOf(figure).map((metric) => [metric, metricTitle(metric)]), metricOf(figure) ?? "");
  }
  drawNote();
  say("view-title", viewTitle());
  drawMultiples();
  FIGURES.forEach(drawCurves);
  drawLines();
}

/** Draw every section that the page has. */
function drawSections() {
  drawControls();
  drawFigures();
  drawTable();
  drawReplay();
  drawDuels();
  drawFrontier();
}

/** Draw everything after a choice, and store the choice in the URL. */
function drawAll() {
  drawSections();
  writeAddress();
}

function choose(wanted) {
  change(wanted);
  drawAll();
}

/** Return the game most similar to the wanted one: first by family, then by size, then by noise. */
function gameLike(change) {
  const wanted = { ...PAGE.games[state.game], ...change };
  const likeness = PAGE.games.map(({ family, size, noise }) =>
    4 * (family === wanted.family) + 2 * (size === wanted.size) + (noise === wanted.noise));
  return likeness.indexOf(Math.max(...likeness));
}

const presetButtons = document.querySelectorAll("#presets button");

function connectControls() {
  presetButtons.forEach((button, preset) => button.addEventListener("click", () => choose({ preset })));
  for (const part of PARTS) {
    on(part, "change", ({ target }) => choose({ game: gameLike({ [part]: target.value }) }));
  }
  on("opponent", "change", ({ target }) => choose({ opponent: target.value === "" ? null : Number(target.value) }));
}

function connectFigures() {
  if (!byId("figures")) return;
  connectMultiples();
  on("more-lines", "click", () => { state.listAll = !state.listAll; drawLines(); });
  on("all-lines", "click", () => showLines(viewMatches().map((match) => match.row)));
  on("no-lines", "click", () => showLines([]));
  on("reset-lines", "click", () => showLines(givenLearners()));
  for (const figure of FIGURES) {
    connectChart(figure, ["round", "mean"], () => [viewTitle(), metricTitle(metricOf(figure))], () => {
      const metric = metricOf(figure);
      const rows = (match) => match.curves[metric].rounds.map((_, index) => csvRow(match, metric, index));
      return shownMatches(metric).flatMap(rows);
    });
  }
}

// ---- Controls of every chart: the metric, log axes, zoom, the readout, and buttons that save data and pictures

function showAxes(figure) {
  byId(`${figure}-log`).checked = state.log[figure];
  byId(`${figure}-reset`).disabled = !state.zoom[figure];
}

function connectChart(figure, fields, titles, rows) {
  on(`${figure}-metric`, "change", ({ target }) => {
    state.metric[figure][mode(figure)] = target.value;
    delete state.zoom[figure];
    drawAll();
  });
  on(`${figure}-log`, "change", ({ target }) => {
    state.log[figure] = target.checked;
    delete state.zoom[figure];
    drawAll();
  });
  connectZoom(figure, fields);
  on(`${figure}-csv`, "click", () => saveCsv(titles(), rows()));
  connectReading(figure);
  connectPictures(figure, titles);
}

// ---- Sweeps: settings of a learner, in self-play and against one opponent

const sweepOf = (learner) => PAGE.sweeps[learner.sweep];
const parametersOf = (points) => unique(points.map(({ learner }) => sweepOf(learner).parameter)).join(" and ");
const frontierOpponent = () => learnerOf(PAGE.frontierOpponent);

/** Return the label of a setting: its value, with its learner if there are several. */
function settingOf(learner, points) {
  const number = `${sweepOf(learner).parameter} = ${learner.value}`;
  const several = points.some((point) => point.learner.sweep !== learner.sweep);
  return several ? `${sweepOf(learner).title}, ${number}` : number;
}

/** Return the sweeps on the chosen game, in self-play and, if played, against the strongest opponent; or null. */
function frontier() {
  const found = PAGE.frontiers[state.game];
  if (!found) return null;
  const metric = chosenAmong(found.metrics, "frontier");
  const points = found.points.filter((point) => point.self_play[metric]).map(({ learner, self_play, against }) => ({
    place: learner, learner: PAGE.learners[learner], selfPlay: self_play[metric], against,
  }));
  points.sort((a, b) => a.learner.sweep - b.learner.sweep || a.learner.value - b.learner.value);
  return { metric, metrics: found.metrics, regret: found.regret, points };
}

/** Return the names of a setting: the presets that have it, and “default”. */
function namesOf(learner) {
  const presets = mapPresets.filter((preset) => preset.learners[state.game][preset.opponent] === learner.spec);
  const isSet = learner.spec.split(/[:,]/).some((part) => part.startsWith(`${sweepOf(learner).parameter}=`));
  return [...presets.map(({ name }) => name), ...(isSet ? [] : ["default"])];
}

/** Describe the rounds of a frontier's values: a single round, or the rounds over which they are averaged. */
function roundsOf(ends) {
  const last = range(ends.map((end) => end.last));
  if (ends.every((end) => end.first === end.last)) return `at round ${last}`;
  return `mean of the recorded rounds from ${range(ends.map((end) => end.first))} to ${last}`;
}

/** Return the chart of a sweep: settings on the x-axis; one panel for the opponent and one for self-play. */
function makeSweep() {
  const { metric, regret, points } = frontier();
  const boxWidth = boxOf("sweep").clientWidth;
  const hasOpponent = regret !== null;
  const panels = [...(hasOpponent ? [`${metricTitle(regret)} against a ${titleOf(frontierOpponent())}`] : []), `${metricTitle(metric)} in self-play`];
  const rows = points.flatMap(({ place, learner, selfPlay, against }) => (hasOpponent ? [against, selfPlay] : [selfPlay]).map(({ mean, half }, index) => ({
    panel: panels[index], mean, low: mean - half, high: mean + half, value: learner.value, sweep: learner.sweep, learner: titleOf(place),
    named: namesOf(learner).join(", "),
  })));
  const leastOf = (which) => {
    const least = [...points].sort((a, b) => a[which].mean - b[which].mean)[0];
    return `${settingOf(least.learner, points)}, ${withInterval(least[which].mean, least[which].half)}`;
  };
  const last = PAGE.metrics[metric].cumulative ? "" : `; in self-play, the ${roundsOf(points.map((point) => point.selfPlay))}`;
  const note = `${gameTitle(state.game)}; bars: 95 % intervals${last}; lower is better. ${hasOpponent ? `Smallest loss to a ${titleOf(frontierOpponent())}: ${leastOf("against")}. ` : ""}Smallest in self-play: ${leastOf("selfPlay")}.`;
  return {
    chart: "sweep",
    values: {
      rows, panels, columns: boxWidth > 700 ? 2 : 1, width: (boxWidth > 700 ? boxWidth / 2 : boxWidth) - 80, xTitle: parametersOf(points),
      names: points.map(({ place }) => titleOf(place)), colours: points.map(({ place }) => colourOf(place)),
    },
    picture: { columns: 2, width: 380 },
    text: `${panels.join("; ")}, by ${parametersOf(points)}. ${note}`, title: `By ${parametersOf(points)}`, note,
  };
}

function drawFrontier() {
  if (!byId("frontier")) return;
  const found = frontier();
  for (const part of ["chart", "controls"]) byId(`sweep-${part}`).hidden = !found;
  if (!found) {
    say("sweep-caption", `Too few settings were run on ${gameTitle(state.game)}. Choose another game.`);
    return;
  }
  fill(byId("frontier-metric"), found.metrics.map((metric) => [metric, metricTitle(metric)]), found.metric);
  planChart("sweep", makeSweep);
}

function connectFrontier() {
  if (!byId("frontier")) return;
  const titles = () => [`by ${parametersOf(frontier().points)}`, gameTitle(state.game)];
  on("frontier-metric", "change", ({ target }) => {
    state.metric.frontier[0] = target.value;
    drawAll();
  });
  on("sweep-csv", "click", () => {
    const { metric, regret, points } = frontier();
    saveCsv(titles(), points.flatMap(({ place, selfPlay, against }) =>
      [frontierRow(place, place, metric, selfPlay), ...(against ? [frontierRow(place, frontierOpponent(), regret, against)] : [])]));
  });
  connectPictures("sweep", titles);
}
