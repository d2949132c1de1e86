// @ts-check
/** Cells × seeds: whether a score depends on the setting or on the seed; or the state of each run. */
import { select } from "#lib/controls.js";
import { el, fill } from "#lib/dom.js";
import { fixed, number, placesOf, setting } from "#lib/format.js";
import { arrow, metricsOf } from "#lib/frame.js";
import { link } from "#lib/router.js";
import { partialWords } from "#views/study_filtered.js";

/** @typedef {import("#views/study.js").Model} Model */

const STATE = "state";
const MOST_CELLS = 300;
const MOST_SEEDS = 60;

/** @type {import("#views/study.js").Part} */
export function drawSeeds(panel, model, context) {
  const { state } = context;
  const metrics = metricsOf(model.frame);
  const what = () => (state.cell === STATE || metrics.includes(state.cell) ? state.cell : (metrics[0] ?? STATE));
  const host = el("div");
  const note = el("p", { class: "note" });
  const draw = () => fill(host, map(model, what(), note));
  const options = [...metrics.map((name) => ({ value: name, label: name + arrow(model.frame, name) })), { value: STATE, label: "state of the run" }];
  fill(panel, el("div", { class: "controls" }, select("Colour", options, what(), (value) => {
    context.set({ cell: value }, { push: true });
    draw();
  })), note, host);
  draw();
  return (next) => {
    model = next;
    draw();
  };
}

/** @param {Model} model @param {string} what @param {HTMLElement} note */
function map(model, what, note) {
  const { rows } = model.frame;
  const seedOf = (/** @type {number} */ row) => (rows.seed ? rows.seed[row] : 0);
  const all = model.members.map((_, group) => group).filter((group) => model.members[group].length);
  const cells = all.slice(0, MOST_CELLS);
  const seeds = [...new Set(cells.flatMap((group) => model.members[group].map(seedOf)))].sort((a, b) => a - b).slice(0, MOST_SEEDS);
  const values = what === STATE ? [] : cells.flatMap((group) => model.members[group].map((row) => rows[what][row])).filter((value) => typeof value === "number");
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const places = what === STATE ? 0 : placesOf(values);
  const left = all.length > cells.length ? ` The first ${number(MOST_CELLS)} of ${number(all.length)} cells are shown; filter to see others.` : "";
  note.textContent = what === STATE ? `Each field is a run, with its state. Click a field to open the run.${left}` : `Each field is a run. The stronger its colour, the higher its score: from ${fixed(low, places)} (no colour) to ${fixed(high, places)} (full colour). Click a field to open the run.${left}`;
  const strength = (/** @type {number} */ value) => (high > low ? (value - low) / (high - low) : 0.5);
  const body = cells.map((group) => {
    const bySeed = new Map(model.members[group].map((row) => [seedOf(row), row]));
    const name = model.groups.groups[group].name;
    const partial = partialWords(model, group);
    return el("tr", {}, el("th", { scope: "row" }, name, partial ? el("small", { class: "quiet" }, ` ${partial}`) : null), seeds.map((seed) => field(bySeed.get(seed), rows, what, strength, places, `${name}, seed ${seed}`)));
  });
  const head = el("tr", {}, el("th", { scope: "col" }, "cell"), seeds.map((seed) => el("th", { scope: "col" }, `seed ${setting(seed)}`)));
  const caption = `${what === STATE ? "State" : what} of each cell and seed`;
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, el("table", { class: "heat" }, el("caption", { class: "unseen" }, caption), el("thead", {}, head), el("tbody", {}, body)));
}

/**
 * @param {number | undefined} row
 * @param {Record<string, any[]>} rows
 * @param {string} what
 * @param {(value: number) => number} strength
 * @param {number} places
 * @param {string} name
 */
function field(row, rows, what, strength, places, name) {
  if (row === undefined) return el("td", {}, el("span", { class: "unseen" }, "no run"));
  const value = rows[what]?.[row];
  const words = what === STATE ? setting(value) : fixed(value, places);
  const shade = typeof value === "number" ? `background: rgb(var(--heat) / ${(strength(value) * 0.55).toFixed(3)})` : null;
  const dot = what === STATE ? el("i", { class: `dot ${value}` }) : null;
  return el("td", { style: shade }, el("a", { href: link("run", { run: rows.id[row] }), "aria-label": `${name}: ${words}` }, dot, words));
}
