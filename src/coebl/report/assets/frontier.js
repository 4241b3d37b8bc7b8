// The frontier: settings of a learner, each by itself and against one opponent.

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

/** The ends of an axis that has room for all bars and labels, and where on it a number stands, from 0 to 1. */
function axisOf(ends, log) {
  const at = (value) => (log ? Math.log10(value) : value);
  const back = (value) => (log ? 10 ** value : value);
  const there = ends.filter(({ mean }) => !log || mean > 0);
  const reach = there.flatMap(({ mean, half }) => [mean - (half ?? 0), mean, mean + (half ?? 0)]).filter((one) => !log || one > 0);
  if (!reach.length) return { domain: log ? [1, 10] : [0, 1], share: () => 0 };
  const [low, high] = [Math.min(...reach), Math.max(...reach)].map(at);
  const room = 0.08 * (high - low || 1);
  return {
    domain: [back(low - room), back(high + room)],
    share: (value) => (at(Math.max(value, back(low - room))) - low + room) / (high - low + 2 * room),
  };
}

/** Where labels stand, for points with bars, all in pixels: each where it covers the fewest points, bars and labels. */
function labelPlaces(points, width, height) {
  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const taken = points.flatMap(({ x, y, left, right, low, high }) => [
    { left: x - 6, right: x + 6, top: y - 6, bottom: y + 6, weight: 2 },
    { left, right, top: y - 1, bottom: y + 1, weight: 0.6 }, { left: x - 1, right: x + 1, top: high, bottom: low, weight: 0.6 },
  ]);
  return points.map(({ x, y, text }) => {
    const wide = 7 * text.length;
    const places = [12, 26, 44].flatMap((far) => [[1, -1], [1, 1], [-1, -1], [-1, 1], [1, 0], [-1, 0]].map(([side, up]) => {
      const [dx, dy] = [side * (up ? 0.6 * far : far), up * far];
      const left = side > 0 ? x + dx : x + dx - wide;
      const box = { left, right: left + wide, top: y + dy - 8, bottom: y + dy + 8, weight: 3 };
      const outside = box.left < 0 || box.right > width || box.top < 0 || box.bottom > height;
      const cost = taken.filter((other) => overlap(box, other)).reduce((sum, { weight }) => sum + weight, 0);
      return { align: side > 0 ? "left" : "right", dx, dy, box, cost: cost + 10 * outside + far / 25 };
    }));
    const best = places.reduce((a, b) => (b.cost < a.cost ? b : a));
    taken.push(best.box);
    return best;
  });
}

function frontierRows(points, across, up, width, height) {
  const at = points.map(({ learner, self, best }) => ({
    x: width * across.share(self.mean), y: height * (1 - up.share(best.mean)), text: settingOf(learner, points),
    left: width * across.share(self.mean - self.half), right: width * across.share(self.mean + self.half),
    high: height * (1 - up.share(best.mean + best.half)), low: height * (1 - up.share(best.mean - best.half)),
  }));
  const places = labelPlaces(at, width, height);
  return points.map(({ place, learner, self, best }, nth) => {
    const { align, dx, dy } = places[nth];
    const [left, low] = [Math.max(across.domain[0], self.mean - self.half), Math.max(up.domain[0], best.mean - best.half)];
    return {
      across: self.mean, up: best.mean, left, right: self.mean + self.half, low, high: best.mean + best.half, align, dx, dy,
      learner: titleOf(place), sweep: learner.sweep, value: learner.value, label: at[nth].text,
    };
  });
}

/** When a number of the frontier is from: a round, or several over which it is a mean. */
function roundsOf(ends) {
  const last = range(ends.map((end) => end.last));
  if (ends.every((end) => end.first === end.last)) return `at round ${last}`;
  return `mean of the recorded rounds from ${range(ends.map((end) => end.first))} to ${last}`;
}

const isOff = ({ self, best }) => (state.log.across && self.mean <= 0) || (state.log.frontier && best.mean <= 0);

function frontierCaption(points) {
  const [selves, bests] = [points.map((point) => point.self), points.map((point) => point.best)];
  const seeds = range([...selves, ...bests].map((end) => end.seeds));
  const lost = points.filter(isOff);
  return [
    `${gameTitle(state.game)}. Across: ${roundsOf(selves)}. Up: ${roundsOf(bests)}.`,
    `Bars: 95 % interval of the mean over ${seeds} seeds. The line joins neighbouring ${parametersOf(points)}.`,
    lost.length ? `Not on a log axis: ${lost.map(({ learner }) => settingOf(learner, points)).join(", ")}.` : "",
  ].filter(Boolean).join(" ");
}

const FRONTIER_HEIGHT = 460;

function makeFrontier({ width = chartOf("frontier").clientWidth, height = FRONTIER_HEIGHT } = {}) {
  const { metric, regret, points } = frontier();
  const drawn = points.filter((point) => !isOff(point));
  const across = axisOf(drawn.map((point) => point.self), state.log.across);
  const up = axisOf(drawn.map((point) => point.best), state.log.frontier);
  const rows = frontierRows(drawn, across, up, width - 75, height - 65);
  const when = PAGE.metrics[metric].cumulative ? [] : [`mean over the last ${PAGE.last} rounds`];
  const zoom = state.zoom.frontier;
  const opponent = titleOf(frontierOpponent());
  const text = ({ learner, self, best }) => `${settingOf(learner, points)}: ${metricTitle(metric)} in self-play ${withInterval(self.mean, self.half)}; ${metricTitle(regret)} against a ${opponent} ${withInterval(best.mean, best.half)}`;
  return {
    chart: "frontier",
    values: {
      width: "container", height: FRONTIER_HEIGHT, title: null, brush: brushOf(), rows,
      names: drawn.map(({ place }) => titleOf(place)), colours: drawn.map(({ place }) => colourOf(place)),
      xType: state.log.across ? "log" : "linear", xDomain: zoom?.x ?? across.domain, xTitle: [`${metricTitle(metric)} in self-play`, ...when],
      yType: state.log.frontier ? "log" : "linear", yDomain: zoom?.y ?? up.domain, yTitle: `${metricTitle(regret)} against a ${opponent}`,
    },
    reader: {
      places: drawn.length,
      nearest: (view, x, y) => {
        const far = drawn.map(({ self, best }) => Math.hypot(view.scale("x")(self.mean) - x, view.scale("y")(best.mean) - y));
        return far.indexOf(Math.min(...far));
      },
      text: (at) => text(drawn[at]),
    },
    text: `${drawn.length} values of ${parametersOf(points)} on ${gameTitle(state.game)}: ${drawn.map(text).join(". ")}`,
    title: `Frontier over ${parametersOf(points)}`, note: frontierCaption(points),
  };
}

function drawFrontier() {
  if (!byId("frontier")) return;
  const found = frontier();
  const caption = byId("frontier-caption");
  chartOf("frontier").hidden = !found;
  byId("frontier-controls").hidden = !found;
  byId("frontier-readout").hidden = !found;
  caption.textContent = `No frontier was run on ${gameTitle(state.game)}. Choose another game among the figures.`;
  if (!found) return;
  fill(byId("frontier-metric"), found.metrics.map((place) => [place, metricTitle(place)]), found.metric);
  byId("across-log").checked = state.log.across;
  byId("frontier-log").checked = state.log.frontier;
  byId("frontier-reset").disabled = !state.zoom.frontier;
  byId("frontier-readout").textContent = HINT;
  caption.textContent = frontierCaption(found.points);
  planChart("frontier", makeFrontier);
}

function connectFrontier() {
  if (!byId("frontier")) return;
  on("across-log", "change", (event) => { state.log.across = event.target.checked; delete state.zoom.frontier; drawAll(); });
  connectZoom("frontier", drawFrontier, ["across", "up"]);
  connectChart("frontier", () => [`frontier over ${parametersOf(frontier().points)}`, gameTitle(state.game)], () => {
    const { metric, regret, points } = frontier();
    return points.flatMap(({ place, self, best }) =>
      [frontierRow(place, place, metric, self), frontierRow(place, frontierOpponent(), regret, best)]);
  });
}
