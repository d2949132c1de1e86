// @ts-check
/** One metric against another: each run is a point. */
import { chart } from "#lib/charts.js";
import { select } from "#lib/controls.js";
import { el, fill } from "#lib/dom.js";
import { counted, fixed, number, placesOf, setting, shortName } from "#lib/format.js";
import { arrow, columnsOf, metricsOf, rankCorrelation, sampled } from "#lib/frame.js";
import { link } from "#lib/router.js";
import { COLOURS, MARKERS } from "#lib/theme.js";

/** @typedef {import("#views/study.js").Model} Model */

const MOST_POINTS = 3000;

/** @type {import("#views/study.js").Part} */
export function drawPairs(panel, model, context, signal) {
  const { state } = context;
  const metrics = metricsOf(model.frame);
  if (metrics.length < 2) {
    panel.append(el("p", {}, "This chart needs scores of at least two metrics. Score the runs with ", el("code", {}, "unweave evaluate"), "."));
    return () => {};
  }
  const colours = columnsOf(model.frame, ["text", "number", "seed", "state"]).map((column) => column.name).filter((name) => name !== "name");
  const choice = () => ({
    x: metrics.includes(state.x) ? state.x : metrics[0],
    y: metrics.includes(state.y) ? state.y : metrics[1],
    colour: ["none", ...colours].includes(state.colour) ? state.colour : (["method", "data"].find((name) => colours.includes(name)) ?? "none"),
  });
  const host = el("div", { class: "square" });
  const note = el("p", { class: "note" });
  let leaving = new AbortController();
  const draw = () => {
    leaving.abort();
    leaving = new AbortController();
    const { words, spec } = scatter(model, choice(), context);
    note.textContent = words;
    void chart(host, spec, AbortSignal.any([signal, leaving.signal])).catch((error) => context.fail(error.message));
  };
  const chosen = (/** @type {string} */ name) => (/** @type {string} */ value) => {
    context.set({ [name]: value }, { push: true });
    draw();
  };
  const named = metrics.map((name) => ({ value: name, label: name + arrow(model.frame, name) }));
  const now = choice();
  const fields = [select("Horizontal axis", named, now.x, chosen("x")), select("Vertical axis", named, now.y, chosen("y")), select("Colour", ["none", ...colours], now.colour, chosen("colour"))];
  fill(panel, el("div", { class: "controls" }, fields), note, host);
  draw();
  return (next) => {
    model = next;
    draw();
  };
}

/** @param {Model} model @param {{x: string, y: string, colour: string}} choice @param {any} context */
function scatter(model, { x, y, colour }, context) {
  const { rows } = model.frame;
  const both = model.rows.filter((row) => typeof rows[x][row] === "number" && typeof rows[y][row] === "number");
  const shown = sampled(both, MOST_POINTS);
  const correlation = rankCorrelation(both.map((row) => rows[x][row]), both.map((row) => rows[y][row]));
  const count = shown.length < both.length ? ` ${number(shown.length)} of ${counted(both.length, "run")} are shown, drawn at random.` : "";
  const words = `Each point is a run; click it to open the run. Spearman's rank correlation over ${counted(both.length, "run")}: ${fixed(correlation, 2)}.${count}`;
  const [px, py] = [placesOf(rows[x]), placesOf(rows[y])];
  return {
    words,
    spec: {
      traces: tracesOf(shown, rows, x, y, colour),
      height: 480,
      label: `${y} against ${x}, one point per run. Rank correlation ${fixed(correlation, 2)}.`,
      layout: { xaxis: { title: x + arrow(model.frame, x) }, yaxis: { title: y + arrow(model.frame, y) }, showlegend: colour !== "none", legend: { title: { text: colour }, orientation: "v", x: 1.01, y: 1, yanchor: "top" } },
      table: {
        head: ["run", ...(colour === "none" ? [] : [colour]), x, y],
        rows: shown.map((row) => [el("a", { href: link("run", { run: rows.id[row] }) }, shortName(rows.id[row])), ...(colour === "none" ? [] : [setting(rows[colour][row])]), fixed(rows[x][row], px), fixed(rows[y][row], py)]),
      },
      onclick: (/** @type {any} */ point) => point.customdata && context.go("run", { run: point.customdata }),
    },
  };
}

/** @param {number[]} shown @param {Record<string, any[]>} rows @param {string} x @param {string} y @param {string} colour */
function tracesOf(shown, rows, x, y, colour) {
  const values = colour === "none" ? [""] : [...new Set(shown.map((row) => rows[colour][row]))].sort((a, b) => (a < b ? -1 : 1));
  const trace = (/** @type {number[]} */ some, /** @type {string} */ name, /** @type {any} */ marker) => ({
    type: "scatter",
    mode: "markers",
    name,
    x: some.map((row) => rows[x][row]),
    y: some.map((row) => rows[y][row]),
    customdata: some.map((row) => rows.id[row]),
    marker: { size: 8, opacity: 0.75, ...marker },
    hovertemplate: `%{customdata}<br>${x} %{x:.4g}<br>${y} %{y:.4g}<extra></extra>`,
  });
  if (values.length > COLOURS.length && values.every((value) => value === null || typeof value === "number")) {
    return [trace(shown, colour, { color: shown.map((row) => rows[colour][row]), colorscale: "Viridis", showscale: true, colorbar: { title: { text: colour }, thickness: 12 } })];
  }
  return values.map((value, place) => {
    const some = colour === "none" ? shown : shown.filter((row) => rows[colour][row] === value);
    return trace(some, setting(value), { color: COLOURS[place % COLOURS.length], symbol: MARKERS[(place + Math.floor(place / COLOURS.length)) % MARKERS.length] });
  });
}
