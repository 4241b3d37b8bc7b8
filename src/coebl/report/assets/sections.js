// A part of the page's program, which `coebl.report.page` puts together in one scope: state, figures, sections, page.
// The head-to-head table, the frontier, and downloads.

// ---- The head-to-head table

/** Those who are in the table on a game: the preset's learners, and opponents that no preset has. */
function tableFilter(game) {
  if (byId("every-learner").checked || !PAGE.presets.length) return () => true;
  const members = new Set(state.preset === null ? state.listed : presetLearners(state.preset, game));
  const others = new Set(PAGE.presets.flatMap((preset) => preset.learners[game]).map(learnerOf));
  return ({ row, column }) => members.has(row) && (members.has(column) || !others.has(column));
}

function tableMatches() {
  const games = byId("every-game").checked ? PAGE.games.map((_, place) => place) : [state.game];
  const fits = (match) => !isSelfPlay(match) && PAGE.tableMetric in match.metrics;
  return games.flatMap((game) => matchesOf(game).filter(fits).filter(tableFilter(game)));
}

/** Colour by sign, deeper with size; grey where the interval contains zero. The words say the same. */
function tableCell(match, largest) {
  if (!match) return element("td", { class: "absent" }, "·");
  const { mean, half, seeds } = lastOf(match, PAGE.tableMetric);
  const title = `${titleOf(match.row)} v ${titleOf(match.column)}, ${gameTitle(match.game)}, ${seeds} seeds`;
  const cell = element("td", { title }, withHalf(mean, half));
  if (mean === null || half === null || Math.abs(mean) <= half) {
    cell.className = "neither";
    cell.append(element("small", {}, element("i", {}, seeds === 1 ? "one seed" : "n.s.")));
    return cell;
  }
  const winner = mean > 0 ? "column" : "row";
  const depth = Math.round(25 + 75 * Math.sqrt(Math.abs(mean) / largest));
  cell.style.background = `color-mix(in srgb, var(--${winner}-wins) ${depth}%, var(--paper))`;
  cell.append(element("small", {}, `${winner} wins`));
  return cell;
}

/** The table of one game has rows by columns; that of all games has pairs by games. */
function tableShape(matches) {
  if (!byId("every-game").checked) {
    return {
      corner: "Row", rows: ascending(matches.map((match) => match.row)), rowTitle: markedTitle,
      columns: ascending(matches.map((match) => match.column)), columnTitle: (column) => `v ${markedTitle(column)}`,
      at: (row, column) => matches.find((match) => match.row === row && match.column === column),
    };
  }
  const pairOf = (match) => `${match.row} ${match.column}`;
  const sorted = matches.slice().sort((a, b) => a.row - b.row || a.column - b.column);
  return {
    corner: "Row v column", rows: unique(sorted.map(pairOf)),
    rowTitle: (pair) => pair.split(" ").map(markedTitle).join(" v "),
    columns: ascending(matches.map((match) => match.game)), columnTitle: gameTitle,
    at: (pair, game) => matches.find((match) => pairOf(match) === pair && match.game === game),
  };
}

function drawTable() {
  if (!byId("matrix")) return;
  const matches = tableMatches();
  const { corner, rows, rowTitle, columns, columnTitle, at } = tableShape(matches);
  const where = byId("every-game").checked ? "on every game" : `on ${gameTitle(state.game)}`;
  const what = `${metricTitle(PAGE.tableMetric)} of the row learner at the last round, ${where}`;
  byId("table-lead").textContent = `${what}: mean ± half of the 95 % interval. Positive: the column player wins.`;
  const largest = Math.max(...matches.map((match) => Math.abs(lastOf(match, PAGE.tableMetric).mean ?? 0)), 1e-300);
  const heads = columns.map((column) => element("th", { scope: "col" }, columnTitle(column)));
  const head = element("thead", {}, element("tr", {}, element("th", { scope: "col" }, corner), ...heads));
  const body = rows.map((row) => element("tr", {}, element("th", { scope: "row" }, rowTitle(row)),
    ...columns.map((column) => tableCell(at(row, column), largest))));
  const nobody = element("caption", {}, "No two of these learners have met here.");
  byId("matrix").replaceChildren(...(matches.length ? [head, element("tbody", {}, ...body)] : [nobody]));
  byId("matrix").classList.toggle("wide", columns.length > 6);
  explainMarks("matrix", matches.flatMap((match) => [match.row, match.column]));
}

function connectTable() {
  on("every-game", "change", drawTable);
  on("every-learner", "change", drawTable);
  on("table-csv", "click", () => {
    const where = byId("every-game").checked ? "every game" : gameTitle(state.game);
    saveCsv(["head to head", where], tableMatches().map((match) => lastCsvRow(match, PAGE.tableMetric)));
  });
}

// ---- The frontier

const END = ["mean", "half", "seeds", "first", "last"];
const endOf = (numbers) => Object.fromEntries(numbers.map((number, at) => [END[at], number]));

const sweepOf = (learner) => PAGE.sweeps[learner.sweep];
const sweepsOf = (points) => ascending(points.map(({ learner }) => learner.sweep));
const parametersOf = (points) =>
  unique(sweepsOf(points).map((sweep) => PAGE.sweeps[sweep].parameter)).join(" and ");
const frontierOpponent = () => learnerOf(PAGE.frontierOpponent);

/** What a point is called: its number, and its learner too where there are several. */
function settingOf(learner, points) {
  const number = `${sweepOf(learner).parameter} = ${learner.value}`;
  return sweepsOf(points).length > 1 ? `${sweepOf(learner).title}, ${number}` : number;
}

/** Each sweep on the chosen game, if it has a frontier: against itself, and against who sees its policy. */
function frontier() {
  const found = PAGE.frontiers[state.game];
  if (!found) return null;
  const metric = chosenAmong(found.metrics, "frontier");
  const points = found.points.filter((point) => point.self[metric]).map(({ learner, self, best }) => ({
    place: learner, learner: PAGE.learners[learner], self: endOf(self[metric]), best: endOf(best),
  }));
  points.sort((a, b) => a.learner.sweep - b.learner.sweep || a.learner.value - b.learner.value);
  return { metric, metrics: found.metrics, regret: found.regret, points };
}

/** The sides of the labels, from where the points will stand, roughly: Plotly has the last word on its ranges. */
function frontierSides(points) {
  const box = chartOf("frontier");
  const [width, height] = state.printing ? [PAPER.width, PAPER.height.frontier] : [box.clientWidth, box.clientHeight];
  const scale = (ends, log, length) => {
    const at = (value) => (log ? Math.log(Math.max(value, 1e-9)) : value);
    const reach = ends.flatMap(({ mean, half }) => [mean - half, mean, mean + half]).filter((one) => !log || one > 0);
    const [low, high] = [Math.min(...reach), Math.max(...reach)].map(at);
    return (value) => (length * (at(value) - low)) / (high - low || 1);
  };
  const [wide, tall] = [width - 100, height - 80]; // without the margins
  const across = scale(points.map((point) => point.self), state.log.across, wide);
  const up = scale(points.map((point) => point.best), state.log.frontier, tall);
  return TOOLS.labelSides(points.map(({ learner, self: { mean, half }, best }) => ({
    x: across(mean), y: tall - up(best.mean), left: across(mean - half), right: across(mean + half),
    text: settingOf(learner, points),
  })), wide);
}

/** A line through the points of each sweep. */
function frontierTraces(points) {
  const sides = frontierSides(points);
  return sweepsOf(points).map((sweep) => {
    const isOwn = ({ learner }) => learner.sweep === sweep;
    const texts = points.filter(isOwn).map(({ learner }) => plain(settingOf(learner, points)));
    return frontierTrace(points.filter(isOwn), texts, sides.filter((_, at) => isOwn(points[at])));
  });
}

function frontierTrace(points, texts, sides) {
  const across = points.map((point) => point.self);
  const up = points.map((point) => point.best);
  const family = points.at(-1).learner;
  const bars = (values) =>
    ({ type: "data", array: values.map(({ half }) => half ?? 0), color: colourOf(family), thickness: 1.3, width: 4 });
  const text = ({ mean, half }) => plain(withInterval(mean, half));
  return {
    type: "scatter", mode: "lines+markers+text", cliponaxis: false,
    x: across.map(({ mean }) => mean), y: up.map(({ mean }) => mean), error_x: bars(across), error_y: bars(up),
    text: texts, textposition: sides, textfont: { color: ink("ink") },
    line: { color: colourOf(family, 0.35), width: 1.5 },
    marker: { size: 9, color: points.map(({ learner }) => colourOf(learner)) },
    customdata: points.map((_, at) => [text(across[at]), text(up[at]), plain(titleOf(frontierOpponent()))]),
    hovertemplate: "%{text}<br>self-play: %{customdata[0]}<br>%{customdata[2]}: %{customdata[1]}<extra></extra>",
  };
}

/** When a number of the frontier is from: a round, or several over which it is a mean. */
function roundsOf(ends) {
  const last = range(ends.map((end) => end.last));
  if (ends.every((end) => end.first === end.last)) return `at round ${last}`;
  return `mean of the recorded rounds from ${range(ends.map((end) => end.first))} to ${last}`;
}

function frontierCaption(points) {
  const [selves, bests] = [points.map((point) => point.self), points.map((point) => point.best)];
  const seeds = range([...selves, ...bests].map((end) => end.seeds));
  const { across, frontier: up } = state.log;
  const lost = points.filter(({ self, best }) => (across && self.mean <= 0) || (up && best.mean <= 0));
  return [
    `${gameTitle(state.game)}. Across: ${roundsOf(selves)}. Up: ${roundsOf(bests)}.`,
    `Bars: 95 % interval of the mean over ${seeds} seeds. The line joins neighbouring ${parametersOf(points)}.`,
    lost.length ? `Not on a log axis: ${lost.map(({ learner }) => settingOf(learner, points)).join(", ")}.` : "",
  ].filter(Boolean).join(" ");
}

function drawFrontier() {
  if (!byId("frontier")) return;
  const found = frontier();
  const caption = byId("frontier-caption");
  chartOf("frontier").hidden = !found;
  byId("frontier-controls").hidden = !found;
  caption.textContent = `No frontier was run on ${gameTitle(state.game)}. Choose another game among the figures.`;
  if (!found) return;
  const { metric, metrics, regret, points } = found;
  fill(byId("frontier-metric"), metrics.map((place) => [place, metricTitle(place)]), metric);
  const { across, frontier: up } = state.log;
  const when = PAGE.metrics[metric].cumulative ? "" : `\nmean over the last ${PAGE.last} rounds`;
  const x = axis(`${metricTitle(metric)} in self-play${when}`, across);
  const y = axis(`${metricTitle(regret)} against a ${titleOf(frontierOpponent())}`, up);
  const layout = { ...layoutOf("frontier", x, y, [state.game, metric, across, up]), hovermode: "closest" };
  Plotly.react(chartOf("frontier"), frontierTraces(points), layout, CONFIG);
  chartOf("frontier").setAttribute("aria-label", `${points.length} values of ${parametersOf(points)} on ${gameTitle(state.game)}`);
  caption.textContent = frontierCaption(points);
  watchZoom("frontier");
}

function connectFrontier() {
  on("across-log", "change", (event) => { state.log.across = event.target.checked; drawFrontier(); });
  connectChart("frontier", drawFrontier, () => [`frontier over ${parametersOf(frontier().points)}`, gameTitle(state.game)], () => {
    const { metric, regret, points } = frontier();
    return points.flatMap(({ place, self, best }) =>
      [frontierRow(place, place, metric, self), frontierRow(place, frontierOpponent(), regret, best)]);
  });
}

// ---- Downloads

const HAS_NOISES = PAGE.games.some((game) => game.noise);
const LABELS = ["game", ...(HAS_NOISES ? ["noise"] : []), "row", "column", "metric"];
const COLUMNS = [...LABELS, "round", "mean", "low", "high", "seeds"];

function labelsOf(game, row, column, metric) {
  const { spec, noise } = PAGE.games[game];
  const [first, second] = [row, column].map((place) => PAGE.learners[place].spec);
  return [spec, ...(HAS_NOISES ? [noise] : []), first, second, PAGE.metrics[metric].name];
}

function numbersOf(mean, half, seeds) {
  const isKnown = mean !== null && half !== null;
  // The parts have five digits, so a sum has no more than that to say.
  const [low, high] = [-1, 1].map((sign) => (isKnown ? Number((mean + sign * half).toPrecision(6)) : ""));
  return [mean ?? "", low, high, seeds];
}

function csvRow({ game, row, column, metrics }, metric, at) {
  const { rounds, seeds, means, halves } = metrics[metric];
  return [...labelsOf(game, row, column, metric), rounds[at], ...numbersOf(means[at], halves[at], seeds)];
}

function frontierRow(row, column, metric, { mean, half, seeds, first, last }) {
  const rounds = first === last ? last : `${first} to ${last}`;
  return [...labelsOf(state.game, row, column, metric), rounds, ...numbersOf(mean, half, seeds)];
}

const lastCsvRow = (match, metric) => csvRow(match, metric, match.metrics[metric].rounds.length - 1);
const nameOf = (titles, ending) => `${TOOLS.fileName([PAGE.name, ...titles])}.${ending}`;
const saveCsv = (titles, rows) => TOOLS.save(nameOf(titles, "csv"), "text/csv", TOOLS.csv([COLUMNS, ...rows]));

/** The picture stands alone, so it gets a title and a legend, which the page has outside of the chart. */
function savePicture(figure, titles) {
  const { data, layout } = chartOf(figure);
  const alone = {
    ...layout, title: { text: plain(titles.join(": ")), font: { size: 15 } }, showlegend: figure !== "frontier",
    margin: { l: 60, r: 20, t: 50, b: 50 }, paper_bgcolor: ink("paper"),
  };
  const filename = TOOLS.fileName([PAGE.name, ...titles]);
  Plotly.downloadImage({ data, layout: alone }, { format: "svg", width: 900, height: 560, filename });
}
