// @ts-check
/** Charts by plotly in the colours of the page, each with its numbers as a table. plotly is loaded with the first chart. */
import { script } from "#lib/api.js";
import { el, fill, later, plainTable } from "#lib/dom.js";
import { number } from "#lib/format.js";
import { colour, onChange } from "#lib/theme.js";

/** @typedef {import("#lib/dom.js").Child} Child */
/**
 * @typedef {object} Spec
 * @property {any[]} traces
 * @property {any} [layout]
 * @property {string} label a description of the chart, for screen readers
 * @property {{head: string[], rows: Child[][]}} [table] the numbers of the chart
 * @property {number} [height]
 * @property {(point: any) => void} [onclick]
 * @property {(values: any) => void} [onrestyle]
 */

const MOST_ROWS = 500;
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

/** @returns {Promise<any>} */
export async function plotly() {
  await script("plotly.js");
  return /** @type {any} */ (window).Plotly;
}

/** @type {boolean | undefined} */
let depth;

/** Whether the browser has WebGL; tried once, because a browser allows few such canvases. */
export function hasWebGL() {
  const tried = document.createElement("canvas");
  depth ??= Boolean(tried.getContext("webgl2") ?? tried.getContext("webgl"));
  return depth;
}

/**
 * Draw a chart into an element, and redraw it when the colours or the width of the page change.
 * @param {HTMLElement} host
 * @param {Spec} spec
 * @param {AbortSignal} signal
 * @returns {Promise<{update: (spec: Spec) => Promise<void>}>}
 */
export async function chart(host, spec, signal) {
  const figure = el("div", { class: "chart", role: "img", "aria-label": spec.label });
  const numbers = el("div");
  const waiting = el("p", { class: "quiet" }, "Drawing …");
  figure.append(waiting);
  fill(host, figure, numbers);
  figure.style.height = `${spec.height ?? 320}px`;
  const Plotly = await plotly().catch((error) => {
    waiting.textContent = `No chart: ${error.message}`;
    throw error;
  });
  waiting.remove();
  let now = spec;
  let width = 0;
  let heard = false;
  const draw = async () => {
    if (signal.aborted || !figure.isConnected) return;
    width = figure.clientWidth;
    figure.setAttribute("aria-label", now.label);
    figure.style.height = `${now.height ?? 320}px`;
    await Plotly.react(figure, now.traces, themed(now), { displayModeBar: false, responsive: false });
    if (!heard && !signal.aborted) listen(figure, () => now); // a figure accepts listeners only after it is drawn
    heard = true;
  };
  await draw();
  if (signal.aborted) {
    Plotly.purge(figure);
    return { update: async () => {} };
  }
  fill(numbers, numbersOf(spec));
  const watcher = new ResizeObserver(later(60, () => figure.clientWidth !== width && void draw()));
  watcher.observe(figure);
  onChange(() => void draw(), signal);
  signal.addEventListener("abort", () => {
    watcher.disconnect();
    Plotly.purge(figure);
  });
  return {
    update: async (next) => {
      now = next;
      fill(numbers, numbersOf(next));
      await draw();
    },
  };
}

/** @param {any} figure @param {() => Spec} spec */
function listen(figure, spec) {
  figure.on("plotly_click", (/** @type {any} */ event) => {
    if (event.points?.length) spec().onclick?.(event.points[0]);
  });
  figure.on("plotly_restyle", (/** @type {any} */ values) => spec().onrestyle?.(values));
}

/** The numbers of a chart as a table that the user can open. @param {Spec} spec */
export function numbersOf(spec) {
  const table = spec.table;
  if (!table) return null;
  const details = el("details", { class: "numbers" }, el("summary", {}, "The numbers"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    const rows = table.rows.slice(0, MOST_ROWS);
    const more = table.rows.length > rows.length ? el("p", { class: "note" }, `The first ${number(MOST_ROWS)} of ${number(table.rows.length)} rows.`) : null;
    details.append(plainTable(spec.label, table.head, rows, { hideCaption: true }), ...(more ? [more] : []));
  });
  return details;
}

/**
 * The layout in the colours of the page, for all axes that it names.
 * @param {Spec} spec
 */
function themed(spec) {
  const layout = spec.layout ?? {};
  const line = colour("line");
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, tickcolor: line, automargin: true, title: { standoff: 8 } };
  /** @type {any} */
  const full = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: FONT, size: 12, color: colour("ink") },
    margin: { l: 48, r: 12, t: 12, b: 40 },
    hoverlabel: { bgcolor: colour("wash"), bordercolor: line, font: { family: FONT, color: colour("ink") } },
    hovermode: "closest",
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    ...layout,
  };
  for (const name of new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))])) {
    const own = layout[name] ?? {};
    full[name] = { ...axis, ...own, title: { ...axis.title, ...(typeof own.title === "string" ? { text: own.title } : own.title) } };
  }
  return full;
}
