// What all charts share: parts of specifications in Vega-Lite, and their style. Colours are CSS variables, so that a
// chart follows the theme of the page, and is printed in the light theme.

const EMBED = { ast: true, actions: false, renderer: "svg", tooltip: false, defaultStyle: false, logLevel: 1 };
const quantity = (field, options) => ({ field, type: "quantitative", ...options });
const category = (field, options) => ({ field, type: "nominal", ...options });
const layer = (type, encoding, options) => ({ mark: { type, ...options }, encoding });
const when = (filter) => ({ transform: [{ filter }] });

const [INK, SOFT] = [{ value: "var(--ink)" }, { value: "var(--soft)" }];
const FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Liberation Sans, Arial, sans-serif";
const WORDS = { labelColor: "var(--ink)", titleColor: "var(--soft)", titleFontWeight: "normal", labelFontSize: 12 };
const GRID = { gridColor: "var(--line)", domainColor: "var(--edge)", tickColor: "var(--edge)" };
const CONFIG = {
  background: "transparent",
  aria: false, // the page describes each chart in words
  font: FONT,
  view: { stroke: null },
  axis: { ...WORDS, ...GRID, titleFontSize: 12.5, titlePadding: 8, labelSeparation: 8 },
  axisX: { tickCount: { expr: "max(5, ceil(width / 120))" }, labelFlush: 12 }, // few enough ticks that each has a label
  axisY: { labelFlush: false },
  legend: { ...WORDS, titleFontSize: 12, labelLimit: 400 },
  header: { ...WORDS, labelFontSize: 13, labelFontWeight: 600, labelLimit: 400 },
  title: {
    color: "var(--ink)", subtitleColor: "var(--soft)", anchor: "start", offset: 12,
    fontSize: 15, subtitleFontSize: 11.5, subtitlePadding: 5,
  },
  text: { color: "var(--ink)" },
};
