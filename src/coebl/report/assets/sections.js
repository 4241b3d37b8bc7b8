// The heat maps, the head-to-head table, the duels, and downloads.

const wordsOf = ({ mean, standing, seeds }, row, column) => {
  if (seeds === 1) return "one seed";
  if (mean === null || !standing) return "undecided";
  const winner = titleOf(mean > 0 ? column : row);
  return standing === SURE ? `${winner} wins` : `${winner}, before correction only`;
};

// ---- Heat maps: who beats the one whom all meet, by preset, on one scale

const mapPresets = () => PAGE.presets.filter((preset) => preset.opponent !== null);

/** Everybody's match against the one whom all meet, in a preset on a game; null where it was not played. */
function presetDuels(preset, game) {
  const learners = preset.learners[game].map(learnerOf);
  const opponent = learners[preset.opponent];
  return learners.filter((one) => one !== opponent).map((row) => ({ row, opponent, match: find(game, row, opponent) }))
    .filter(({ match }) => match && PAGE.tableMetric in match.metrics);
}

/** What the one whom all meet is called: by its family, if its settings differ. */
function opponentTitle() {
  const all = unique(mapPresets().flatMap((preset) => preset.learners.map((own) => learnerOf(own[preset.opponent]))));
  const known = all.filter((learner) => learner >= 0);
  const sweeps = unique(known.map((learner) => PAGE.learners[learner].sweep));
  if (known.length > 1 && sweeps.length === 1 && sweeps[0] !== null) return PAGE.sweeps[sweeps[0]].title;
  return known.length === 1 ? titleOf(known[0]) : "the opponent";
}

/** A title in lines of not much more than so many letters. */
const inLines = (title, length) => title.split(" ").reduce((text, word) =>
  `${text}${text && text.length - text.lastIndexOf("\n") + word.length > length ? "\n" : text && " "}${word}`, "");

function makeMaps() {
  const rows = mapPresets().flatMap((preset) => PAGE.games.flatMap((_, game) =>
    presetDuels(preset, game).map(({ row, match }) => {
      const { mean, standing } = lastOf(match, PAGE.tableMetric);
      const text = `${show(mean, 3)}${standing === 1 ? "°" : ""}`;
      return { panel: preset.name, game: gameTitle(game), learner: inLines(titleOf(row), 10), mean, decided: standing === SURE, text };
    })));
  const largest = Math.max(...rows.map(({ mean }) => Math.abs(mean ?? 0)), 1e-300);
  for (const row of rows) row.shade = Math.sign(row.mean) * Math.sqrt(Math.abs(row.mean) / largest);
  const wide = chartOf("maps").clientWidth;
  const panels = unique(rows.map(({ panel }) => panel));
  const columns = wide > 800 ? panels.length : 1;
  const games = unique(rows.map(({ game }) => game));
  const labels = 7 * Math.max(0, ...games.map((game) => game.length));
  const opponent = opponentTitle();
  const note = `${metricTitle(PAGE.tableMetric)} at the last round. Blue: ${opponent} is ahead. Orange: the learner above is ahead. Grey: undecided; °: decided only before correction.`;
  const counts = panels.map((panel) => {
    const ahead = rows.filter((row) => row.panel === panel && row.decided && row.mean > 0).length;
    return `${panel}: ahead in ${ahead} of ${rows.filter((row) => row.panel === panel).length}`;
  });
  return {
    chart: "heatMaps",
    values: {
      rows, games, panels, columns, labelPadding: 13 * Math.max(...rows.map(({ learner }) => learner.split("\n").length)) - 9, title: null, width: Math.max(120, (wide - labels - 14 * columns) / columns - 4),
      legendTitle: `${metricTitle(PAGE.tableMetric)} at the last round`,
      legendLabels: `format(datum.value * abs(datum.value) * ${largest}, ',.2~r')`,
    },
    text: `Heat maps of who beats ${opponent}. ${opponent}: ${counts.join("; ")}. The numbers are in the head-to-head table.`,
    title: `Who beats ${opponent}?`, note, alone: { columns: panels.length, width: 290 },
  };
}

function connectMaps() {
  if (!byId("maps")) return;
  planChart("maps", makeMaps);
  byId("maps-caption").textContent = makeMaps().note;
  byId("maps-title").textContent = makeMaps().title;
  connectPictures("maps", () => ["heat maps"]);
}

// ---- The head-to-head table

/** Those who are in the table on a game: the preset's learners, and opponents that no preset has. */
function tableFilter(game) {
  if (byId("every-learner").checked || !PAGE.presets.length) return () => true;
  const members = new Set(presetLearners(state.preset, game));
  const others = new Set(PAGE.presets.flatMap((preset) => preset.learners[game]).map(learnerOf));
  return ({ row, column }) => members.has(row) && (members.has(column) || !others.has(column));
}

function tableMatches() {
  const games = byId("every-game").checked ? PAGE.games.map((_, place) => place) : [state.game];
  const fits = (match) => !isSelfPlay(match) && PAGE.tableMetric in match.metrics;
  return games.flatMap((game) => matchesOf(game).filter(fits).filter(tableFilter(game)));
}

/** Colour by who is ahead, deeper with size; grey where nobody is after correction. The words say the same. */
function tableCell(match, largest) {
  if (!match) return element("td", { class: "absent" }, "·");
  const last = lastOf(match, PAGE.tableMetric);
  const title = `${titleOf(match.row)} v ${titleOf(match.column)}, ${gameTitle(match.game)}, ${last.seeds} seeds`;
  const cell = element("td", { title }, withHalf(last.mean, last.half));
  cell.append(element("small", {}, wordsOf(last, match.row, match.column)));
  if (last.standing !== SURE) {
    cell.className = "neither";
    return cell;
  }
  const depth = Math.round(25 + 75 * Math.sqrt(Math.abs(last.mean) / largest));
  const winner = last.mean > 0 ? "column" : "row";
  cell.style.background = `color-mix(in srgb, var(--${winner}-wins) ${depth}%, var(--paper))`;
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
  byId("table-lead").textContent = `${what}: mean ± half of the 95 % interval. Above 0, the column learner is ahead; the words say who wins.`;
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

// ---- Duels: the matches of the heat maps one by one, by the setting of the one whom all meet

/** By part of the presets, who plays it in any of them on the chosen game; the first is how it is without a switch. */
const partsOf = () => mapPresets()[0].learners[state.game].map((_, part) =>
  unique(mapPresets().map((preset) => learnerOf(preset.learners[state.game][part]))).filter((one) => one >= 0));

/** The settings of the one whom all meet: those of its sweep that anybody of these parts has met. */
function ratesOf(rows) {
  const { opponent } = mapPresets()[0];
  const sweeps = partsOf()[opponent].map((one) => PAGE.learners[one].sweep);
  const met = (one) => rows.some((row) => find(state.game, row, one));
  const found = PAGE.learners.map((_, one) => one).filter((one) => sweeps.includes(PAGE.learners[one].sweep) && met(one));
  return found.sort((a, b) => PAGE.learners[a].value - PAGE.learners[b].value);
}

function duelChoice() {
  const { opponent } = mapPresets()[0];
  const parts = partsOf().filter((_, part) => part !== opponent && partsOf()[part].length);
  const rates = ratesOf(parts.flat());
  const rate = rates.includes(state.rate) ? state.rate : partsOf()[opponent].find((one) => rates.includes(one)) ?? rates[0];
  const rows = parts.map((own) => own.find((one) => state.switched.has(one)) ?? own[0]);
  return { parts, rates, rate, rows };
}

function makeDuels() {
  const { parts, rates, rate, rows } = duelChoice();
  const all = parts.flat().flatMap((row) => rates.map((one) => find(state.game, row, one))).filter(Boolean)
    .map((match) => lastOf(match, PAGE.tableMetric)).filter(({ mean }) => mean !== null);
  const reach = [Math.min(0, ...all.map(({ mean, half }) => mean - half)), Math.max(0, ...all.map(({ mean, half }) => mean + half))];
  const found = rows.map((row) => {
    const match = find(state.game, row, rate);
    if (!match) {
      const met = rates.filter((one) => find(state.game, row, one)).map(titleOf);
      return { learner: titleOf(row), mean: null, text: `was not run; it met ${met.join(", ")}` };
    }
    const last = lastOf(match, PAGE.tableMetric);
    const text = `${withHalf(last.mean, last.half)}: ${wordsOf(last, row, rate)}`;
    return {
      learner: titleOf(row), mean: last.mean, low: last.mean - last.half, high: last.mean + last.half,
      winner: last.mean > 0, decided: last.standing === SURE, text,
    };
  });
  const what = `against ${titleOf(rate)} on ${gameTitle(state.game)}`;
  return {
    chart: "duels",
    values: {
      width: "container", height: 75 + 44 * found.length, title: null, rows: found, learners: rows.map(titleOf), xDomain: reach,
      xTitle: inLines(`${metricTitle(PAGE.tableMetric)} ${what}; above 0, ${titleOf(rate)} is ahead`, chartOf("duels").clientWidth / 10).split("\n"),
    },
    text: `${what}: ${found.map(({ learner, text }) => `${learner} ${text}`).join("; ")}`, title: what,
    note: "Mean at the last round with its 95 % interval. Blue: the opponent wins. Orange: the learner wins. Grey: undecided after correction.",
  };
}

function drawDuels() {
  if (!byId("duels")) return;
  const { parts, rates, rate } = duelChoice();
  fill(byId("duel-game"), PAGE.games.map((_, game) => [game, gameTitle(game)]), state.game);
  const slider = byId("rate");
  slider.max = String(rates.length - 1);
  slider.value = String(rates.indexOf(rate));
  slider.disabled = rates.length < 2;
  slider.setAttribute("aria-valuetext", titleOf(rate));
  byId("rate-title").textContent = `${titleOf(rate)} (run: ${rates.map((one) => PAGE.learners[one].value ?? titleOf(one)).join(", ")})`;
  const others = parts.flatMap(([, ...rest]) => rest);
  const focused = document.activeElement?.dataset?.stands;
  byId("switches").replaceChildren(...others.map((one) => {
    const box = element("input", { type: "checkbox", role: "switch", "data-stands": one });
    box.checked = state.switched.has(one);
    box.addEventListener("change", () => { state.switched[box.checked ? "add" : "delete"](one); drawDuels(); writeAddress(); });
    return element("label", { class: "check" }, box, PAGE.switches[PAGE.learners[one].spec] ?? titleOf(one));
  }));
  if (focused) document.querySelector(`[data-stands="${CSS.escape(focused)}"]`)?.focus();
  say("duels-caption", makeDuels().note);
  planChart("duels", makeDuels);
}

function connectDuels() {
  if (!byId("duels")) return;
  on("duel-game", "change", ({ target }) => choose({ game: Number(target.value) }));
  on("rate", "input", ({ target }) => { state.rate = duelChoice().rates[Number(target.value)]; drawDuels(); writeAddress(); });
  connectPictures("duels", () => ["duels", gameTitle(state.game)]);
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
  const [low, high] = [-1, 1].map((sign) =>
    (mean !== null && half !== null ? Number((mean + sign * half).toPrecision(6)) : ""));
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
const saveCsv = (titles, rows) => save(nameOf(titles, "csv"), "text/csv", csv([COLUMNS, ...rows]));
