// The heat maps, the head-to-head table, the duels, downloads, and the claims.

/** Describe the outcome of a pairing, whose two seats are tested together. */
function outcomeWords({ decided, winner, seeds }) {
  if (decided === "untested") return seeds === 1 ? "one seed" : "not tested";
  if (decided === "no") return "undecided";
  return decided === "after" ? `${titleOf(winner)} wins` : `${titleOf(winner)}, before correction only`;
}

const hasEnd = (match) => !isSelfPlay(match) && PAGE.tableMetric in match.curves;
const endOfMatch = (match) => ({ ...lastOf(match, PAGE.tableMetric), winner: match.winner, decided: match.decided });
/** Describe a match and its outcome. */
function matchWords(match, outcome = outcomeWords(endOfMatch(match))) {
  const last = endOfMatch(match);
  return `${titleOf(match.row)} v ${titleOf(match.column)}, ${gameTitle(match.game)}: ${withHalf(last.mean, last.half)}, ${outcome}; ${last.seeds} seeds`;
}

const largestOf = (means) => Math.max(...means.map((mean) => Math.abs(mean ?? 0)), 1e-300);

// ---- Heat maps: who beats the common opponent; a panel for each preset, all on one scale

const LABEL_LENGTH = 11; // characters per line of a learner's name above a heat map

/**
 * Return the cells: each learner of a preset against the opponent of the preset. A match that the main claim checks has
 * the outcome of the check, so that a panel agrees with the bars of the claim.
 */
function mapCells() {
  const keyOf = (...parts) => JSON.stringify(parts);
  const checks = PAGE.verdicts.filter(({ id, metric }) => id === PAGE.headline && metric === PAGE.tableMetric)
    .flatMap(({ variant, checks }) => checks.map(({ match, outcome }) => [keyOf(variant, ...match), outcome]));
  const outcomes = new Map(checks);
  return mapPresets.flatMap(({ id, name, learners, opponent }) => PAGE.games.flatMap(({ spec }, game) => {
    const [column, rows] = [learnerOf(learners[game][opponent]), learners[game].map(learnerOf)];
    return rows.map((row) => find(game, row, column)).filter((match) => match && hasEnd(match)).map((match) => {
      const { mean, half, decided } = endOfMatch(match);
      const rounded = half ? Number(mean.toFixed(Math.max(0, writerOf(mean, half).places - 1))) : mean; // to a digit of the half
      const checked = outcomes.get(keyOf(id, spec, ...specsOf([match.row, column])));
      return {
        panel: name, game: gameTitle(game), learner: inLines(titleOf(match.row), LABEL_LENGTH).join("\n"), at: [game, match.row, column],
        mean, text: show(rounded), columnAhead: mean > 0, isChecked: checked !== undefined,
        decided: checked ? ["holds", "fails"].includes(checked) : decided === "after",
      };
    });
  }));
}

/** Return the title of the common opponent; if its settings differ, the title without them. */
function mapOpponent(cells) {
  const opponents = unique(cells.map(({ at }) => at[2]));
  const [sweep, ...others] = unique(opponents.map((learner) => PAGE.learners[learner].sweep));
  if (opponents.length === 1) return titleOf(opponents[0]);
  return others.length || sweep === null ? "the opponent" : PAGE.sweeps[sweep].title;
}

function makeMaps() {
  const cells = mapCells();
  const who = mapOpponent(cells);
  const [panels, games] = ["panel", "game"].map((key) => unique(cells.map((cell) => cell[key])));
  const largest = largestOf(cells.map(({ mean }) => mean));
  const shadeOf = (mean) => Math.sign(mean) * Math.sqrt(Math.abs(mean) / largest);
  const boxWidth = boxOf("maps").clientWidth;
  const columns = boxWidth > 800 ? panels.length : 1;
  const labels = 7 * Math.max(...games.map((game) => game.length));
  const lines = Math.max(...cells.map(({ learner }) => learner.split("\n").length));
  const counts = panels.map((panel) => cells.filter((cell) => cell.panel === panel))
    .map((group) => `${group[0].panel}: ahead in ${group.filter((cell) => cell.decided && cell.columnAhead).length} of ${group.length}`);
  const rest = cells.every(({ isChecked }) => isChecked) ? "" : `; in matches that it does not check, over ${PAGE.family}`;
  const family = cells.some(({ isChecked }) => isChecked) ? `the checks of the main claim in a panel${rest}` : PAGE.family;
  return {
    chart: "heatMaps", who,
    values: {
      rows: cells.map((cell) => ({ ...cell, shade: shadeOf(cell.mean) })), games, panels, columns,
      width: Math.max(120, (boxWidth - labels - 14 * columns) / columns - 4), labelPadding: 13 * lines - 9,
    },
    picture: { columns: panels.length, width: 290 }, title: `Who beats ${who}?`,
    text: `Heat maps of who beats ${who}. ${who}: ${counts.join("; ")}. The numbers are in the head-to-head table.`,
    note: `Each number is what ${who} wins from the learner above in a match: its ${metricTitle(PAGE.tableMetric).toLowerCase()} at the last round. A stronger colour means a larger number. Undecided: no significant difference after correction over ${family}.`,
  };
}

function connectMaps() {
  if (!byId("maps")) return;
  planChart("maps", makeMaps);
  const { title, who } = charts.get("maps").content;
  byId("maps-title").textContent = title;
  byId("maps-opponent").textContent = who;
  const cellAt = ({ target }) => { const { datum } = target.__data__ ?? {}; return datum && "at" in datum ? datum : null; }; // set by Vega
  boxOf("maps").addEventListener("pointerover", (event) => {
    if (!cellAt(event)) return;
    const { at, decided, columnAhead } = cellAt(event);
    byId("maps-readout").textContent = matchWords(find(...at), decided ? `${titleOf(at[columnAhead ? 2 : 1])} wins` : "undecided");
  });
  boxOf("maps").addEventListener("click", (event) => {
    if (!cellAt(event)) return;
    const [game, , opponent] = cellAt(event).at;
    choose({ game, preset: PAGE.presets.findIndex(({ name }) => name === cellAt(event).panel), opponent });
    byId("view-title")?.scrollIntoView();
  });
  connectPictures("maps", () => ["heat maps"]);
}

// ---- The head-to-head table

/** Return a filter that keeps matches of the preset's learners with each other and with opponents in no preset. */
function tableFilter(game) {
  if (byId("every-learner").checked || !PAGE.presets.length) return () => true;
  const members = presetLearners(state.preset, game);
  const others = PAGE.presets.flatMap((_, preset) => presetLearners(preset, game));
  return ({ row, column }) => members.includes(row) && (members.includes(column) || !others.includes(column));
}

function tableMatches() {
  const games = byId("every-game").checked ? PAGE.games.map((_, place) => place) : [state.game];
  return games.flatMap((game) => matchesOf(game).filter(hasEnd).filter(tableFilter(game)));
}

/** Return a cell, coloured by the winner and the size of the mean; grey if no one wins after correction. */
function tableCell(match, largest) {
  if (!match) return element("td", { class: "absent" }, "·");
  const last = endOfMatch(match);
  const title = matchWords(match);
  const words = element("small", {}, outcomeWords(last));
  const isDecided = last.decided === "after";
  const cell = element("td", { title, class: isDecided ? "" : last.decided === "untested" ? "untested" : "neither" }, withHalf(last.mean, last.half), words);
  if (isDecided) {
    const depth = Math.round(25 + 75 * Math.sqrt(Math.abs(last.mean) / largest));
    cell.style.background = `color-mix(in srgb, var(--${last.winner === match.column ? "column" : "row"}-wins) ${depth}%, var(--paper))`;
  }
  return cell;
}

/** Return the layout of the table: learners by opponents for one game, pairs by games for all games. */
const tableShape = (everyGame) => (everyGame ? {
  corner: "Row v column", columnOf: (match) => match.game, columnTitle: gameTitle,
  rowOf: (match) => `${match.row} ${match.column}`, rowTitle: (pair) => pair.split(" ").map(markedTitle).join(" v "),
} : {
  corner: "Row", columnOf: (match) => match.column, columnTitle: (column) => `v ${markedTitle(column)}`,
  rowOf: (match) => match.row, rowTitle: markedTitle,
});

/** Sort learners by wins minus losses. */
function sortByWins(matches, columns) {
  const score = PAGE.learners.map(() => 0);
  for (const { row, column, winner } of matches.filter((match) => match.decided === "after")) {
    score[winner] += 1;
    score[winner === row ? column : row] -= 1;
  }
  const first = (a, b) => score[b] - score[a] || a - b;
  matches.sort((a, b) => first(a.row, b.row));
  columns.sort(first);
}

function drawTable() {
  if (!byId("matrix")) return;
  const everyGame = byId("every-game").checked;
  const { corner, rowOf, rowTitle, columnOf, columnTitle } = tableShape(everyGame);
  const matches = tableMatches().sort((a, b) => a.row - b.row || a.column - b.column);
  const columns = ascending(matches.map(columnOf));
  const isDense = columns.length > 8; // too many columns for numbers: a heat map that fits the window
  if (isDense && !everyGame) sortByWins(matches, columns);
  const subject = `${metricTitle(PAGE.tableMetric)} of the row learner at the last round, on ${everyGame ? "all games" : gameTitle(state.game)}`;
  byId("table-lead").textContent = `${subject}: mean ± half of the 95 % interval. ${isDense ? "Learners are sorted by wins minus losses. Hover over a cell, or tap it, to see its numbers." : "Above 0, the column learner is ahead; each cell names the winner."}`;
  const largest = largestOf(matches.map((match) => endOfMatch(match).mean));
  const found = new Map(matches.map((match) => [`${rowOf(match)} ${columnOf(match)}`, match]));
  const markOf = (learner) => (everyGame ? {} : ownClass(learner));
  const heads = [element("th", { scope: "col" }, corner),
    ...columns.map((column) => element("th", { scope: "col", ...markOf(column) }, columnTitle(column)))];
  const rows = unique(matches.map(rowOf)).map((row) => element("tr", {}, element("th", { scope: "row", ...markOf(row) }, rowTitle(row)),
    ...columns.map((column) => tableCell(found.get(`${row} ${column}`), largest))));
  const empty = element("caption", {}, "No two of these learners played each other here.");
  const table = [element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)];
  byId("matrix").replaceChildren(...(matches.length ? table : [empty]));
  byId("matrix").classList.toggle("wide", columns.length > 6);
  byId("matrix").classList.toggle("dense", isDense);
  byId("matrix").style.setProperty("--columns", columns.length);
  byId("matrix-readout").textContent = "";
  explainMarks("matrix", matches.flatMap((match) => [match.row, match.column]));
}

function connectTable() {
  for (const type of ["click", "pointerover"]) {
    on("matrix", type, ({ target }) => {
      if (byId("matrix").classList.contains("dense")) byId("matrix-readout").textContent = target.closest("td")?.title ?? "";
    });
  }
  on("every-game", "change", drawTable);
  on("every-learner", "change", drawTable);
  on("table-csv", "click", () => {
    const where = byId("every-game").checked ? "all games" : gameTitle(state.game);
    const rows = tableMatches().map((match) => csvRow(match, PAGE.tableMetric, match.curves[PAGE.tableMetric].rounds.length - 1));
    saveCsv(["head to head", where], rows);
  });
}

// ---- Replay: a match on the chosen game whose policies were kept, if possible one of the chosen opponent

let replayed; // the replay that is shown, and the function that ends it

function drawReplay() {
  if (!PAGE.replays.length) return;
  const here = PAGE.replays.filter(({ game }) => game === state.game);
  const fitsOpponent = (replay) => (state.opponent === null ? isSelfPlay(replay) : replay.column === state.opponent);
  const chosen = here.find((replay) => replay === state.replay) ?? here.find(fitsOpponent) ?? here[0];
  say("replay-note", chosen ? "" : `No policies were kept for ${gameTitle(state.game)}, only for: ${unique(PAGE.replays.map(({ game }) => gameTitle(game))).join(", ")}.`);
  byId("replay").hidden = !chosen;
  byId("replay-match").labels[0].hidden = !chosen;
  if (!chosen || chosen === replayed?.chosen) return;
  fill(byId("replay-match"), here.map((replay, index) => [index, isSelfPlay(replay) ? `${titleOf(replay.row)} in self-play` : `${titleOf(replay.row)} v ${titleOf(replay.column)}`]), here.indexOf(chosen));
  const previous = replayed;
  replayed = { chosen };
  enqueue(async () => {
    previous?.end?.();
    if (replayed.chosen === chosen) replayed.end = await drawReplayOf(chosen.data);
  });
}

const connectReplay = () => on("replay-match", "change", ({ target }) => {
  state.replay = PAGE.replays.filter(({ game }) => game === state.game)[Number(target.value)];
  drawReplay();
});

// ---- Duels: the matches of the heat maps on one game, by the setting of the common opponent

const mapPresets = PAGE.presets.filter((preset) => preset.opponent !== null);

/** Return the learners for each role in the presets on the chosen game; a switch replaces the first learner. */
const rolesOf = () => mapPresets[0].learners[state.game].map((_, role) =>
  unique(mapPresets.map((preset) => learnerOf(preset.learners[state.game][role]))).filter((learner) => learner >= 0));

function duelChoice() {
  const roles = rolesOf();
  const [opponents] = roles.splice(mapPresets[0].opponent, 1);
  const sweeps = opponents.map((learner) => PAGE.learners[learner].sweep);
  const hasPlayed = (learner) => roles.flat().some((row) => find(state.game, row, learner));
  const rates = PAGE.learners.map((_, learner) => learner).filter((learner) => sweeps.includes(PAGE.learners[learner].sweep) && hasPlayed(learner))
    .sort((a, b) => PAGE.learners[a].value - PAGE.learners[b].value);
  const rate = [state.rate, ...opponents, ...rates].find((learner) => rates.includes(learner));
  const rows = roles.filter((candidates) => candidates.length).map((candidates) => candidates.find((learner) => state.switched.has(learner)) ?? candidates[0]);
  return { roles, opponents, rates, rate, rows };
}

function makeDuels() {
  const { roles, rates, rate, rows } = duelChoice();
  const ends = roles.flat().flatMap((row) => rates.map((learner) => find(state.game, row, learner))).filter(Boolean)
    .map(endOfMatch).filter(({ mean }) => mean !== null).flatMap(({ mean, half }) => [mean - half, mean + half]);
  const found = rows.map((row) => {
    const match = find(state.game, row, rate);
    if (!match) {
      const met = rates.filter((learner) => find(state.game, row, learner)).map(titleOf);
      return { learner: titleOf(row), mean: null, text: `not run against it, only against ${met.join(", ")}` };
    }
    const last = endOfMatch(match);
    return {
      learner: titleOf(row), mean: last.mean, low: last.mean - last.half, high: last.mean + last.half, winner: last.winner === rate,
      decided: last.decided === "after", text: `${withHalf(last.mean, last.half)}: ${outcomeWords(last)}`,
    };
  });
  const setting = `against ${titleOf(rate)} on ${gameTitle(state.game)}`;
  return {
    chart: "duels",
    values: {
      side: Math.max(0, ...ends) >= -Math.min(0, ...ends) ? 1 : -1, // of zero, where there is more room for labels
      width: "container", height: 75 + 44 * found.length, rows: found, learners: rows.map(titleOf),
      xDomain: [Math.min(0, ...ends), Math.max(0, ...ends)],
      xTitle: inLines(`${metricTitle(PAGE.tableMetric)} ${setting}; above 0, ${titleOf(rate)} is ahead`, boxOf("duels").clientWidth / 10),
    },
    text: `${setting}: ${found.map(({ learner, text }) => `${learner} ${text}`).join("; ")}`,
    title: `Who wins ${setting}?`, picture: { height: 130 + 44 * found.length },
    note: `Mean at the last round with its 95 % interval. Blue: ${titleOf(rate)} wins. Orange: the learner wins. Hatched: undecided after correction. The axis is the same for all choices.`,
  };
}

/** Return a switch for each learner that replaces another; if it has the role in any case, the switch is always on. */
function switchesOf({ roles, opponents, rate }) {
  const switches = [...roles, opponents].flatMap((candidates) => candidates.filter((learner, index) => index || PAGE.learners[learner].spec in PAGE.switches)
    .map((learner) => ({ learner, first: candidates[0], label: PAGE.switches[PAGE.learners[learner].spec] ?? titleOf(learner) })));
  return switches.sort((a, b) => a.label.localeCompare(b.label)).map(({ learner, first, label }) => {
    const box = element("input", { type: "checkbox", role: "switch", "data-replaces": learner });
    box.disabled = learner === first;
    box.checked = learner === first || learner === rate || state.switched.has(learner);
    box.addEventListener("change", () => {
      if (opponents.includes(learner)) state.rate = box.checked ? learner : first;
      else state.switched[box.checked ? "add" : "delete"](learner);
      drawDuels();
      writeAddress();
    });
    return element("label", { class: "check" }, box, label);
  });
}

function drawDuels() {
  if (!byId("duels")) return;
  const choice = duelChoice();
  const { rates, rate } = choice;
  const slider = byId("rate");
  slider.max = String(rates.length - 1);
  slider.value = String(rates.indexOf(rate));
  slider.disabled = rates.length < 2;
  slider.setAttribute("aria-valuetext", titleOf(rate));
  const parameter = PAGE.sweeps[PAGE.learners[rate].sweep]?.parameter;
  const values = rates.map((learner) => PAGE.learners[learner].value ?? titleOf(learner)).join(", ");
  byId("rate-title").textContent = `${titleOf(rate)} (available: ${parameter ? `${parameter}\u00a0=\u00a0` : ""}${values})`;
  keepingFocus("replaces", () => byId("switches").replaceChildren(...switchesOf(choice)));
  planChart("duels", makeDuels);
}

function connectDuels() {
  if (!byId("duels")) return;
  on("rate", "input", ({ target }) => { state.rate = duelChoice().rates[Number(target.value)]; drawDuels(); writeAddress(); });
  connectPictures("duels", () => ["duels", gameTitle(state.game)]);
}

// ---- Downloads

const HAS_NOISES = PAGE.games.some((game) => game.noise);
const COLUMNS = ["game", ...(HAS_NOISES ? ["noise"] : []), ...PAGE.seats, "metric", "round", "mean", "low", "high", "seeds"];
const saveCsv = (titles, rows) => save(nameOf(titles, "csv"), "text/csv", csv([COLUMNS, ...rows]));

function dataRow(game, row, column, metric, round, { mean, half, seeds }) {
  const { spec, noise_spec: noise } = PAGE.games[game];
  const [first, second] = [row, column].map((place) => PAGE.learners[place].spec);
  const ends = [-1, 1].map((sign) => (mean !== null && half !== null ? Number((mean + sign * half).toPrecision(6)) : ""));
  return [spec, ...(HAS_NOISES ? [noise] : []), first, second, metric, round, mean ?? "", ...ends, seeds];
}

function csvRow({ game, row, column, curves }, metric, index) {
  const { rounds, seeds, means, halves } = curves[metric];
  return dataRow(game, row, column, metric, rounds[index], { mean: means[index], half: halves[index], seeds });
}

const frontierRow = (row, column, metric, end) =>
  dataRow(state.game, row, column, metric, end.first === end.last ? end.last : `${end.first} to ${end.last}`, end);

// ---- Claims: they open to show a chart and a list of their checks

const hasData = ({ outcome }) => outcome !== "not run";

/** Return the checks of a verdict as a list: a table would not fit on a phone. */
function checkList(all) {
  const checks = all.filter(hasData);
  const counts = unique(checks.map(({ outcome }) => outcome))
    .map((outcome) => `${checks.filter((check) => check.outcome === outcome).length} ${outcome}`);
  const [lacking, number] = [all.length - checks.length, (count) => (count === 1 ? "One check" : `${count} checks`)];
  if (!checks.length) return [element("h5", {}, `${number(lacking)} ${lacking === 1 ? "was" : "were"} not run`)];
  const rest = lacking ? `; ${lacking} ${lacking === 1 ? "was" : "were"} not run` : "";
  const title = `${number(checks.length)}: ${counts.join(", ")}${rest}`;
  const items = checks.map(({ title: about, quantity, measured, low, high, wanted, verdict, outcome, before }) => {
    const value = isKnown(measured) ? ` ${withEnds(measured, low, high)}` : "";
    const word = element("b", { class: verdict.replace(" ", "-") }, outcome);
    const mark = before ? ` (before correction only: ${before})` : "";
    const found = element("span", {}, word, wanted ? `${mark} · ${quantity}${value}, required: ${wanted}` : value && ` ·${value}`);
    return element("li", {}, element("span", { class: "subject" }, about), found);
  });
  const scroll = { class: "checks-scroll", tabindex: "0", role: "region", "aria-label": title };
  return [element("h5", {}, title), element("div", scroll, element("ol", {}, ...items))];
}

/** Return the chart of a claim's measured values and their thresholds. */
function makeChecks(verdict) {
  const boxWidth = boxOf(`checks-${verdict.place}`).clientWidth;
  const isNarrow = boxWidth < 500;
  const ends = PAGE.verdicts.filter(({ id }) => id === verdict.id).flatMap(({ checks }) => checks.filter(hasData))
    .flatMap(({ measured, low, high, threshold }) => [measured, low, high, threshold]).filter(isKnown);
  const rows = verdict.checks.filter(hasData).map((check, index) => // on a phone, labelled by their numbers in the list
    ({ ...check, subject: isNarrow ? `${index + 1}.` : `${check.title}: ${check.wanted}` }));
  const height = 110 + 19 * unique(rows.map(({ subject }) => subject)).length;
  const sizes = rows.flatMap(({ measured, threshold }) => [measured, threshold]).filter(Boolean).map(Math.abs).sort((a, b) => a - b);
  const isWide = sizes.length && sizes.at(-1) > 30 * Math.max(sizes[Math.floor(sizes.length / 2)], 1e-12);
  const metric = PAGE.metrics[verdict.metric];
  const quantities = unique(verdict.checks.map(({ quantity }) => quantity)).filter(Boolean).join(", or ");
  return {
    chart: "checks",
    values: {
      rows, width: "container", height, labelLimit: 0.45 * boxWidth, legendColumns: isNarrow ? 2 : 4, xType: isWide ? "symlog" : "linear", xZero: isWide ? undefined : false, xDomain: [Math.min(...ends), Math.max(...ends)], // one scale for all variants
      xTitle: inLines(`${quantities}${metric ? ` of ${metric.title}` : ""}, with its 95 % interval. Vertical line: threshold or published value`, boxWidth / 12),
    },
    text: `${verdict.id}: ${verdict.checks.length} checks with their thresholds; the list below has the same values.`,
    title: `${verdict.id}, ${verdict.variant}: ${verdict.verdict}`, note: verdict.text,
    picture: { height, labelLimit: 320, legendColumns: 4 },
  };
}

/** Draw the checks of a verdict; list them when its claim is first opened. Checks without data are only counted. */
function showChecks(place) {
  const verdict = { ...PAGE.verdicts[place.dataset.verdict], place: place.dataset.verdict };
  if (verdict.aim || !verdict.checks.some(hasData)) { // the picture of a test shows the checks of its aims
    place.replaceChildren(...checkList(verdict.checks));
    return;
  }
  const id = `checks-${verdict.place}`;
  if (!place.childElementCount) {
    const chart = { class: "chart", id: `${id}-chart`, role: "img", tabindex: "0", "aria-label": verdict.id };
    const buttons = ["svg", "png"].map((kind) =>
      element("button", { type: "button", class: "quiet", id: `${id}-${kind}` }, kind.toUpperCase()));
    place.append(element("div", chart), element("p", { class: "tools" }, ...buttons), ...checkList(verdict.checks));
    connectPictures(id, () => [verdict.id, verdict.variant]);
  }
  planChart(id, () => makeChecks(verdict));
}

function setOpen(button, open) {
  const detail = byId(button.getAttribute("aria-controls"));
  button.setAttribute("aria-expanded", String(open));
  detail.hidden = !open;
  if (open) detail.querySelectorAll(".checks").forEach(showChecks);
}

function connectClaims() {
  const buttons = [...document.querySelectorAll(".claim-button")];
  const isOpen = (button) => button.getAttribute("aria-expanded") === "true";
  const label = () => { byId("open-claims").textContent = buttons.every(isOpen) ? "Close all" : "Open all"; };
  const toggle = (button) => { setOpen(button, !isOpen(button)); label(); writeAddress(); };
  for (const button of buttons) {
    button.closest("tr").addEventListener("click", ({ target }) => {
      if (target.closest("button") === button || target.closest("td")) toggle(button);
    });
  }
  on("open-claims", "click", () => {
    const open = !buttons.every(isOpen);
    buttons.forEach((button) => setOpen(button, open));
    label();
    writeAddress();
  });
  on("save-verdicts", "click", () => {
    save(nameOf(["verdicts"], "json"), "application/json", JSON.stringify(PAGE.verdicts, null, 1) + "\n");
  });
}
