// The charts in Vega-Lite: functions that turn the chosen data into specifications.

const sizeOf = ({ width, height }) => ({ width, height, autosize: { type: "fit", contains: "padding" } });
const xScale = (v) => ({ type: v.xType, domain: v.xDomain, zero: v.xZero });
const yScale = (v) => ({ type: v.yType, domain: v.yDomain, zero: v.yZero });
const learnerColours = (v) => ({ domain: v.names, range: v.colours });

const NEITHER = { condition: { test: "!datum.decided", value: "url(#undecided)" } }; // a hatch pattern, see page.html
const PLAIN_AXIS = { title: null, ticks: false, domain: false, labelFlush: false };
const OUTCOME_COLOURS = ["var(--holds)", "var(--fails)", "var(--unsure)", "var(--soft)"];
const OUTCOME_SHAPES = ["circle", "cross", "diamond", "square"];

const SPECS = {
  curves: (v) => ({
    ...sizeOf(v),
    data: { name: "curves", values: v.rows },
    params: [{ name: "shownRound", value: null }],
    encoding: { x: quantity("round", { title: "round", scale: { ...xScale(v), nice: false } }) },
    layer: [
      layer("area", {
        y: quantity("low", { title: v.yTitle, scale: { ...yScale(v), nice: v.nice } }),
        y2: { field: "high" },
        fill: category("colour", { scale: null }),
      }, { opacity: 0.16, clip: true, line: false }),
      {
        params: v.brush,
        ...layer("line", {
          y: quantity("mean"),
          color: category("learner", { scale: learnerColours(v), legend: v.legend }),
          strokeDash: category("learner", { scale: { domain: v.names, range: v.dashes }, legend: v.legend }),
        }, { clip: true, strokeWidth: 2.2 }),
      },
      {
        ...when("datum.shape"),
        ...layer("point", {
          y: quantity("mean"), fill: category("colour", { scale: null }), shape: category("shape", { scale: null }),
        }, { filled: true, opacity: 1, size: 55, clip: true }),
      },
      {
        data: { values: [{}] },
        ...layer("rule", { x: { datum: { expr: "shownRound" }, type: "quantitative" }, color: SOFT },
          { clip: true, opacity: { expr: "shownRound === null ? 0 : 1" } }),
      },
    ],
  }),

  multiples: (v) => ({
    data: { name: "curves", values: v.rows },
    columns: v.columns,
    spacing: { row: 8, column: 12 },
    facet: category("game", { title: null, sort: v.games, header: { labelExpr: "split(datum.label, '\\n')", labelAnchor: "start", labelFontSize: 11, labelPadding: 2, labelLimit: v.width + 40 + v.room } }),
    resolve: { scale: { y: "independent" }, axis: { y: "independent" } },
    spec: {
      width: v.width,
      height: 90,
      encoding: {
        x: quantity("round", { axis: null, scale: { type: v.xType, nice: false } }),
        color: category("learner", { scale: learnerColours(v), legend: null }),
      },
      layer: [
        layer("line", {
          y: quantity("mean", { title: null, axis: { tickCount: 2, labelFontSize: 10, labelFlush: true, minExtent: 34, grid: false } }),
          strokeDash: category("learner", { scale: { domain: v.names, range: v.dashes }, legend: null }),
        }, { clip: true, strokeWidth: 1.6 }),
        {
          ...when("datum.shape"),
          ...layer("point", { y: quantity("mean"), shape: category("shape", { scale: null }) },
            { filled: true, opacity: 1, size: 22, clip: true }),
        },
        {
          ...when("isValid(datum.label)"),
          ...layer("text", { y: quantity("label"), text: { field: "learner" } }, { align: "left", dx: 4, fontSize: 10, limit: v.room }),
        },
      ],
      view: { cursor: "pointer" },
    },
  }),

  sweep: (v) => ({
    data: { name: "points", values: v.rows },
    columns: v.columns,
    spacing: { row: 14, column: 24 },
    facet: category("panel", { title: null, sort: v.panels, header: { labelAnchor: "start" } }),
    resolve: { scale: { y: "independent" }, axis: { x: "independent", y: "independent" } },
    spec: {
      width: v.width,
      height: 200,
      encoding: {
        x: { field: "value", type: "ordinal", sort: "ascending", title: v.xTitle, axis: { labelAngle: 0, labelFlush: false } },
        color: category("learner", { scale: learnerColours(v), legend: null }),
      },
      layer: [
        { ...when("datum.named"), ...layer("rule", { color: SOFT }, { strokeDash: [2, 3] }) },
        { ...when("datum.named"), ...layer("text", { y: { value: 6 }, text: { field: "named" }, color: SOFT }, { align: "right", dx: -4, fontSize: 11 }) },
        layer("line", { y: quantity("mean", { title: null }), color: INK, detail: category("sweep") }, { opacity: 0.35, strokeWidth: 1.5 }),
        layer("rule", { y: quantity("low"), y2: { field: "high" } }, { strokeWidth: 2 }),
        layer("point", { y: quantity("mean") }, { filled: true, opacity: 1, size: 60 }),
      ],
    },
  }),

  heatMaps: (v) => ({
    data: { name: "cells", values: v.rows },
    columns: v.columns,
    spacing: { row: 18, column: 14 },
    facet: category("panel", { title: null, sort: v.panels, header: { labelAnchor: "start", labelPadding: 4 } }),
    resolve: { scale: { x: "independent" }, axis: { x: "independent" } },
    transform: [{ calculate: "datum.decided ? 0.25 + 0.75 * abs(datum.shade) : 1", as: "depth" }], // as in the table
    spec: {
      width: v.width,
      height: { step: v.games.length > 8 ? 20 : 26 },
      encoding: {
        x: category("learner", {
          sort: null,
          axis: {
            ...PLAIN_AXIS, labelExpr: "split(datum.label, '\\n')", labelPadding: v.labelPadding, orient: "top",
            labelAngle: 0, labelLimit: 130,
          },
        }),
        y: category("game", { sort: v.games, axis: { ...PLAIN_AXIS, labelLimit: 190 } }),
      },
      layer: [
        layer("rect", {
          fill: {
            ...NEITHER,
            ...category("columnAhead", { scale: { domain: [true, false], range: ["var(--column-wins)", "var(--row-wins)"] }, legend: null }),
          },
          fillOpacity: quantity("depth", { scale: null }),
        }, { stroke: "var(--paper)", strokeWidth: 2, cursor: "pointer" }),
        layer("text", { text: { field: "text" } }, { fontSize: 11.5, cursor: "pointer" }),
      ],
    },
  }),

  checks: (v) => {
    const outcome = category("outcome", { scale: { domain: PAGE.outcomes, range: OUTCOME_COLOURS }, title: null });
    const legend = { orient: "bottom", title: null, columns: v.legendColumns, values: PAGE.outcomes.slice(0, 3) };
    const shape = category("outcome", { scale: { domain: PAGE.outcomes, range: OUTCOME_SHAPES }, legend });
    return {
      ...sizeOf(v),
      data: { name: "checks", values: v.rows },
      encoding: {
        y: category("subject", { sort: null, title: null, axis: { labelLimit: v.labelLimit, grid: true } }),
        x: quantity("measured", { title: v.xTitle, scale: { ...xScale(v), nice: true } }),
      },
      layer: [
        layer("tick", { x: quantity("threshold") }, { color: "var(--ink)", thickness: 2, height: 15 }),
        {
          ...when("datum.published"),
          ...layer("text", { x: quantity("threshold"), color: SOFT }, { text: "published", dy: -13, fontSize: 10 }),
        },
        layer("rule", { x: quantity("low"), x2: { field: "high" }, color: outcome }, { strokeWidth: 1.5 }),
        layer("point", { color: outcome, shape }, { filled: true, opacity: 1, size: 75 }),
      ],
    };
  },

  duels: (v) => {
    const [words, above] = [{ x: { datum: 0 }, text: { field: "text" } }, { dy: -17, dx: 4 * v.side, align: v.side > 0 ? "left" : "right", fontSize: 12, invalid: null }];
    const winner = category("winner", { scale: { domain: [true, false], range: ["#3b8bc2", "#e08214"] }, legend: null });
    const gridColor = { condition: { test: "datum.value === 0", ...INK }, value: "var(--line)" };
    return {
      ...sizeOf(v),
      data: { name: "duels", values: v.rows },
      encoding: {
        y: category("learner", { sort: v.learners, title: null, axis: { labelLimit: 170 } }),
        x: quantity("mean", { title: v.xTitle, scale: { domain: v.xDomain }, axis: { gridColor } }),
      },
      layer: [
        layer("text", words, { ...above, stroke: "var(--paper)", strokeWidth: 4 }), // keeps grid lines off the label
        layer("bar", { color: { ...NEITHER, ...winner } }, { height: 20 }),
        layer("rule", { x: quantity("low"), x2: { field: "high" }, color: INK }),
        layer("text", words, above),
      ],
    };
  },
};

/** Return the specification of a chart; undefined values are left out. */
const specOf = (chart, values) =>
  JSON.parse(JSON.stringify({ title: values.title, ...SPECS[chart](values), config: CONFIG }));

// ---- Drawing: charts are drawn when they come near the window, can be read by pointer or keys, and saved as pictures

const PICTURE_SIZE = { width: 720, height: 400 }; // the size of a saved picture
const PIXEL_RATIO = 3; // pixels per point of a saved PNG
const MARGIN = 600; // a chart is drawn once it is this many pixels from the window
const NOTE_LENGTH = 110; // characters per line below the title of a saved picture

// By id: its make function, the result, whether it is near the window, its view, and the place whose values are shown.
const charts = new Map();
const boxOf = (id) => byId(`${id}-chart`);
let queue = Promise.resolve();

/** Queue an action that may take a while; the page is marked as busy until the queue is empty. */
function enqueue(action) {
  document.documentElement.dataset.busy = "yes";
  const turn = queue.then(action, action).finally(() => { if (queue === turn) delete document.documentElement.dataset.busy; });
  queue = turn;
}

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const id = target.id.replace(/-chart$/, "");
    charts.get(id).near = isIntersecting;
    if (isIntersecting) enqueue(() => drawChart(id));
  }
}, { rootMargin: `${MARGIN}px` });

const whenIdle = window.requestIdleCallback ?? ((action) => setTimeout(action, 500));

/** Draw the remaining charts when the browser is idle, so that they are printed too. */
const drawTheRest = () => whenIdle(() => { for (const id of charts.keys()) enqueue(() => drawChart(id)); });

/**
 * Draw a chart, now or when it comes near the window. `make` returns the name of the chart, its values, its description
 * as `text`, its caption as `note`, and optionally a `reader` (see `connectReading`).
 */
function planChart(id, make) {
  const [content, box] = [make(), boxOf(id)];
  if (!charts.has(id)) {
    charts.set(id, { near: box.getBoundingClientRect().top < innerHeight + MARGIN });
    observer.observe(box);
  }
  Object.assign(charts.get(id), { make, content });
  box.dataset.stale = "yes";
  if (byId(`${id}-caption`)) say(`${id}-caption`, content.note);
  if (content.reader) byId(`${id}-readout`).textContent = "Hover over the chart, or focus it and use the arrow keys, to read its values.";
  if (charts.get(id).near) enqueue(() => drawChart(id));
  else drawTheRest();
}

async function drawChart(id) {
  const [chart, box] = [charts.get(id), boxOf(id)];
  const { content } = chart;
  if (!box.dataset.stale || !box.checkVisibility()) return; // already drawn, or hidden
  const { view } = await vegaEmbed(box, specOf(content.chart, content.values), EMBED);
  box.setAttribute("role", "img"); // Vega sets another role
  box.setAttribute("aria-label", content.text);
  chart.view?.finalize();
  Object.assign(chart, { view, place: null });
  box.view = view; // for tests and debugging
  if (chart.content === content) delete box.dataset.stale;
}

/**
 * Below a chart that has a `reader`, show the values at the pointer, or at the place chosen with the arrow keys. A reader
 * has the number of `places`, functions for the place `nearest` to a point of the plot and for the `text` of a place,
 * and optionally one that draws a `mark`.
 */
function connectReading(id) {
  const box = boxOf(id);
  const showPlace = (placeIn) => {
    const chart = charts.get(id);
    if (!chart?.view) return;
    const place = placeIn(chart.content.reader, chart);
    if (place === undefined || place === chart.place) return;
    chart.place = place;
    byId(`${id}-readout`).textContent = chart.content.reader.text(place);
    chart.content.reader.mark?.(chart.view, place);
  };
  box.addEventListener("pointermove", ({ clientX, clientY }) => showPlace(({ nearest }, { view }) => {
    const plot = box.querySelector(".role-frame .background")?.getBoundingClientRect();
    return plot && nearest(view, clientX - plot.left, clientY - plot.top);
  }));
  box.addEventListener("keydown", (event) => showPlace(({ places }, { place }) => {
    const before = place ?? places;
    const to = { ArrowLeft: before - 1, ArrowRight: before + 1, Home: 0, End: places - 1 }[event.key];
    if (to === undefined || !places) return undefined;
    event.preventDefault();
    return Math.min(places - 1, Math.max(0, to));
  }));
}

/** Zoom to a rectangle drawn with the pointer; `fields` are those of the two axes. */
function connectZoom(id, fields) {
  const zoomTo = (zoom) => {
    state.zoom[id] = zoom;
    byId(`${id}-reset`).disabled = !zoom;
    planChart(id, charts.get(id).make);
  };
  boxOf(id).addEventListener("pointerup", () => {
    const brush = charts.get(id)?.view?.signal("brush") ?? {};
    const [x, y] = fields.map((field) => brush[field]?.slice().sort((a, b) => a - b));
    if (x && y && x[0] < x[1] && y[0] < y[1]) zoomTo({ x, y });
  });
  boxOf(id).addEventListener("dblclick", () => zoomTo(undefined));
  on(`${id}-reset`, "click", () => zoomTo(undefined));
}

// ---- Saved pictures

/** Replace the CSS variables in a string by the colours of the light theme: saved pictures are for print. */
function inLightColours(text) {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light";
  const style = getComputedStyle(root);
  const coloured = text.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  root.dataset.theme = theme;
  return coloured;
}

/** Return a chart as SVG, with the title, the legend and the note that the page shows outside the chart. */
async function pictureOf({ chart, values, title, note, picture = {} }) {
  const options = { ...PICTURE_SIZE, brush: undefined, title: { text: title, subtitle: inLines(note, NOTE_LENGTH) }, ...picture };
  const spec = { ...specOf(chart, { ...values, ...options }), background: "white" };
  const result = await vegaEmbed(element("div"), spec, EMBED);
  const text = await result.view.toSVG();
  result.finalize();
  return inLightColours(text.replace(/<svg[^>]*>/, (start) => start + byId("hatch").firstElementChild.outerHTML));
}

async function rasterOf(text) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = element("canvas", { width: PIXEL_RATIO * image.width, height: PIXEL_RATIO * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

const nameOf = (titles, ending) => `${fileName([PAGE.name, ...titles])}.${ending}`;

/** Connect the buttons that save a chart; `titles` returns the parts of the file name. */
function connectPictures(id, titles) {
  const draw = () => pictureOf(charts.get(id).make());
  on(`${id}-svg`, "click", () => enqueue(async () => save(nameOf(titles(), "svg"), "image/svg+xml", await draw())));
  on(`${id}-png`, "click", () => enqueue(async () => saveBlob(nameOf(titles(), "png"), await rasterOf(await draw()))));
}
