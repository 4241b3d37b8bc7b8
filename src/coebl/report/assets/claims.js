// Claims: opened and closed, with a chart and a list of their checks.

/** The checks that a verdict rests on, as a list: a table would not fit on a phone. */
function checkList(checks) {
  const counts = unique(checks.map(({ outcome }) => outcome))
    .map((outcome) => `${checks.filter((check) => check.outcome === outcome).length} ${outcome}`);
  const title = `${checks.length === 1 ? "One check" : `All ${checks.length} checks`}: ${counts.join(", ")}`;
  const items = checks.map(({ subject, said = subject, quantity, measured, low, high, wanted, verdict, outcome, before }) => {
    const number = isKnown(measured) ? ` ${withEnds(measured, low, high)}` : "";
    const word = element("b", { class: PAGE.verdictKinds[verdict] ?? "not-testable" }, outcome ?? "");
    const mark = before ? ` (before correction only: ${before})` : "";
    const found = element("span", {}, word, `${mark} · ${quantity ?? ""}${number}, wanted: ${wanted ?? ""}`);
    return element("li", {}, element("span", { class: "subject" }, said ?? ""), found);
  });
  const scroll = { class: "checks-scroll", tabindex: "0", role: "region", "aria-label": title };
  return [element("h5", {}, title), element("div", scroll, element("ol", {}, ...items))];
}

/** The measured numbers of a claim beside their thresholds. */
function makeChecks(verdict) {
  const wide = chartOf(`checks-${verdict.place}`).clientWidth;
  const isNarrow = wide < 500;
  const rows = verdict.checks.map((check, at) => // on a phone, by their numbers in the list
    ({ ...check, subject: isNarrow ? `${at + 1}.` : `${check.said ?? check.subject}: ${check.wanted}` }));
  const height = 110 + 19 * unique(rows.map(({ subject }) => subject)).length;
  const sizes = rows.flatMap(({ measured, threshold }) => [measured, threshold]).filter(Boolean).map(Math.abs).sort((a, b) => a - b);
  const isWide = sizes.length && sizes.at(-1) > 30 * Math.max(sizes[Math.floor(sizes.length / 2)], 1e-12);
  const metric = PAGE.metrics.find(({ name }) => name === verdict.metric);
  const shown = unique(verdict.checks.map(({ quantity }) => quantity)).filter(Boolean).join(", or ");
  return {
    chart: "checks",
    values: {
      rows, width: "container", height, labelLimit: 0.45 * wide, legendColumns: isNarrow ? 2 : 4, xType: isWide ? "symlog" : "linear", xZero: isWide ? undefined : false,
      xTitle: inLines(`${shown}${metric ? ` of ${metric.title}` : ""}, with its 95 % interval. Upright line: the threshold, or the published value`, wide / 12),
    },
    text: `${verdict.id}: ${verdict.checks.length} checks with their thresholds; the list below says the same.`,
    title: `${verdict.id}, ${verdict.variant}: ${verdict.verdict}`, note: verdict.text ?? "",
    alone: { height, labelLimit: 320, legendColumns: 4 },
  };
}

/** Draw the checks of a claim when it is opened, and list them when it is first. */
function showChecks(place) {
  const verdict = { ...PAGE.verdicts[place.dataset.verdict], place: place.dataset.verdict };
  const id = `checks-${verdict.place}`;
  if (!place.childElementCount) {
    const chart = { class: "chart", id: `${id}-chart`, role: "img", tabindex: "0", "aria-label": verdict.id };
    const buttons = ["svg", "png"].map((kind) =>
      element("button", { type: "button", class: "quiet", id: `${id}-${kind}` }, kind.toUpperCase()));
    place.append(element("div", chart), element("p", { class: "tools" }, ...buttons), ...checkList(verdict.checks));
    connectPictures(id, () => [verdict.id, verdict.variant]);
  }
  planChart(id, () => makeChecks(verdict));
}

function setOpen(button, open) {
  const detail = byId(button.getAttribute("aria-controls"));
  button.setAttribute("aria-expanded", String(open));
  detail.hidden = !open;
  if (open) detail.querySelectorAll(".checks").forEach(showChecks);
}

function connectClaims() {
  const buttons = [...document.querySelectorAll(".claim-button")];
  const isOpen = (button) => button.getAttribute("aria-expanded") === "true";
  const label = () => { byId("open-claims").textContent = buttons.every(isOpen) ? "Close all" : "Open all"; };
  const toggle = (button) => { setOpen(button, !isOpen(button)); label(); writeAddress(); };
  for (const button of buttons) {
    button.closest("tr").addEventListener("click", ({ target }) => {
      if (target.closest("button") === button || target.closest("td")) toggle(button);
    });
  }
  on("open-claims", "click", () => {
    const open = !buttons.every(isOpen);
    buttons.forEach((button) => setOpen(button, open));
    label();
    writeAddress();
  });
  on("save-verdicts", "click", () => {
    save(nameOf(["verdicts"], "json"), "application/json", JSON.stringify(PAGE.verdicts, null, 1) + "\n");
  });
}
