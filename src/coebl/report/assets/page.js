"use strict";
// The page's program. What comes from files is data: it becomes text nodes, attributes, or labels passed through
// `plain`, never markup.
(() => {
  const { byId, on, element, fill, plain, show, withHalf, withInterval, unique, ascending, range } = TOOLS;
  const { ink, isDark, colourOf, referenceColour, axis } = TOOLS;
  const PAGE = JSON.parse(document.getElementById("data").textContent);
  const REFERENCE = "reference"; // the name of the reference line among the lines
  const FEW = 8; // lines that are shown at first where no preset says which
  const MARKS = 9; // symbols along a line
  const FIGURES = ["growth", "distance"];
  const PAPER = { width: 640, height: { growth: 300, distance: 300, frontier: 400 } }; // as in the style sheet
  const CONFIG = {
    displayModeBar: false,
    displaylogo: false,
    showTips: false,
    responsive: true,
    doubleClick: "reset",
    topojsonURL: "",
    plotlyServerURL: "",
  };
  const chartOf = (figure) => byId(`${figure}-chart`);

  // ---- The data

  const blocks = [];

  /** The matches of a game. Blocks are parsed when they are first asked for, so that opening the page stays quick. */
  function matchesOf(game) {
    blocks[game] ??= JSON.parse(byId(`game-${game}`).textContent)
      .map(([row, column, metrics]) => ({ game, row, column, metrics: curvesOf(metrics) }));
    return blocks[game];
  }

  /** By metric, which may differ in their rounds and seeds. */
  function curvesOf(metrics) {
    const named = ([place, seeds, means, halves]) => ({ place, rounds: PAGE.rounds[place], seeds, means, halves });
    return Object.fromEntries(Object.entries(metrics).map(([metric, numbers]) => [metric, named(numbers)]));
  }

  const isSelfPlay = (match) => match.row === match.column;
  const find = (game, row, column) => matchesOf(game).find((match) => match.row === row && match.column === column);
  const learnerOf = (spec) => PAGE.learners.findIndex((learner) => learner.spec === spec);
  const titleOf = (learner) => PAGE.learners[learner].title;
  /** A title in a table, marked if the learner sees more than a bandit does. */
  const markedTitle = (learner) => titleOf(learner) + (PAGE.learners[learner].sees ? " †" : "");
  const metricTitle = (metric) => PAGE.metrics[metric].title;

  function gameTitle(game) {
    const { familyTitle, sizeTitle, noiseTitle } = PAGE.games[game];
    return [familyTitle, sizeTitle, noiseTitle].filter(Boolean).join(", ");
  }

  function lastOf(match, metric) {
    const { rounds, seeds, means, halves } = match.metrics[metric];
    return { mean: means.at(-1), half: halves.at(-1), round: rounds.at(-1), seeds };
  }

  const opponentsOf = (game) =>
    ascending(matchesOf(game).filter((match) => !isSelfPlay(match)).map((match) => match.column));
  const hasSelfPlay = (game) => matchesOf(game).some(isSelfPlay);
  const presetLearners = (preset, game) =>
    PAGE.presets[preset].learners[game].map(learnerOf).filter((learner) => learner >= 0);

  // ---- What is chosen

  const state = {
    game: 0,
    opponent: null, // the column learner; null is self-play
    preset: PAGE.presets.length ? 0 : null,
    shown: new Set(), // learners whose lines are on
    listed: new Set(), // learners that the list of lines has, before it is asked for all
    listAll: false,
    reference: true,
    metric: { growth: [], distance: [], frontier: [] }, // those last chosen for self-play and for head to head
    log: { growth: false, distance: false, frontier: true, across: false },
    printing: false,
  };

  function viewMatches() {
    const fits = state.opponent === null ? isSelfPlay : (match) => match.column === state.opponent && !isSelfPlay(match);
    return matchesOf(state.game).filter(fits).sort((a, b) => a.row - b.row);
  }

  const shownMatches = (metric) =>
    viewMatches().filter((match) => metric in match.metrics && state.shown.has(match.row));
  const viewTitle = () =>
    `${gameTitle(state.game)}, ${state.opponent === null ? "self-play" : `against ${titleOf(state.opponent)}`}`;
  const mode = (figure) => (state.opponent === null || figure === "frontier" ? 0 : 1);

  /** The metrics of a figure that the matches have. */
  function metricsOf(figure) {
    const matches = viewMatches();
    const fits = (metric, place) =>
      metric.distance === (figure === "distance") && matches.some((match) => place in match.metrics);
    return PAGE.metrics.flatMap((metric, place) => (fits(metric, place) ? [place] : []));
  }

  /**
   * The metric last chosen, if it is there; else the first that tells most: head to head one whose sign says who is
   * ahead, in self-play one without a sign; else any, else null. A frontier's metrics come by how well they suit.
   */
  function chosenAmong(there, figure) {
    const last = there.find((place) => PAGE.metrics[place].name === state.metric[figure][mode(figure)]);
    const tells = (place) => figure === "frontier" || PAGE.metrics[place].signed === (mode(figure) === 1);
    return last ?? there.find(tells) ?? there[0] ?? null;
  }

  const metricOf = (figure) => chosenAmong(metricsOf(figure), figure);

  /** Turn on the lines of the preset; without one keep what is on, or the first few if that is nothing. */
  function chooseLines() {
    const here = viewMatches().map((match) => match.row);
    if (state.preset !== null) state.shown = new Set(presetLearners(state.preset, state.game));
    else if (!here.some((row) => state.shown.has(row))) here.slice(0, FEW).forEach((row) => state.shown.add(row));
    state.listed = new Set(state.shown);
  }

  /** Whether a learner belongs to presets, but not to the chosen one. */
  function isForeign(learner) {
    if (state.preset === null || presetLearners(state.preset, state.game).includes(learner)) return false;
    return PAGE.presets.some((preset) => preset.learners.flat().map(learnerOf).includes(learner));
  }

  /** Keep the opponent if the game has it and no other preset claims it; else take the like of it in this one. */
  function chooseOpponent() {
    const there = opponentsOf(state.game);
    const selfPlay = hasSelfPlay(state.game);
    if (state.opponent === null && selfPlay) return;
    const isThere = there.includes(state.opponent);
    if (isThere && !isForeign(state.opponent)) return;
    const own = state.preset === null ? [] : presetLearners(state.preset, state.game);
    const like = own.find((learner) => there.includes(learner));
    state.opponent = like ?? (isThere ? state.opponent : selfPlay ? null : there[0] ?? null);
  }

  // ---- Looks

  function layoutOf(figure, xaxis, yaxis, revision) {
    const paper = { autosize: false, width: PAPER.width, height: PAPER.height[figure] };
    return {
      xaxis, yaxis, showlegend: false, hovermode: "x unified",
      uirevision: [...revision, state.printing].join(), // as long as it stays, so does the zoom
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom", // a finger scrolls the page
      margin: { l: 48, r: 22, t: 12, b: 44 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: ink("soft") },
      hoverlabel: {
        bgcolor: ink("paper"), bordercolor: ink("line"), namelength: -1, font: { color: ink("ink"), size: 12.5 },
      },
      ...(state.printing ? paper : { autosize: true }),
    };
  }

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

  /** Of the curves of a metric that could be shown, the one with the latest round. */
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
})();
