// A part of the page's program, which `coebl.report.page` puts together in one scope: state, figures, sections, page.
// The data of the page, what the reader has chosen, and what all charts have in common. What comes from files is data: it
// becomes text nodes, attributes, or labels passed through `plain`, never markup.

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
