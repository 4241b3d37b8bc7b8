// The replay: one Vega-Lite chart per player and one of the exploitability, all with the current frame as signal `now`.

/**
 * Draw a replay into the elements of replay_body.html, and return a function that ends it. The replay starts once it is
 * visible, unless the reader prefers reduced motion.
 */
async function drawReplayOf(DATA) {
  const LAST = DATA.rounds.length - 1;
  const SECONDS = 14; // the length of a replay
  const JUMPS = 12; // steps of a replay with reduced motion, one second each
  const [SO_FAR, NOW] = ["datum.frame <= now", "datum.frame === now"];
  const RECENT = `datum.frame <= now && datum.frame >= now - ${Math.ceil(LAST / 10)}`;
  const chartSpec = (spec) => ({ config: CONFIG, params: [{ name: "now", value: LAST }], ...spec });

  /** Return the layers of a path in the plane: the policy, its average and the equilibrium. */
  function marks({ x, y, seat }, xScale, yScale) {
    const colour = `var(--seat-${seat})`;
    const rows = DATA.rounds.map((_, frame) =>
      ({ frame, x: x[0][frame] / 1000, y: y[0][frame] / 1000, mx: x[1][frame] / 1000, my: y[1][frame] / 1000 }));
    const position = (fx, fy) => ({ x: quantity(fx, xScale), y: quantity(fy, yScale) });
    const path = { ...position("x", "y"), order: quantity("frame") };
    const data = { values: rows };
    const line = { color: colour, strokeWidth: 1.3, strokeJoin: "round" };
    const point = { filled: true, size: 110, opacity: 1 };
    const star = { data: { values: [{ x: x[2] / 1000, y: y[2] / 1000 }] }, name: "star" };
    return [
      { data, ...when(SO_FAR), ...layer("line", path, { ...line, opacity: 0.4 }) },
      { data, ...when(RECENT), ...layer("line", path, { ...line, opacity: 0.9 }) },
      { ...star, ...layer("point", position("x", "y"), { ...point, shape: "cross", fill: "var(--ink)", size: 130 }) },
      { data, name: "average", ...when(NOW), ...layer("point", position("mx", "my"), { ...point, fill: "var(--paper)", stroke: colour, strokeWidth: 2.2 }) },
      { data, name: "policy", ...when(NOW), ...layer("point", position("x", "y"), { ...point, fill: colour }) },
    ];
  }

  const bare = (domain) => ({ axis: null, scale: { domain, nice: false } });

  function triangle(chart) {
    const height = Math.sqrt(3) / 2;
    const corners = [[0, 0], [1, 0], [0.5, height]];
    const [xScale, yScale] = [bare([-0.12, 1.12]), bare([-0.12, height + 0.1])];
    const outline = [0, 1, 2, 0].map((corner, order) => ({ x: corners[corner][0], y: corners[corner][1], order }));
    const position = { x: quantity("x", xScale), y: quantity("y", yScale) };
    const label = (corner, options) => ({
      data: { values: [{ x: corners[corner][0], y: corners[corner][1], text: chart.names[corner] }] },
      ...layer("text", { ...position, text: category("text"), color: SOFT }, { fontSize: 12, limit: 130, ...options }),
    });
    return chartSpec({
      width: 300, height: 263, // the same scale on both axes
      layer: [
        { data: { values: outline }, ...layer("line", { ...position, order: quantity("order") }, { color: "var(--edge)", strokeWidth: 1.2 }) },
        label(0, { align: "left", dx: -20, dy: 14 }), label(1, { align: "right", dx: 20, dy: 14 }), label(2, { dy: -10 }),
        ...marks(chart, xScale, yScale),
      ],
    });
  }

  function square(chart) {
    const axis = (title) => ({ title, scale: { domain: [0, 1], nice: false }, axis: { values: [0, 0.5, 1], grid: false } });
    const [xScale, yScale] = chart.names.map(axis);
    const [x, y, angle, size] = chart.field;
    const arrows = x.map((place, index) => ({ x: place / 1000, y: y[index] / 1000, angle: angle[index], size: 30 + 2 * size[index] }));
    return chartSpec({
      width: 300, height: 300,
      layer: [
        {
          data: { values: arrows },
          ...layer("point", {
            x: quantity("x", xScale), y: quantity("y", yScale),
            angle: quantity("angle", { scale: null }), size: quantity("size", { scale: null }),
          }, { shape: "arrow", filled: true, fill: "var(--edge)", opacity: 0.55 }),
        },
        ...marks(chart, xScale, yScale),
      ],
    });
  }

  const LOG = (title) => quantity("round", { title, scale: { type: "log", domain: [1, Math.max(2, DATA.rounds[LAST])], nice: false }, axis: { format: ",~r", tickCount: 5, grid: false } });
  const frames = { values: DATA.rounds.map((round, frame) => ({ frame, round })) };
  const cursor = (title) => ({ data: frames, ...when(NOW), ...layer("rule", { x: LOG(title), color: INK }, { strokeWidth: 1.2 }) });
  const coloured = (chart, legend) =>
    category("name", { scale: { domain: chart.names, range: chart.colours }, legend });
  const share = quantity("share", { stack: "zero", title: null, scale: { domain: [0, 1], nice: false }, axis: { values: [0, 0.5, 1], grid: false } });

  function areas(chart) {
    const rows = DATA.rounds.flatMap((round, frame) =>
      chart.names.map((name, order) => ({ round, name, order, share: chart.policy[frame][order] / 1000 })));
    return chartSpec({
      width: "container", height: 200,
      layer: [
        {
          data: { values: rows },
          ...layer("area", { x: LOG("round"), y: share, color: coloured(chart, null), order: quantity("order") }, { clip: true }),
        },
        cursor("round"),
      ],
    });
  }

  /** Return a chart with three columns: the policy and the average at the current frame, and the equilibrium. */
  function columns(chart) {
    const column = (kind, shares, frame) => chart.names.map((name, order) => ({ kind, frame, name, order, share: shares[order] / 1000 }));
    const rows = [
      ...DATA.rounds.flatMap((_, frame) =>
        [...column("policy", chart.policy[frame], frame), ...column("average", chart.average[frame], frame)]),
      ...column(DATA.star, chart.at, null),
    ];
    return chartSpec({
      data: { values: rows }, transform: [{ filter: `datum.frame === null || ${NOW}` }],
      width: 62, height: 200, mark: { type: "bar", clip: true },
      encoding: {
        x: category("kind", { sort: null, title: null, axis: { labelAngle: -90 }, scale: { domain: ["policy", "average", DATA.star] } }),
        y: { ...share, axis: null },
        color: coloured(chart, { title: null, orient: "right", symbolLimit: 16, rowPadding: 0, labelFontSize: 11, labelLimit: 130, symbolSize: 60 }),
        order: quantity("order"),
      },
    });
  }

  function exploitabilityChart() {
    const rows = DATA.rounds.map((round, frame) =>
      ({ frame, round, now: DATA.exploitability[0][frame], mean: DATA.exploitability[1][frame] }));
    const y = (field) => quantity(field, { title: "exploitability", scale: { zero: true }, axis: { tickCount: 4 } });
    const encoding = (field) => ({ x: LOG("round"), y: y(field) });
    const line = (field, options) => layer("line", { ...encoding(field), color: INK }, { strokeWidth: 1.5, ...options });
    const point = (field, fill) => ({
      ...when(NOW), ...layer("point", encoding(field), { filled: true, fill, stroke: "var(--ink)", strokeWidth: 2, size: 60, opacity: 1 }),
    });
    return chartSpec({
      width: "container", height: 130, data: { values: rows },
      layer: [
        line("now"), line("mean", { strokeDash: [5, 3] }), cursor("round"), point("mean", "var(--paper)"), point("now", "var(--ink)"),
      ],
    });
  }

  // ---- Controls

  const [root, button, slider, output, charts] = ["replay", "play", "now", "round", "charts"].map((id) => document.getElementById(id));
  charts.className = `charts ${DATA.picture}`;
  charts.replaceChildren();
  slider.max = LAST;
  document.getElementById("star").textContent = DATA.star;
  document.getElementById("marks").hidden = DATA.picture === "areas";
  const [views, stopped] = [[], new AbortController()];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const number = (round) => round.toLocaleString("en-US");
  let started = null; // the time at which frame 0 would have been shown; null while paused

  function show(frame) {
    slider.value = frame;
    const text = `round ${number(DATA.rounds[frame])} of ${number(DATA.rounds[LAST])}`;
    output.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    return Promise.all(views.map((view) => view.signal("now", frame).runAsync()));
  }

  function pause() {
    started = null;
    button.textContent = "Play";
  }

  async function tick(time) {
    if (started === null) return;
    const elapsed = Math.max(0, time - started); // the timestamp of an animation frame may precede the click
    const share = Math.min(1, elapsed / 1000 / (calm.matches ? JUMPS : SECONDS));
    const steps = calm.matches ? Math.floor(share * JUMPS) / JUMPS : share;
    const frame = Math.round(steps * LAST);
    if (frame !== Number(slider.value)) await show(frame);
    if (share >= 1) pause();
    requestAnimationFrame(tick);
  }

  function play() {
    const from = Number(slider.value) >= LAST ? 0 : Number(slider.value);
    button.textContent = "Pause";
    started = performance.now() - (from / Math.max(1, LAST)) * 1000 * (calm.matches ? JUMPS : SECONDS);
    requestAnimationFrame(tick);
  }

  async function add(box, spec, words) {
    const { view } = await vegaEmbed(box, spec, EMBED);
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", words);
    box.view = view; // for tests and debugging
    views.push(view);
  }

  const boxes = DATA.charts.flatMap((chart, seat) => {
    root.style.setProperty(`--own-${seat}`, chart.colour);
    const [figure, caption] = ["figure", "figcaption"].map((name) => document.createElement(name));
    caption.textContent = chart.title;
    figure.append(caption);
    charts.append(figure);
    return { triangle: [triangle], square: [square], areas: [areas, columns] }[DATA.picture].map((draw) => {
      const box = document.createElement("div");
      box.className = "chart";
      figure.append(box);
      return [box, draw({ ...chart, seat }), `policies of ${chart.title}`];
    });
  });
  for (const box of boxes) await add(...box); // once all boxes exist: the width of one depends on the others
  await add(document.getElementById("gains"), exploitabilityChart(), "exploitability by round");
  const { signal } = stopped;
  button.addEventListener("click", () => (started === null ? play() : pause()), { signal });
  slider.addEventListener("input", () => { pause(); show(Number(slider.value)); }, { signal });
  addEventListener("beforeprint", () => { pause(); show(LAST); }, { signal });
  await show(calm.matches ? LAST : 0);
  const seen = new IntersectionObserver(([{ isIntersecting }]) => { if (isIntersecting) { seen.disconnect(); play(); } }, { threshold: 0.3 });
  if (!calm.matches) seen.observe(charts);
  return () => { pause(); seen.disconnect(); stopped.abort(); views.forEach((view) => view.finalize()); };
}
