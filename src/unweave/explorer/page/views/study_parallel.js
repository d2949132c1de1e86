// @ts-check
/** Parallel coordinates: each run is a line through its settings and scores; a range on an axis selects runs. */
import { chart, hasWebGL, numbersOf } from "#lib/charts.js";
import { check, select } from "#lib/controls.js";
import { el, fill } from "#lib/dom.js";
import { counted, fixed, number, placesOf, setting, shortName } from "#lib/format.js";
import { arrow, columnsOf, metricsOf, sampled } from "#lib/frame.js";
import { link } from "#lib/router.js";
import { colour as themeColour } from "#lib/theme.js";

/** @typedef {import("#views/study.js").Model} Model */

const MOST_LINES = 5000;
const FIRST_METRICS = 5;
const MOST_NAMES = 24;
const ORDER = new Intl.Collator("en", { numeric: true });

/** @type {import("#views/study.js").Part} */
export function drawParallel(panel, model, context, signal) {
  const { state } = context;
  const metrics = metricsOf(model.frame);
  const settings = columnsOf(model.frame, ["text", "number", "seed"]).map((column) => column.name).filter((name) => name !== "name" && fits(model, name));
  const chosen = () => {
    const wanted = state.axes ? state.axes.split(",") : [...settings.filter((name) => !["seed", "step", "seconds"].includes(name)), ...metrics.slice(0, FIRST_METRICS)];
    return [...settings, ...metrics].filter((name) => wanted.includes(name));
  };
  const colour = () => (metrics.includes(state.line) ? state.line : metrics[0] ?? settings[0]);
  const host = el("div");
  const note = el("p", { class: "note" });
  let leaving = new AbortController();
  const draw = () => {
    leaving.abort();
    leaving = new AbortController();
    const names = chosen();
    const scores = [colour(), ...names].filter((name) => metrics.includes(name));
    const whole = model.rows.filter((row) => scores.every((name) => typeof model.frame.rows[name][row] === "number"));
    const shown = sampled(whole, MOST_LINES);
    const lost = model.rows.length - whole.length;
    const without = lost ? ` ${counted(lost, "run")} without all of these scores ${lost > 1 ? "are" : "is"} left out.` : "";
    const count = (shown.length < whole.length ? ` ${number(shown.length)} of ${counted(whole.length, "run")} are shown, drawn at random.` : "") + without;
    note.textContent = `Each line is a run, coloured by ${colour()}. Drag along an axis to select the runs in a range; click the axis to clear the range.${count}`;
    if (!shown.length) {
      note.textContent = "No run has all of these scores. Select fewer axes.";
      fill(host);
      return;
    }
    const spec = parallel(model, shown, names, colour(), rangesOf(state.ranges));
    if (!hasWebGL()) {
      note.textContent = `Lines cannot be drawn: this browser has no WebGL. Their numbers are below.${count}`;
      fill(host, numbersOf(spec));
      return;
    }
    spec.onrestyle = (values) => remember(values, names, context);
    void chart(host, spec, AbortSignal.any([signal, leaving.signal])).catch((error) => context.fail(error.message));
  };
  const toggle = (/** @type {string} */ name, /** @type {boolean} */ on) => {
    const wanted = new Set(chosen());
    if (on) wanted.add(name);
    else wanted.delete(name);
    context.set({ axes: [...settings, ...metrics].filter((one) => wanted.has(one)).join(",") }, { push: true });
    draw();
  };
  const boxes = [...settings, ...metrics].map((name) => check(name, chosen().includes(name), (on) => toggle(name, on)));
  const lines = select("Colour", metrics.length ? metrics : settings, colour(), (value) => {
    context.set({ line: value }, { push: true });
    draw();
  });
  fill(panel, el("div", { class: "controls" }, lines, el("fieldset", { class: "boxes" }, el("legend", {}, "Axes"), boxes)), note, host);
  draw();
  return (next) => {
    model = next;
    draw();
  };
}

/** Whether an axis can show the values of a column. @param {Model} model @param {string} name */
function fits(model, name) {
  const values = model.frame.rows[name];
  return values.every((value) => value === null || typeof value === "number") || new Set(values).size <= MOST_NAMES;
}

/**
 * @param {Model} model
 * @param {number[]} shown
 * @param {string[]} names
 * @param {string} colour
 * @param {Record<string, [number, number]>} ranges
 * @returns {import("#lib/charts.js").Spec}
 */
function parallel(model, shown, names, colour, ranges) {
  const { rows } = model.frame;
  const dimensions = names.map((name) => ({ ...dimension(shown.map((row) => rows[name][row]), name + arrow(model.frame, name)), constraintrange: ranges[name] }));
  const values = shown.map((row) => (typeof rows[colour][row] === "number" ? rows[colour][row] : null));
  return {
    height: 420,
    label: `Parallel coordinates of ${counted(shown.length, "run")}: ${names.join(", ")}`,
    traces: [
      {
        type: "parcoords",
        dimensions,
        line: { color: values, colorscale: "Viridis", showscale: true, colorbar: { title: { text: colour, side: "right" }, thickness: 12 } },
        unselected: { line: { color: themeColour("line"), opacity: 0.5 } },
        labelangle: names.length > 6 ? -12 : 0,
        labelfont: { size: 12 },
        tickfont: { size: 11 },
      },
    ],
    layout: { margin: { l: firstWidth(dimensions[0]), r: 40, t: 70, b: 24 } },
    table: {
      head: ["run", ...names],
      rows: shown.map((row) => [el("a", { href: link("run", { run: rows.id[row] }) }, shortName(rows.id[row])), ...names.map((name) => cell(model, name, row))]),
    },
  };
}

/** The left margin that the labels of the first axis need. @param {any} axis */
function firstWidth(axis) {
  const longest = Math.max(0, ...(axis?.ticktext ?? []).map((/** @type {string} */ text) => text.length));
  return Math.min(260, Math.max(70, 7 * longest + 20));
}

/** @param {Model} model @param {string} name @param {number} row */
function cell(model, name, row) {
  const value = model.frame.rows[name][row];
  const score = model.frame.columns.find((column) => column.name === name)?.kind === "score";
  return score ? fixed(value, placesOf(model.frame.rows[name])) : setting(value);
}

/** @param {any[]} values @param {string} label */
function dimension(values, label) {
  const levels = [...new Set(values.filter((value) => value !== null))].sort((a, b) => a - b);
  const lacking = values.some((value) => value === null); // a setting that a method does not have is a separate value
  if (values.every((value) => value === null || typeof value === "number") && !(lacking && levels.length < MOST_NAMES)) {
    const numbers = values.filter((value) => value !== null);
    const low = Math.min(...numbers);
    const spread = levels.length > 2 && levels[0] > 0 && levels[levels.length - 1] / levels[0] > 50 && levels.length <= 12;
    if (spread) return { label: `${label} (log)`, values: values.map((value) => Math.log10(value ?? low)), tickvals: levels.map((x) => Math.log10(x)), ticktext: levels.map((x) => number(x)) };
    return { label, values: values.map((value) => value ?? low), ...(levels.length <= 8 ? { tickvals: levels, ticktext: levels.map((x) => number(x)) } : {}) };
  }
  const names = [...new Set(values.map(setting))].sort(ORDER.compare);
  return { label, values: values.map((value) => names.indexOf(setting(value))), tickvals: names.map((_, i) => i), ticktext: names, range: [-0.1, names.length - 0.9] };
}

/**
 * The ranges of axes in the address: `mig:0.1:0.4,beta:0:1`.
 * @param {string | undefined} text
 * @returns {Record<string, [number, number]>}
 */
function rangesOf(text) {
  const found = (text ?? "").split(",").map((part) => part.split(":")).filter((part) => part.length === 3);
  return Object.fromEntries(found.map(([name, low, high]) => [name, [Number(low), Number(high)]]));
}

/** @param {any} values @param {string[]} names @param {any} context */
function remember(values, names, context) {
  const ranges = rangesOf(context.state.ranges);
  for (const [key, value] of Object.entries(values[0] ?? {})) {
    const place = /^dimensions\[(\d+)\]\.constraintrange$/.exec(key);
    if (!place) continue;
    const range = Array.isArray(value) ? (Array.isArray(value[0]) ? value[0] : value) : null;
    if (range && typeof range[0] === "number") ranges[names[Number(place[1])]] = [Number(range[0].toPrecision(4)), Number(range[1].toPrecision(4))];
    else delete ranges[names[Number(place[1])]];
  }
  context.set({ ranges: Object.entries(ranges).map(([name, [low, high]]) => `${name}:${low}:${high}`).join(",") });
}
