// The page's script: page.html joins the files tools, state, vega, charts, figures, tables, replay and page into one
// scope. This file holds the helpers that do not depend on the study: elements, numbers and files.

const byId = (id) => document.getElementById(id);
const on = (id, event, action) => byId(id)?.addEventListener(event, action);

/** Set the attributes of an element and append children; strings become text, never markup. */
function finish(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const element = (name, attributes = {}, ...children) => finish(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) =>
  finish(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

/** Fill a select element with options, given as pairs of a value and a label. */
function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, label]) => element("option", { value }, label)));
  select.value = String(chosen);
}

/** Set the text of an element only if it differs, since screen readers announce every change. */
function say(id, text) {
  if (byId(id).textContent !== text) byId(id).textContent = text;
  byId(id).hidden = !text;
}

/** Run an action that recreates elements, and keep the focus on the element with the same data attribute. */
function keepingFocus(key, action) {
  const focused = document.activeElement?.dataset?.[key];
  action();
  if (focused) document.querySelector(`[data-${key}="${CSS.escape(focused)}"]`)?.focus();
}

// ---- Numbers

const isKnown = (number) => number !== null && number !== undefined;
const trueMinus = (text) => text.replace(/-/g, "−");
const MOST_DIGITS = 6; // of a mean, however narrow its interval
const ROUNDING = 1e-12; // smaller numbers are zero up to rounding

/** Format a number with this many significant digits. */
function show(number, digits = 4) {
  if (!isKnown(number)) return "–";
  if (Math.abs(number) < ROUNDING) return "0";
  if (Math.abs(number) >= 10 ** (digits - 1)) return trueMinus(Math.round(number).toLocaleString("en-US"));
  return trueMinus(String(Number(number.toPrecision(digits))));
}

/** Return a formatter for a mean and its interval, to the second significant digit of the half width. */
function writerOf(mean, half) {
  const most = Math.max(0, MOST_DIGITS - 1 - Math.floor(Math.log10(Math.max(Math.abs(mean), half))));
  const places = Math.min(12, most, Math.max(0, 1 - Math.floor(Math.log10(half))));
  const options = { minimumFractionDigits: places, maximumFractionDigits: places };
  return { places, write: (number) => trueMinus(number.toLocaleString("en-US", options)) };
}

function withHalf(mean, half) {
  if (mean === null) return "not finite";
  if (!isKnown(half)) return show(mean);
  if (half < ROUNDING) return `${show(mean)} ± 0`;
  const { places, write } = writerOf(mean, half);
  return half < 10 ** -places / 2 ? `${show(mean)} ± less than ${10 ** -places}` : `${write(mean)} ± ${write(half)}`;
}

/** Format a mean with the ends of its interval, if they are known. */
function withEnds(mean, low, high) {
  if (!isKnown(low) && !isKnown(high)) return show(mean);
  const all = [mean, low, high].every(isKnown) && low < high;
  const write = all ? writerOf(mean, (high - low) / 2).write : show;
  return `${write(mean)} [${write(low)}, ${write(high)}]`;
}

const withInterval = (mean, half) => (half ? withEnds(mean, mean - half, mean + half) : show(mean));

/** Split a string into lines of about this length. */
function inLines(text, length) {
  const lines = [];
  for (const word of text.split(" ")) {
    const fits = lines.length && lines.at(-1).length + word.length < length;
    lines.push(fits ? `${lines.pop()} ${word}` : word);
  }
  return lines;
}

const unique = (items) => [...new Set(items)];
const ascending = (items) => unique(items).sort((a, b) => a - b);

function range(numbers) {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return low === high ? String(low) : `${low} to ${high}`;
}

/** Return a short sample of a line, for lists and keys. */
function sample(stroke, dash, shape) {
  const line = { x1: 1, x2: 45, y1: 7, y2: 7, stroke, "stroke-width": 2.2, "stroke-dasharray": dash.join(" ") };
  const picture = { class: "sample", width: 46, height: 14, viewBox: "0 0 46 14", "aria-hidden": "true" };
  const marks = shape ? [svg("path", { d: shape, fill: stroke, transform: "translate(23 7) scale(4)" })] : [];
  return svg("svg", picture, svg("line", line), ...marks);
}

// ---- Files

/** Return a field of a CSV file; a string that a spreadsheet would run as a formula is quoted. */
function csvField(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

const csv = (rows) => rows.map((row) => row.map(csvField).join(",") + "\r\n").join("");

/** Return a name that every file system accepts. */
const fileName = (parts) =>
  parts.join("-").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 100).replace(/-$/, "") || "data";

function saveBlob(name, blob) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const save = (name, type, text) => saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
