// The data of the page, the reader's choices, and how the URL stores them. The content of files is data: it becomes
// text nodes, attributes, or strings of a chart, never markup.

const PAGE = JSON.parse(byId("data").textContent);

// The symbols on lines, as outlines around the origin with a radius of about 1.
const SHAPES = {
  "circle": "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
  "square": "M-.9,-.9H.9V.9H-.9Z",
  "diamond": "M0,-1.25L1.25,0L0,1.25L-1.25,0Z",
  "triangle-up": "M0,-1.15L1.15,.9H-1.15Z",
  "x": "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z",
  "star": "M0,-1.3L.3,-.4L1.25,-.4L.5,.2L.75,1.1L0,.55L-.75,1.1L-.5,.2L-1.25,-.4L-.3,-.4Z",
  "cross": "M-.35,-1.1H.35V-.35H1.1V.35H.35V1.1H-.35V.35H-1.1V-.35H-.35Z",
  "triangle-down": "M0,1.15L1.15,-.9H-1.15Z",
  "hexagon": "M1.15,0L.57,1H-.57L-1.15,0L-.57,-1H.57Z",
};
for (const learner of PAGE.learners) learner.shape = SHAPES[learner.shape] ?? "";
const REFERENCE = "reference"; // the name of the reference line in the list of lines
const FEW = 8; // lines that are shown at first if there are no presets
const FIGURES = ["growth", "distance"];
const WITH_METRICS = [...FIGURES, "frontier"];

// ---- The data

const blocks = [];

/** Return the matches of a game. Blocks are parsed when they are first needed, so that the page opens quickly. */
function matchesOf(game) {
  if (!blocks[game]) {
    blocks[game] = JSON.parse(byId(`game-${game}`).textContent);
    for (const curve of blocks[game].flatMap(({ curves }) => Object.values(curves))) curve.rounds = PAGE.rounds[curve.grid];
  }
  return blocks[game];
}

const isSelfPlay = (match) => match.row === match.column;
const find = (game, row, column) => matchesOf(game).find((match) => match.row === row && match.column === column);
const learnerOf = (spec) => PAGE.learners.findIndex((learner) => learner.spec === spec);
const titleOf = (learner) => PAGE.learners[learner].title;
const markedTitle = (learner) => titleOf(learner) + (PAGE.learners[learner].sees ? "\u00a0†" : ""); // if it sees more than a bandit
const metricTitle = (metric) => PAGE.metrics[metric].title;
const isOwn = (learner) => PAGE.own.includes(learner); // the reader's own learner, which is listed first
const ownClass = (learner) => (isOwn(learner) ? { class: "own" } : {});
const colourOf = (learner) => `var(--learner-${learner})`;

const gameTitle = (game) => PAGE.games[game].title;

function lastOf(match, metric) {
  const { rounds, seeds, means, halves } = match.curves[metric];
  return { mean: means.at(-1), half: halves.at(-1), round: rounds.at(-1), seeds };
}

const opponentsOf = (game) =>
  ascending(matchesOf(game).filter((match) => !isSelfPlay(match)).map((match) => match.column));
const hasSelfPlay = (game) => matchesOf(game).some(isSelfPlay);
const presetLearners = (preset, game) => PAGE.presets[preset].learners[game].map(learnerOf);

// ---- Choices

/** The learner of the headline, if others met it on the first game; in self-play, the sign of a metric has no meaning. */
const leader = (PAGE.games.length ? opponentsOf(PAGE.firstGame) : []).find((learner) => learner === learnerOf(PAGE.firstOpponent)) ?? null;

const state = {
  game: PAGE.firstGame,
  opponent: leader, // the column learner; null is self-play
  preset: PAGE.presets.length ? 0 : null,
  added: new Set(), // learners whose lines the reader has turned on
  removed: new Set(), // learners whose lines the reader has turned off
  listAll: false,
  reference: true,
  metric: { growth: [], distance: [], frontier: [] }, // the last choices for self-play and for head-to-heads
  log: { growth: false, distance: false },
  zoom: {}, // the limits of both axes, by figure
  why: "", // why a choice of the reader was changed
  rate: null, // the opponent chosen with the slider
  replay: null, // the match that is replayed, if the reader has chosen it
  switched: new Set(), // learners that replace another one
};

/** Return the opponent on a game: the chosen one, or the learner that has its role in the preset on that game. */
function opponentOn(game) {
  const role = state.preset === null || state.opponent === null ? -1 : presetLearners(state.preset, state.game).indexOf(state.opponent);
  return role < 0 ? state.opponent : presetLearners(state.preset, game)[role];
}

function viewMatches(game = state.game) {
  const opponent = opponentOn(game);
  const fits = opponent === null ? isSelfPlay : (match) => match.column === opponent && !isSelfPlay(match);
  return matchesOf(game).filter(fits).sort((a, b) => isOwn(b.row) - isOwn(a.row) || a.row - b.row);
}

/** Return the learners that are shown by default: those of the preset, or the first few. */
const givenLearners = (game = state.game) => (state.preset === null
  ? viewMatches(game).slice(0, FEW).map((match) => match.row)
  : presetLearners(state.preset, game));

const shownLearners = (game = state.game) => new Set([...givenLearners(game), ...state.added].filter((learner) => !state.removed.has(learner)));

function shownMatches(metric) {
  const shown = shownLearners();
  return viewMatches().filter((match) => metric in match.curves && shown.has(match.row));
}

const viewTitle = () =>
  `${gameTitle(state.game)}, ${state.opponent === null ? "self-play" : `against ${titleOf(state.opponent)}`}`;
const mode = (figure) => (state.opponent === null || figure === "frontier" ? 0 : 1);

/** Return the metrics of a figure that at least one shown match has. */
function metricsOf(figure) {
  const matches = viewMatches();
  return Object.keys(PAGE.metrics).filter((metric) =>
    PAGE.metrics[metric].cumulative === (figure === "growth") && matches.some(({ curves }) => metric in curves));
}

/**
 * Return the metric last chosen, if it is available; else the first suitable one: in a head-to-head, one whose sign
 * shows who is ahead; in self-play, one without a sign; else any, or null. The metrics of a sweep are sorted by
 * suitability.
 */
function chosenAmong(available, figure) {
  const last = available.find((metric) => metric === state.metric[figure][mode(figure)]);
  const isSuitable = (metric) => figure === "frontier" || PAGE.metrics[metric].signed === (mode(figure) === 1);
  return last ?? available.find(isSuitable) ?? available[0] ?? null;
}

const metricOf = (figure) => chosenAmong(metricsOf(figure), figure);

/**
 * Change the game, the opponent or the preset. An opponent that has a role in the preset is replaced by the learner that
 * now has this role; any other opponent stays if it has matches, and otherwise the page shows why it was changed.
 */
function change(changes) {
  const role = state.preset === null ? -1 : presetLearners(state.preset, state.game).indexOf(state.opponent);
  if ("preset" in changes) { state.added.clear(); state.removed.clear(); }
  Object.assign(state, changes, { zoom: {}, why: "" });
  if (!("opponent" in changes) && state.opponent !== null && role >= 0) {
    const successor = presetLearners(state.preset, state.game)[role];
    if (opponentsOf(state.game).includes(successor)) state.opponent = successor;
  }
  const opponents = opponentsOf(state.game);
  if (state.opponent !== null && !opponents.includes(state.opponent)) {
    state.why = `No learner played against ${titleOf(state.opponent)} on ${gameTitle(state.game)}.`;
    state.opponent = null;
  }
  if (state.opponent === null && !hasSelfPlay(state.game)) state.opponent = opponents[0] ?? null;
}

// ---- The URL

const openClaims = () => [...document.querySelectorAll(".claim-button[aria-expanded='true']")];
const claimButton = (id) => [...document.querySelectorAll(".claim-button")].find((button) => button.dataset.claim === id);
const specsOf = (learners) => [...learners].map((learner) => PAGE.learners[learner]?.spec);

/** Store the choices in the URL, so that a reload or a shared link shows the same view. */
function writeAddress() {
  const words = {
    game: [PAGE.games[state.game]?.name],
    opponent: specsOf([state.opponent]),
    preset: [PAGE.presets[state.preset]?.id],
    with: specsOf(state.added),
    without: specsOf(state.removed),
    ...Object.fromEntries(WITH_METRICS.map((figure) => [figure, [state.metric[figure][mode(figure)]]])),
    log: [Object.keys(state.log).filter((figure) => state.log[figure]).join(" ") || "none"],
    reference: state.reference ? [] : ["off"],
    rate: specsOf([state.rate]),
    as: specsOf(state.switched),
    claim: openClaims().map((button) => button.dataset.claim),
  };
  const pairs = Object.entries(words).flatMap(([key, values]) => values.filter(Boolean).map((value) => [key, value]));
  history.replaceState(null, "", `#${new URLSearchParams(pairs)}`);
}

/** Return the fragment of the URL as a string; "" if it is malformed. */
function hashText() {
  try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
}

/** Read the choices from the URL, and return the claims to open. Links to sections are left to the browser. */
function readAddress() {
  if (claimButton(hashText())) return [hashText()];
  if (!location.hash.includes("=")) return [];
  const words = new URLSearchParams(location.hash.slice(1));
  const learners = (key) => words.getAll(key).map(learnerOf).filter((learner) => learner >= 0);
  const game = PAGE.games.findIndex((candidate) => candidate.name === words.get("game"));
  const preset = PAGE.presets.findIndex((candidate) => candidate.id === words.get("preset"));
  const [opponent] = learners("opponent");
  if (PAGE.games.length) {
    change({ ...(game >= 0 ? { game } : {}), ...(preset >= 0 ? { preset } : {}), opponent: opponent ?? null });
  }
  state.added = new Set(learners("with"));
  state.removed = new Set(learners("without"));
  for (const figure of WITH_METRICS) {
    if (words.has(figure)) state.metric[figure][mode(figure)] = words.get(figure);
  }
  const logs = words.get("log")?.split(" ");
  for (const axis of Object.keys(state.log)) state.log[axis] = logs?.includes(axis) ?? state.log[axis];
  state.reference = words.get("reference") !== "off";
  state.rate = learners("rate")[0] ?? null;
  state.switched = new Set(learners("as"));
  return words.getAll("claim");
}
