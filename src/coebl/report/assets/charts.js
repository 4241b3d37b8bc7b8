// Charts: the declared ones of `coebl.report.charts`, filled in, drawn when they come near, read by pointer and keys,
// and saved as pictures that stand alone.

const EMBED = { ast: true, actions: false, renderer: "svg", tooltip: false, defaultStyle: false, logLevel: 1 };
const NEAR = "600px"; // how far below the window a chart is drawn already
const ALONE = { width: 720, height: 400 }; // the size of a saved picture
const SHARP = 3; // pixels of a saved PNG for each of its points

/** A declared chart with its slots filled; what a slot has no value for is left out. */
function filled(part, values) {
  if (Array.isArray(part)) return part.map((one) => filled(one, values));
  if (part === null || typeof part !== "object") return part;
  if ("$" in part) return values[part.$];
  const pairs = Object.entries(part).map(([key, one]) => [key, filled(one, values)]);
  return Object.fromEntries(pairs.filter(([, one]) => one !== undefined));
}

const charts = new Map(); // by id: how to make it, whether it is near, its view
const chartOf = (id) => byId(`${id}-chart`);

let unfinished = 0;

/** Do something that takes a moment; the page says so while anything is not finished. */
async function busily(action) {
  unfinished += 1;
  document.documentElement.dataset.busy = "yes";
  try { return await action(); } finally {
    unfinished -= 1;
    if (!unfinished) delete document.documentElement.dataset.busy;
  }
}

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const id = target.id.replace(/-chart$/, "");
    charts.get(id).near = isIntersecting;
    if (isIntersecting) drawChart(id);
  }
}, { rootMargin: NEAR });

/**
 * Have a chart drawn, now or when it comes near. `make`, which is given the size of a
 * picture that stands alone, gives the name of the chart, the values of its slots, in `text`
 * what it shows in words, and perhaps a `reader` (see `connectReading`).
 */
function planChart(id, make) {
  if (!charts.has(id)) {
    charts.set(id, { queue: Promise.resolve(), near: false });
    observer.observe(chartOf(id));
  }
  const chart = charts.get(id);
  Object.assign(chart, { make, stale: true });
  chartOf(id).dataset.stale = "yes";
  if (chart.near) drawChart(id);
}

function drawChart(id) {
  const chart = charts.get(id);
  if (!chart.stale || !chartOf(id).checkVisibility()) return;
  chart.stale = false;
  chart.queue = chart.queue.then(() => busily(async () => {
    const made = chart.make();
    const box = chartOf(id);
    const { view } = await vegaEmbed(box, filled(PAGE.charts[made.chart], made.values), EMBED);
    box.setAttribute("role", "img"); // Vega has words of its own here
    box.setAttribute("aria-label", made.text);
    chart.view?.finalize();
    Object.assign(chart, { view, made, at: null });
    box.view = view; // for who looks into the page
    if (!chart.stale) delete box.dataset.stale;
  }));
}

/** Draw what is not near, while there is nothing else to do, so that it is there on paper. */
const drawRest = () => { for (const id of charts.keys()) drawChart(id); };

// ---- Reading values, by pointer and by keys

/**
 * Below a chart that has a `reader`, show the values at the place of the pointer, or at the one that the arrow keys have
 * come to: `places` many, the one `nearest` to a point of the plot, its `text`, and perhaps how to `mark` it.
 */
function connectReading(id) {
  const box = chartOf(id);
  const tell = (at) => {
    const chart = charts.get(id);
    if (!chart?.made?.reader || at === chart.at) return;
    chart.at = at;
    byId(`${id}-readout`).textContent = chart.made.reader.text(at);
    chart.made.reader.mark?.(chart.view, at);
  };
  box.addEventListener("pointermove", ({ clientX, clientY }) => {
    const chart = charts.get(id);
    const plot = box.querySelector(".role-frame .background")?.getBoundingClientRect();
    if (plot && chart?.made?.reader) tell(chart.made.reader.nearest(chart.view, clientX - plot.left, clientY - plot.top));
  });
  box.addEventListener("keydown", (event) => {
    const chart = charts.get(id);
    const last = (chart?.made?.reader?.places ?? 0) - 1;
    const before = chart?.at ?? last + 1;
    const to = { ArrowLeft: before - 1, ArrowRight: before + 1, Home: 0, End: last }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    tell(Math.min(last, Math.max(0, to)));
  });
}

// ---- Pictures that stand alone

/** The colours of the light theme in a text that names them: a picture is printed, whatever the page looks like. */
function inLightColours(text) {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light";
  const style = getComputedStyle(root);
  const found = text.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  root.dataset.theme = theme;
  return found;
}

/** A chart as SVG, with a title, a legend and a note on what its bands are, which the page has outside of it. */
async function pictureOf({ chart, values, title, note, alone = {} }) {
  const own = { ...ALONE, brush: undefined, title: { text: title, subtitle: wrapped(note) }, ...alone };
  const spec = { ...filled(PAGE.charts[chart], { ...values, ...own }), background: "white" };
  const result = await vegaEmbed(element("div"), spec, EMBED);
  const text = await result.view.toSVG();
  result.finalize();
  return inLightColours(text);
}

/** A text in lines that are not much longer than a picture is wide. */
const wrapped = (text) => text.match(/.{1,110}(\s|$)/g)?.map((line) => line.trim()) ?? [];

async function rasterOf(text) {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await picture.decode();
  const canvas = element("canvas", { width: SHARP * picture.width, height: SHARP * picture.height });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

const nameOf = (titles, ending) => `${fileName([PAGE.name, ...titles])}.${ending}`;

/** Let the two buttons of a chart save it; `titles` makes the name of the file. */
function connectPictures(id, titles) {
  const picture = () => pictureOf(charts.get(id).make(ALONE));
  on(`${id}-svg`, "click", () => busily(async () => save(nameOf(titles(), "svg"), "image/svg+xml", await picture())));
  on(`${id}-png`, "click", () => busily(async () => saveBlob(nameOf(titles(), "png"), await rasterOf(await picture()))));
}
