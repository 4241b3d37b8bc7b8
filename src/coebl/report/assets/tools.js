"use strict";
// What the page's program is made of that knows nothing of the study: elements, numbers, looks, files.
const TOOLS = (() => {
  const byId = (id) => document.getElementById(id);
  const on = (id, event, action) => byId(id)?.addEventListener(event, action);

  // ---- Elements, texts, numbers

  /** Set the attributes of an element and append children; strings become text, never markup. */
  function finish(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  const element = (name, attributes = {}, ...children) => finish(document.createElement(name), attributes, children);
  const svg = (name, attributes, ...children) =>
    finish(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

  /** Fill a select with pairs of a value and a label. */
  function fill(select, options, chosen) {
    select.replaceChildren(...options.map(([value, label]) => element("option", { value }, label)));
    select.value = String(chosen);
  }

  /** Text for Plotly, which reads a little HTML in its labels. */
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  const trueMinus = (text) => text.replace(/-/g, "−");

  /** A number for people, with four digits. */
  function show(number) {
    if (number === null || number === undefined) return "–";
    if (Math.abs(number) >= 1000) return trueMinus(Math.round(number).toLocaleString("en-US"));
    return trueMinus(String(Number(number.toPrecision(4))));
  }

  /** How to write a mean and its interval: with two digits of half its width, and all to that place. */
  function writerOf(half) {
    const places = Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(half))));
    const options = { minimumFractionDigits: places, maximumFractionDigits: places };
    return (number) => trueMinus(number.toLocaleString("en-US", options));
  }

  function withHalf(mean, half) {
    if (mean === null) return "not finite";
    if (!half) return half === 0 ? `${show(mean)} ± 0` : show(mean);
    return `${writerOf(half)(mean)} ± ${writerOf(half)(half)}`;
  }

  const isKnown = (number) => number !== null && number !== undefined;

  /** A number with the ends of its interval, as far as they are known. */
  function withEnds(mean, low, high) {
    if (!isKnown(low) && !isKnown(high)) return show(mean);
    const write = [mean, low, high].every(isKnown) && low < high ? writerOf((high - low) / 2) : show;
    return `${write(mean)} [${write(low)}, ${write(high)}]`;
  }

  const withInterval = (mean, half) => (half ? withEnds(mean, mean - half, mean + half) : show(mean));

  const unique = (items) => [...new Set(items)];
  const ascending = (items) => unique(items).sort((a, b) => a - b);

  function range(numbers) {
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    return low === high ? String(low) : `${low} to ${high}`;
  }

  // ---- Looks

  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const isDark = () => document.documentElement.dataset.theme === "dark";
  const referenceColour = () => (isDark() ? "#ffffff" : "#000000");

  /** A learner's colour: its family's, the more towards black (on a dark page white) the further it is down in it. */
  function colourOf(learner, opacity = 1) {
    const parts = [1, 3, 5].map((at) => parseInt(learner.colour.slice(at, at + 2), 16));
    const lighter = (part) => part + (255 - part) * (0.2 + 0.8 * learner.shade);
    const darker = (part) => part * (1 - learner.shade);
    return `rgba(${parts.map((part) => Math.round(isDark() ? lighter(part) : darker(part))).join(", ")}, ${opacity})`;
  }

  function axis(title, log) {
    return {
      title: { text: plain(title).replace(/\n/g, "<br>"), standoff: 8 },
      type: log ? "log" : "linear",
      gridcolor: ink("line"), linecolor: ink("line"), zerolinecolor: ink("soft"), zerolinewidth: 1,
      automargin: true, exponentformat: "none", minorloglabels: "complete", separatethousands: true,
    };
  }

  /**
   * The sides on which labels stand, for points with bars to the left and right, all in pixels: each where it covers
   * the fewest points, bars and other labels.
   */
  function labelSides(points, width) {
    const [high, gap] = [16, 7];
    const taken = [];
    const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const boxes = points.flatMap(({ x, y, left, right }) => [
      { left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }, { left, right, top: y - 1, bottom: y + 1 },
    ]);
    return points.map(({ x, y, text }) => {
      const sides = ["top right", "bottom right", "top left", "bottom left"].map((side) => {
        const wide = 7 * text.length;
        const left = side.endsWith("left") ? x - gap - wide : x + gap;
        const top = side.startsWith("top") ? y - high - 3 : y + 3;
        const box = { left, top, right: left + wide, bottom: top + high };
        const outside = box.left < 0 || box.right > width;
        const covered = [...boxes, ...taken, ...taken].filter((other) => overlap(box, other)).length;
        return { side, box, cost: covered + 3 * outside };
      });
      const best = sides.reduce((a, b) => (b.cost < a.cost ? b : a));
      taken.push(best.box);
      return best.side;
    });
  }

  // Plotly's symbols, as they look at the size of a sample.
  const SYMBOLS = {
    circle: "M4 0A4 4 0 1 1 -4 0A4 4 0 1 1 4 0Z",
    square: "M-3.5 -3.5H3.5V3.5H-3.5Z",
    diamond: "M0 -5L5 0L0 5L-5 0Z",
    "triangle-up": "M0 -4.5L4.5 3.5H-4.5Z",
    "triangle-down": "M0 4.5L4.5 -3.5H-4.5Z",
    x: "M-4 -4L4 4M4 -4L-4 4",
    star: "M0 -5L1.2 -1.6L4.8 -1.5L1.9 0.6L2.9 4L0 2L-2.9 4L-1.9 0.6L-4.8 -1.5L-1.2 -1.6Z",
    cross: "M-1.3 -4.5H1.3V-1.3H4.5V1.3H1.3V4.5H-1.3V1.3H-4.5V-1.3H-1.3Z",
    hexagon: "M4.5 0L2.2 4L-2.2 4L-4.5 0L-2.2 -4L2.2 -4Z",
  };

  /** A sample of a line for the list of lines, drawn as the line is. */
  function sample(stroke, dash, symbol) {
    const dashes = dash === "solid" ? "" : dash.replace(/px/g, "");
    const line = { x1: 1, x2: 45, y1: 7, y2: 7, stroke, "stroke-width": 2.2, "stroke-dasharray": dashes };
    const mark = { d: SYMBOLS[symbol], fill: stroke, stroke, "stroke-width": symbol === "x" ? 2.6 : 1 };
    const picture = { class: "sample", width: 46, height: 14, viewBox: "0 0 46 14", "aria-hidden": "true" };
    const marks = symbol ? [svg("path", { ...mark, transform: "translate(23 7)" })] : [];
    return svg("svg", picture, svg("line", line), ...marks);
  }

  // ---- Claims

  /** The checks that a verdict rests on, with the classes of verdicts by their words; a list, since a table would not fit beside those of other variants. */
  function checkList(checks, kinds) {
    const counts = unique(checks.map(({ verdict }) => verdict)).map((verdict) => {
      const count = checks.filter((check) => check.verdict === verdict).length;
      return `${count} ${count > 1 ? String(verdict).replace(/^(hold|fail)s$/, "$1") : verdict}`;
    });
    const title = `${checks.length === 1 ? "One check" : `All ${checks.length} checks`}: ${counts.join(", ")}`;
    const items = checks.map(({ subject, quantity, measured, low, high, wanted, verdict }) => {
      const number = isKnown(measured) ? ` ${withEnds(measured, low, high)}` : "";
      const word = element("b", { class: kinds[verdict] ?? "not-testable" }, verdict ?? "");
      const found = element("span", {}, word, ` · ${quantity ?? ""}${number}, wanted: ${wanted ?? ""}`);
      return element("li", {}, element("span", { class: "subject" }, subject ?? ""), found);
    });
    const scroll = { class: "checks-scroll", tabindex: "0", role: "region", "aria-label": title };
    return [element("h5", {}, title), element("div", scroll, element("ul", {}, ...items))];
  }

  /** Let the claims be opened and closed, one by one or all at once; `prepare` is called with what is opened. */
  function connectClaims(prepare) {
    function setOpen(button, open) {
      const detail = byId(button.getAttribute("aria-controls"));
      if (open) prepare(detail);
      button.setAttribute("aria-expanded", String(open));
      detail.hidden = !open;
    }
    const buttons = [...document.querySelectorAll(".claim-button")];
    const isOpen = (button) => button.getAttribute("aria-expanded") === "true";
    const label = () => { byId("open-claims").textContent = buttons.every(isOpen) ? "Close all" : "Open all"; };
    for (const button of buttons) {
      button.addEventListener("click", () => { setOpen(button, !isOpen(button)); label(); });
    }
    on("open-claims", "click", () => {
      const open = !buttons.every(isOpen);
      buttons.forEach((button) => setOpen(button, open));
      label();
    });
  }

  // ---- Files

  /** A field of a CSV file; text that a spreadsheet would take for a formula is marked as text. */
  function csvField(value) {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  }

  const csv = (rows) => rows.map((row) => row.map(csvField).join(",") + "\r\n").join("");

  /** A name that every file system takes. */
  const fileName = (parts) =>
    parts.join("-").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 100).replace(/-$/, "") || "data";

  function save(name, type, text) {
    const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  return {
    byId, on, element, fill, plain, show, withHalf, withInterval, unique, ascending, range,
    ink, isDark, colourOf, referenceColour, axis, sample, labelSides, checkList, connectClaims, csv, fileName, save,
  };
})();
