// The frontier: settings of a learner, each by itself and against one opponent.

const FRONTIER_HEIGHT = 460;
const END = ["mean", "half", "seeds", "first", "last"];
const endOf = (numbers) => Object.fromEntries(numbers.map((number, at) => [END[at], number]));

const sweepOf = (learner) => PAGE.sweeps[learner.sweep];
const parametersOf = (points) => unique(points.map(({ learner }) => sweepOf(learner).parameter)).join(" and ");
const frontierOpponent = () => learnerOf(PAGE.frontierOpponent);

/** What a point is called: its number, and its learner too where there are several. */
function settingOf(learner, points) {
  const number = `${sweepOf(learner).parameter} = ${learner.value}`;
  const several = points.some((point) => point.learner.sweep !== learner.sweep);
  return several ? `${sweepOf(learner).title}, ${number}` : number;
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

/** The ends of a bar; on a log axis it does not reach below a tenth of the mean. */
const barOf = ({ mean, half }, log) => [Math.max(mean - half, log ? mean / 10 : -Infinity), mean + half];

function makeFrontier() {
  const { metric, regret, points } = frontier();
  const drawn = points.filter((point) => !isOff(point));
  const [opponent, zoom] = [titleOf(frontierOpponent()), state.zoom.frontier];
  const when = PAGE.metrics[metric].cumulative ? [] : [`mean over the last ${PAGE.last} rounds`];
  const text = ({ learner, self, best }) => `${settingOf(learner, points)}: ${metricTitle(metric)} in self-play ${withInterval(self.mean, self.half)}; ${metricTitle(regret)} against a ${opponent} ${withInterval(best.mean, best.half)}`;
  const rows = drawn.map(({ place, learner, self, best }) => {
    const [[left, right], [low, high]] = [barOf(self, state.log.across), barOf(best, state.log.frontier)];
    const { sweep, value } = learner;
    return { across: self.mean, up: best.mean, left, right, low, high, learner: titleOf(place), sweep, value, label: settingOf(learner, points) };
  });
  return {
    chart: "frontier",
    values: {
      width: "container", height: FRONTIER_HEIGHT, brush: brushOf(), rows, padding: zoom ? undefined : 30,
      names: drawn.map(({ place }) => titleOf(place)), colours: drawn.map(({ place }) => colourOf(place)),
      ...axisOf("x", state.log.across, zoom?.x), xTitle: [`${metricTitle(metric)} in self-play`, ...when],
      ...axisOf("y", state.log.frontier, zoom?.y), yTitle: `${metricTitle(regret)} against a ${opponent}`,
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
  for (const part of ["chart", "controls", "readout"]) byId(`frontier-${part}`).hidden = !found;
  if (!found) {
    say("frontier-caption", `No frontier was run on ${gameTitle(state.game)}. Choose another game among the figures.`);
    return;
  }
  fill(byId("frontier-metric"), found.metrics.map((place) => [place, metricTitle(place)]), found.metric);
  showAxes("frontier", "across");
  planChart("frontier", makeFrontier);
}

function connectFrontier() {
  if (!byId("frontier")) return;
  connectChart("frontier", ["across", "up"], () => [`frontier over ${parametersOf(frontier().points)}`, gameTitle(state.game)], () => {
    const { metric, regret, points } = frontier();
    return points.flatMap(({ place, self, best }) =>
      [frontierRow(place, place, metric, self), frontierRow(place, frontierOpponent(), regret, best)]);
  });
  connectLog("across", "frontier");
}
