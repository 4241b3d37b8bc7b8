// Charts: the declared ones of `coebl.report.charts`, filled in, drawn when they come near, read by pointer and keys, and
// saved as pictures that stand alone.

const EMBED = { ast: true, actions: false, renderer: "svg", tooltip: false, defaultStyle: false, logLevel: 1 };
const ALONE = { width: 720, height: 400 }; // the size of a saved picture
const SHARP = 3; // pixels of a saved PNG for each of its points
const NEAR = 600; // pixels below the window where a chart is drawn already
const NOTE_LENGTH = 110; // letters in a line below the title of a saved picture

/** A declared chart with its slots filled; what a slot has no value for is left out. */
function filled(part, values) {
  if (Array.isArray(part)) return part.map((one) => filled(one, values));
  if (part === null || typeof part !== "object") return part;
  if ("$" in part) return values[part.$];
  const pairs = Object.entries(part).map(([key, one]) => [key, filled(one, values)]);
  return Object.fromEntries(pairs.filter(([, one]) => one !== undefined));
}

const charts = new Map(); // by id: how to make it, what was made, whether it is near, its view, and the place that is read
const chartOf = (id) => byId(`${id}-chart`);
let queue = Promise.resolve();

/** Do something that takes a moment, after all that was asked for before; the page says so while anything is left. */
function busily(action) {
  document.documentElement.dataset.busy = "yes";
  const turn = queue.then(action, action).finally(() => { if (queue === turn) delete document.documentElement.dataset.busy; });
  queue = turn;
}

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const id = target.id.replace(/-chart$/, "");
    charts.get(id).near = isIntersecting;
    if (isIntersecting) busily(() => drawChart(id));
  }
}, { rootMargin: `${NEAR}px` });

const whenIdle = window.requestIdleCallback ?? ((action) => setTimeout(action, 500));

/** Draw what is not near while there is nothing else to do, so that it is there on paper. */
const drawTheRest = () => whenIdle(() => { for (const id of charts.keys()) busily(() => drawChart(id)); });

/**
 * Have a chart drawn, now or when it comes near. `make` gives the name of the chart, the values of its slots, in `text`
 * what it shows in words, in `note` its caption, and perhaps a `reader` (see `connectReading`).
 */
function planChart(id, make) {
  const [made, box] = [make(), chartOf(id)];
  if (!charts.has(id)) {
    charts.set(id, { near: box.getBoundingClientRect().top < innerHeight + NEAR });
    observer.observe(box);
  }
  Object.assign(charts.get(id), { make, made });
  box.dataset.stale = "yes";
  if (byId(`${id}-caption`)) say(`${id}-caption`, made.note);
  if (made.reader) byId(`${id}-readout`).textContent = "Point at the chart, or go to it and use the arrow keys, to read its values.";
  if (charts.get(id).near) busily(() => drawChart(id));
  else drawTheRest();
}

async function drawChart(id) {
  const [chart, box] = [charts.get(id), chartOf(id)];
  const { made } = chart;
  if (!box.dataset.stale || !box.checkVisibility()) return; // it is drawn, or will be when it is shown
  const { view } = await vegaEmbed(box, filled(PAGE.charts[made.chart], made.values), EMBED);
  box.setAttribute("role", "img"); // Vega has words of its own here
  box.setAttribute("aria-label", made.text);
  chart.view?.finalize();
  Object.assign(chart, { view, at: null });
  box.view = view; // for who looks into the page
  if (chart.made === made) delete box.dataset.stale;
}

/**
 * Below a chart that has a `reader`, show the values at the place of the pointer, or at the one that the arrow keys have
 * come to: `places` many, the one `nearest` to a point of the plot, its `text`, and perhaps how to `mark` it.
 */
function connectReading(id) {
  const box = chartOf(id);
  const tell = (placeIn) => {
    const chart = charts.get(id);
    if (!chart?.view) return;
    const at = placeIn(chart.made.reader, chart);
    if (at === undefined || at === chart.at) return;
    chart.at = at;
    byId(`${id}-readout`).textContent = chart.made.reader.text(at);
    chart.made.reader.mark?.(chart.view, at);
  };
  box.addEventListener("pointermove", ({ clientX, clientY }) => tell(({ nearest }, { view }) => {
    const plot = box.querySelector(".role-frame .background")?.getBoundingClientRect();
    return plot && nearest(view, clientX - plot.left, clientY - plot.top);
  }));
  box.addEventListener("keydown", (event) => tell(({ places }, { at }) => {
    const before = at ?? places;
    const to = { ArrowLeft: before - 1, ArrowRight: before + 1, Home: 0, End: places - 1 }[event.key];
    if (to === undefined || !places) return undefined;
    event.preventDefault();
    return Math.min(places - 1, Math.max(0, to));
  }));
}

/** A rectangle that is drawn with the pointer becomes the whole; `fields` are those of the two axes. */
function connectZoom(id, fields) {
  const zoomTo = (zoom) => {
    state.zoom[id] = zoom;
    byId(`${id}-reset`).disabled = !zoom;
    planChart(id, charts.get(id).make);
  };
  chartOf(id).addEventListener("pointerup", () => {
    const brush = charts.get(id)?.view?.signal("brush") ?? {};
    const [x, y] = fields.map((field) => brush[field]?.slice().sort((a, b) => a - b));
    if (x && y && x[0] < x[1] && y[0] < y[1]) zoomTo({ x, y });
  });
  chartOf(id).addEventListener("dblclick", () => zoomTo(undefined));
  on(`${id}-reset`, "click", () => zoomTo(undefined));
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
  const own = { ...ALONE, brush: undefined, title: { text: title, subtitle: inLines(note, NOTE_LENGTH) }, ...alone };
  const spec = { ...filled(PAGE.charts[chart], { ...values, ...own }), background: "white" };
  const result = await vegaEmbed(element("div"), spec, EMBED);
  const text = await result.view.toSVG();
  result.finalize();
  return inLightColours(text);
}

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
  const picture = () => pictureOf(charts.get(id).make());
  on(`${id}-svg`, "click", () => busily(async () => save(nameOf(titles(), "svg"), "image/svg+xml", await picture())));
  on(`${id}-png`, "click", () => busily(async () => saveBlob(nameOf(titles(), "png"), await rasterOf(await picture()))));
}
