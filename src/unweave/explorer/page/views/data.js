// @ts-check
/** A data set: its factors one at a time, distances between their values under a loss, and whether a VAE can learn them. */
import { address, has, isStatic, json } from "#lib/api.js";
import { select } from "#lib/controls.js";
import { el, fill, plainTable, section } from "#lib/dom.js";
import { counted, fixed, number, setting } from "#lib/format.js";
import { matrix } from "#lib/matrices.js";

/** @typedef {any} Context */
/** @typedef {{name: string, size: number}} Factor */
/**
 * @typedef {object} About
 * @property {string} name
 * @property {Record<string, any>} options
 * @property {number} images
 * @property {number[]} shape
 * @property {Factor[]} factors
 * @property {string} kind
 * @property {boolean} grid
 * @property {boolean} labelled
 * @property {string} loss
 * @property {boolean} standardise
 */

export const title = "Data";
const EVERY = 700;
const MOST_VALUES = 128;
const COLUMNS = 16;
const CELL = 46;
/** @type {Record<string, string>} */
const LEVELS = {
  factors: "ground truth",
  data: "images",
  latents: "codes",
  posteriors: "posteriors",
  reconstructions: "reconstructions",
};

/** @param {Context} context */
export async function show(context) {
  const { state, root, signal } = context;
  const { sets, run } = await dataSets(context);
  if (!run) {
    fill(root, el("h1", {}, "Data"), el("p", {}, "This folder has no run whose data set can be shown."));
    return;
  }
  /** @type {About} */
  const about = await json("data", { run }, signal);
  const parts = [perceived(context, run, about)];
  if (about.kind === "images" && about.grid && about.factors.length) parts.push(traversals(context, run, about));
  if (about.grid && about.factors.length) parts.push(distances(context, run, about));
  if (about.kind === "images") parts.push(samples(context, run));
  fill(root, heading(context, run, about, sets), ...parts);
}

/**
 * The data sets of the runs in the folder, each with a run on it, and the run whose data set is shown.
 * @param {Context} context
 * @returns {Promise<{sets: {name: string, run: string}[], run: string | undefined}>}
 */
async function dataSets({ state, index, signal }) {
  const study = isStatic() ? (index.studies[0]?.id ?? ".") : ".";
  const { rows } = await json("table", { study }, signal);
  const nameOf = (/** @type {number} */ place) => String(rows.data?.[place] ?? "data");
  /** @type {Map<string, string>} */
  const found = new Map();
  rows.id.forEach((/** @type {string} */ run, /** @type {number} */ place) => {
    const name = nameOf(place);
    if ((!found.has(name) || run === state.run) && has("data", { run })) found.set(name, run);
  });
  const sets = [...found].map(([name, run]) => ({ name, run }));
  if (state.run && has("data", { run: state.run })) return { sets, run: state.run };
  // An export has the page of each data set for one of its runs.
  return { sets, run: found.get(nameOf(rows.id.indexOf(state.run))) ?? sets[0]?.run };
}

/** @param {Context} context @param {string} run @param {About} about @param {{name: string, run: string}[]} sets */
function heading(context, run, about, sets) {
  const options = Object.entries(about.options).map(([name, value]) => `${name} ${setting(value)}`).join(", ");
  const what = about.kind === "images" ? `images of ${about.shape.slice(0, 2).join(" × ")}` : `vectors of ${number(about.shape[0])} features`;
  const chosen = sets.some((set) => set.run === run) ? run : "";
  const options_ = sets.map((set) => ({ value: set.run, label: set.name }));
  return el(
    "div",
    {},
    el(
      "div",
      { class: "head" },
      el("h1", {}, about.name),
      sets.length > 1 ? select("Data set", chosen ? options_ : [{ value: "", label: about.name }, ...options_], chosen, (value) => value && context.go("data", { study: context.state.study, run: value })) : null,
    ),
    el("p", { class: "note" }, `${number(about.images)} ${what}${options ? `, ${options}` : ""}; ${about.labelled ? counted(about.factors.length, "factor") : "its factors are unknown"}. As seen by the loss ${about.loss}${about.standardise ? " on standardised values" : ""} of `, el("a", { href: `#/run?run=${encodeURIComponent(run)}` }, run), "."),
  );
}

/** @param {Context} context @param {string} run @param {About} about */
function perceived(context, run, about) {
  const body = el("div", { id: "perceived", role: "status" }, el("p", { class: "quiet" }, "Measuring …"));
  const watch = async () => {
    try {
      const found = await json("data/perceive", { run }, context.signal);
      if (context.signal.aborted) return;
      if (found.state === "computing") {
        fill(body, el("p", { class: "quiet" }, `Measuring: ${found.step} (${Math.round(100 * found.share)} %) …`));
        window.setTimeout(watch, EVERY);
        return;
      }
      fill(body, found.state === "failed" ? el("p", { class: "warning" }, found.error) : verdict(found));
    } catch (error) {
      if (!context.signal.aborted) fill(body, el("p", { class: "quiet" }, error instanceof Error ? error.message : String(error)));
    }
  };
  void watch();
  return section("Can a VAE disentangle it?", `What the loss ${about.loss} sees of each factor, before any training.`, body);
}

/** @param {any} found */
function verdict(found) {
  const head = ["factor", "values", "mean", "relative", "rank", "order", "signal", "verdict"];
  const rows = found.table.map((/** @type {any} */ row) => [row.factor, number(row.size), number(row.mean, 3), fixed(row.relative, 2), fixed(row.rank, 2), fixed(row.order, 2), number(row.signal, 3), row.verdict ?? "–"]);
  const losses = Object.entries(found.losses).map(([name, rank]) => `${name} ${number(rank, 2)}`);
  const reading = "mean: perceived distance of images that differ only in the factor; relative: that distance divided by the distance of random pairs; rank: rank correlation with ground-truth distances; order: how often, of three images, the one nearer in the factor is also nearer for the loss (chance: 0.5); signal: a VAE learns factors with a larger signal first.";
  return el(
    "div",
    {},
    el("p", {}, el("strong", {}, found.sentence)),
    plainTable("What the loss sees of each factor", head, rows, { hideCaption: true }),
    el("p", { class: "note" }, reading),
    losses.length ? el("p", { class: "note" }, `Losses by their mean rank correlation: ${losses.join(", ")}.`) : null,
    ...found.notes.map((/** @type {string} */ note) => el("p", { class: "note" }, note)),
  );
}

/** @param {Context} context @param {string} run @param {About} about */
function traversals(context, run, about) {
  const strips = el("div", { class: "strips" });
  const draw = () => {
    const seed = Number(context.state.seed ?? 0);
    fill(strips, about.factors.flatMap((factor) => strip(run, factor, seed)));
  };
  const another = el("button", { type: "button", onclick: () => (context.set({ seed: Number(context.state.seed ?? 0) + 1 }), draw()) }, "Another image");
  draw();
  const note = isStatic() ? "The other factors are those of one random image." : "The other factors are those of one random image; at most 16 values are shown.";
  return section("Factors, one at a time", note, isStatic() ? null : el("div", { class: "controls" }, another), strips);
}

/** @param {string} run @param {Factor} factor @param {number} seed */
function strip(run, factor, seed) {
  const source = address("data/traversal", { run, factor: factor.name, seed: isStatic() ? 0 : seed });
  return [
    el("div", { class: "label" }, factor.name, el("small", {}, counted(factor.size, "value"))),
    el("img", { class: "pixels", src: source, alt: `Images in which only ${factor.name} changes`, loading: "lazy", style: `width:${CELL * Math.min(factor.size, COLUMNS)}px;max-width:100%` }),
  ];
}

/** @param {Context} context @param {string} run @param {About} about */
function distances(context, run, about) {
  const shown = about.factors.filter((factor) => factor.size > 1 && factor.size <= MOST_VALUES);
  const rows = shown.map((factor) => {
    const row = el("div", { style: "display:flex;flex-wrap:wrap;gap:0.6rem 1rem;min-height:9.5rem" }, el("p", { class: "quiet" }, "Measuring …"));
    return { factor, row };
  });
  const fillRows = async () => {
    for (const { factor, row } of rows) {
      try {
        const found = await json("data/distances", { run, factor: factor.name }, context.signal);
        if (context.signal.aborted) return;
        fill(row, Object.entries(found.levels).map(([level, values]) => matrix(/** @type {number[][]} */ (values), factor.name, LEVELS[level] ?? level, context.signal)));
      } catch (error) {
        if (context.signal.aborted) return;
        fill(row, el("p", { class: "quiet" }, error instanceof Error ? error.message : String(error)));
      }
    }
  };
  void fillRows();
  const cells = rows.flatMap(({ factor, row }) => [el("div", { class: "label" }, factor.name, el("small", {}, counted(factor.size, "value"))), row]);
  const note = "Mean distances between the values of a factor: the stronger the colour, the larger the distance, up to the number below each matrix. Images and reconstructions are compared by the loss, codes by Euclidean distance, posteriors by the symmetric KL divergence. Where the loss does not see the order of the values, a VAE cannot learn it.";
  return section("Distances along factors", note, el("div", { class: "strips" }, ...cells));
}

/** @param {Context} context @param {string} run */
function samples(context, run) {
  const seed = isStatic() ? 0 : Number(context.state.seed ?? 0);
  const picture = el("img", { class: "pixels wide-picture", src: address("data/samples", { run, n: 40, seed }), alt: "Forty random images", loading: "lazy" });
  return section("Random images", "", picture);
}
