// @ts-check
/** Points of a manifold in three dimensions, coloured by the factors that GeoManCEr has found. */
import { json } from "#lib/api.js";
import { chart, hasWebGL } from "#lib/charts.js";
import { oneOf, select } from "#lib/controls.js";
import { el, fill, plainTable, section } from "#lib/dom.js";
import { number } from "#lib/format.js";
import { colour, onChange } from "#lib/theme.js";

/** @typedef {any} Context */
/** @typedef {{points: number[][], explained: number}} View */
/**
 * @typedef {object} Found
 * @property {Record<string, View>} views
 * @property {Record<string, number[]>} colours
 * @property {number} sampled
 * @property {number} of
 * @property {number} dim
 * @property {number} count
 * @property {Record<string, string>} facts
 * @property {number[]} spectrum
 */

export const title = "Geometry";
const EYE = [1.1, 1.1, 0.7];
/** Blue to orange: distinct on both backgrounds, also for colour-blind readers. */
const SCALE = [[0, "#2a78cf"], [0.5, "#a3a7ad"], [1, "#dd7422"]];

/** @param {Context} context */
export async function show(context) {
  const { state, index, root, signal } = context;
  const points = state.points ?? index.points[0]?.id;
  if (!points) {
    fill(root, el("h1", {}, "Geometry"), el("p", {}, "This folder has no factors of a manifold. Find some with ", el("code", {}, "unweave geomancer POINTS --out factors.npz"), "."));
    return;
  }
  /** @type {Found} */
  const found = await json("geometry", { points }, signal);
  const views = Object.keys(found.views);
  const colours = Object.keys(found.colours);
  const chosen = () => ({ view: views.includes(state.view) ? state.view : views[0], by: colours.includes(state.colour) ? state.colour : colours[0] });
  const host = el("div", { id: "cloud" });
  const note = el("p", { class: "note", role: "status" });
  const options = index.points.map((/** @type {{id: string}} */ each) => ({ value: each.id, label: each.id }));
  const controls = el(
    "div",
    { class: "controls" },
    views.length > 1 ? named("Seen along", oneOf("Seen along", views.map(option), chosen().view, (view) => (context.set({ view }, { push: true }), void draw()))) : null,
    named("Coloured by", oneOf("Coloured by", colours.map(option), chosen().by, (by) => (context.set({ colour: by }, { push: true }), void draw()))),
  );
  fill(
    root,
    el("div", { class: "head" }, el("h1", {}, points), options.length > 1 ? select("Points", options, points, (id) => context.go("geometry", { points: id })) : null),
    el("p", { class: "note" }, `${number(found.sampled)} of ${number(found.of)} points in ${number(found.dim)} dimensions${found.sampled < found.of ? ", drawn at random" : ""}.`),
    controls,
    note,
    host,
    el("div", { class: "two" }, section("What was found", "", plainTable("What was found", ["", ""], Object.entries(found.facts), { hideCaption: true })), spectrum(context, found)),
  );
  const specified = () => spec(context, found, chosen());
  note.textContent = sentence(found, chosen());
  const drawing = chart(host, specified(), signal);
  const draw = async () => {
    note.textContent = sentence(found, chosen());
    await (await drawing).update(specified());
  };
  onChange(() => void draw(), signal);
  drawing.then(() => turned(context, host), (error) => context.fail(error.message));
}

/** Store the viewpoint in the address. @param {Context} context @param {HTMLElement} host */
function turned(context, host) {
  const figure = /** @type {any} */ (host.querySelector(".chart"));
  figure?.on?.("plotly_relayout", (/** @type {any} */ change) => {
    const eye = change["scene.camera"]?.eye;
    if (eye) context.set({ eye: [eye.x, eye.y, eye.z].map((value) => value.toFixed(2)).join(",") });
  });
}

/** @param {string} value */
function option(value) {
  return { value, label: value };
}

/** @param {string} label @param {HTMLElement} control */
function named(label, control) {
  return el("div", { class: "field" }, el("span", { "aria-hidden": "true" }, label), control);
}

/** @param {Found} found @param {{view: string, by: string}} chosen */
function sentence(found, { view, by }) {
  const share = Math.round(100 * found.views[view].explained);
  const along = view.startsWith("factor") ? `the three directions in which ${view} moves most and the others least` : "the first three principal components";
  const flat = hasWebGL() ? "" : " This browser has no WebGL, so only the first two of the three are shown.";
  const shown = `The plot shows ${along}: ${share} % of the variance.${flat}`;
  if (!by.startsWith("factor")) return `${shown} The colour is the ${by}.`;
  return `${shown} The colour is the position of a point along ${by}: it changes smoothly in the view of that factor and is mixed in the view of another.`;
}

/** @param {Context} context @param {Found} found @param {{view: string, by: string}} chosen */
function spec(context, found, { view, by }) {
  const { points } = found.views[view];
  const values = found.colours[by];
  const at = (/** @type {number} */ axis) => points.map((point) => point[axis]);
  const marker = { size: 3, color: values, colorscale: SCALE, showscale: true, colorbar: { title: { text: by, side: "right" }, thickness: 12, outlinewidth: 0 } };
  const deep = hasWebGL();
  const shared = { x: at(0), y: at(1), mode: "markers", marker: deep ? marker : { ...marker, size: 5 }, hovertemplate: `${by}: %{marker.color:.3f}<extra></extra>` };
  const eye = (context.state.eye ?? "").split(",").map(Number);
  const [x, y, z] = eye.length === 3 && eye.every(Number.isFinite) ? eye : EYE;
  const axis = { title: { text: "" }, showticklabels: false, gridcolor: colour("line"), zerolinecolor: colour("line"), showbackground: false, showspikes: false };
  const scene = { xaxis: axis, yaxis: axis, zaxis: axis, aspectmode: "data", camera: { eye: { x, y, z } }, uirevision: "kept" };
  return {
    traces: [deep ? { type: "scatter3d", ...shared, z: at(2) } : { type: "scatter", ...shared }],
    layout: deep ? { scene, margin: { l: 0, r: 0, t: 0, b: 0 } } : { yaxis: { scaleanchor: "x" } },
    label: `${deep ? "A three-dimensional" : "A"} scatter plot of ${number(points.length)} points, seen along ${view} and coloured by ${by}`,
    table: { head: ["x", "y", "z", by], rows: points.map((point, i) => [...point, values[i]].map((value) => number(value, 3))) },
    height: 480,
  };
}

/** @param {Context} context @param {Found} found */
function spectrum(context, found) {
  const host = el("div");
  const values = found.spectrum.map((value) => Math.max(value, 1e-12));
  const below = found.count - 1;
  const side = (/** @type {boolean} */ under) => values.map((value, i) => (i < below === under ? value : null));
  const traces = [
    { x: values.map((_, i) => i + 1), y: side(true), type: "scatter", mode: "markers", name: "parallel", marker: { size: 9, color: colour("alert"), symbol: "diamond" } },
    { x: values.map((_, i) => i + 1), y: side(false), type: "scatter", mode: "markers", name: "the rest", marker: { size: 8, color: colour("accent") } },
  ];
  void chart(host, { traces, layout: { yaxis: { type: "log", title: "eigenvalue", exponentformat: "power" }, xaxis: { dtick: 1 } }, label: "The smallest eigenvalues of the connection Laplacian", table: { head: ["", "eigenvalue"], rows: values.map((value, i) => [i + 1, number(value, 3)]) }, height: 240 }, context.signal);
  return section("Spectrum", "The number of factors is one more than the number of eigenvalues below the gap.", host);
}
