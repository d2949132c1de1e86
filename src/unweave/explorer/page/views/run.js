// @ts-check
/** A run: move its latents and see the image follow; traversals, reconstructions, curves, latents, scores. */
import { address, has, isStatic, json } from "#lib/api.js";
import { check } from "#lib/controls.js";
import { el, fill, later, section } from "#lib/dom.js";
import { counted, fixed, number } from "#lib/format.js";
import { chosenRun, pickerLater } from "#lib/runs.js";
import { carriedBy, Sliders, stepOf } from "#lib/sliders.js";
import { curves, latentsPart, scoresPart, settingsPart } from "#views/run_facts.js";
import { Stage } from "#views/run_stage.js";

/** @typedef {any} Context */
/** @typedef {any} RunAnswer */

export const title = "Run";
const ROUNDED = 1.1e-4;
/** Approximate width in pixels of each image in a saved picture. */
const SAVED = 128;
const STEPS = ["5", "7", "9", "11", "15"];

/** @param {Context} context */
export async function show(context) {
  const { root, state, signal } = context;
  const id = await chosenRun(context);
  if (!state.run) context.set({ run: id });
  const run = await json("run", { run: id }, signal);
  run.id = id;
  const image = await startingCode(context, run);
  const warnings = [run.warning, ...wrongEntries(context.state, run)].filter(Boolean);
  const parts = [el("div", { class: "two" }, run.latents.length && run.sampled ? latentsPart(context, run) : null, scoresPart(run)), curves(context, run), settingsPart(run)];
  fill(
    root,
    heading(context, run),
    warnings.map((words) => el("p", { class: "warning" }, words)),
    moves(run) && run.latents.length ? desk(context, run, image) : null,
    parts,
  );
}

/** @param {Context} context @param {RunAnswer} run */
function heading(context, run) {
  const picker = pickerLater(context, "Run", run.id, (other) => context.go("run", { run: other }), { codes: true });
  const words = [run.method, run.data, run.state, run.step ? `${number(run.step)} steps` : null].filter(Boolean).join(" · ");
  return el("div", { class: "head" }, el("div", {}, el("h1", {}, run.name), el("span", { class: "quiet" }, words)), el("div", { class: "push" }, picker));
}

/** Whether the data set is available: not for a custom model, nor for a run whose data files are missing. @param {RunAnswer} run */
function hasData(run) {
  return run.of > 0 && Boolean(run.method);
}

/** Whether there is a decoder. @param {RunAnswer} run */
function moves(run) {
  return run.kind === "images" || run.kind === "vectors";
}

/** Messages on values in the address that cannot be shown. @param {Record<string, string>} state @param {RunAnswer} run @returns {string[]} */
function wrongEntries(state, run) {
  const found = [];
  if (state.image !== undefined && !run.of) found.push(`Image ${state.image} cannot be shown: the data set is missing.`);
  else if (state.image !== undefined && !inRange(state.image, run)) found.push(`There is no image ${state.image}: images are numbered from 0 to ${number(run.of - 1)}. The page shows the code of image ${run.start_image ?? run.image ?? 0} instead.`);
  const given = (state.z ?? "").split(",");
  if (state.z && given.length !== run.latents.length) found.push(`The link has a code of ${counted(given.length, "number")}, but this run has ${counted(run.latents.length, "latent")}: the code is ignored.`);
  else if (state.z && !codeOf(state.z, run.latents.length)) found.push("The code in the link contains something other than numbers: it is ignored.");
  return moves(run) ? found : [];
}

/** @param {string} image @param {RunAnswer} run */
function inRange(image, run) {
  return /^\d+$/.test(image) && Number(image) < run.of;
}

/** The code that Reset returns to: that of the image in the address, or of the first sampled image. @param {Context} context @param {RunAnswer} run */
async function startingCode(context, run) {
  const image = context.state.image;
  const first = { image: run.start_image ?? run.image ?? null, code: run.start ?? [], factors: null };
  if (image === undefined || !inRange(image, run) || !has("run/code", { run: run.id, image })) return first;
  try {
    return await json("run/code", { run: run.id, image }, context.signal);
  } catch (error) {
    if (context.signal.aborted) throw error;
    context.fail(error instanceof Error ? error.message : String(error));
    return first;
  }
}

/** @param {string | undefined} text @param {number} count */
function codeOf(text, count) {
  const values = (text ?? "").split(",").map(Number);
  return text && values.length === count && values.every(Number.isFinite) ? values : null;
}

/**
 * The latent that has moved farthest, in steps of its slider; -1 if none has moved. Links round codes to four decimals,
 * so smaller changes do not count.
 * @param {RunAnswer} run
 * @param {number[]} code
 * @param {number[]} start
 */
function mostMoved(run, code, start) {
  const steps = code.map((value, i) => (Math.abs(value - start[i]) > ROUNDED ? Math.abs(value - start[i]) / stepOf(run.latents[i]) : 0));
  const most = Math.max(...steps);
  return most > 0 ? steps.indexOf(most) : -1;
}

/** @param {Context} context @param {RunAnswer} run @param {{image: number | null, code: number[], factors: number[] | null}} base */
function desk(context, run, base) {
  const { state } = context;
  const wanted = codeOf(state.z, run.latents.length);
  const stage = new Stage(context, run);
  const below = pictures(context, run);
  const remember = later(150, (/** @type {number[]} */ code) => {
    const start = code.every((value, i) => Math.abs(value - base.code[i]) < 5e-5);
    context.set({ z: start ? null : code.map((value) => String(Number(value.toFixed(4)))).join(",") });
    below.follow(start && state.image === undefined ? null : code);
    if (!isStatic()) context.say(`Image at ${run.order.slice(0, 6).map((/** @type {number} */ i) => `z${i} ${fixed(code[i], 2)}`).join(", ")}`);
  });
  const moved = (/** @type {number[]} */ code, /** @type {number} */ latent) => {
    if (isStatic()) sliders.set(base.code.map((value, i) => (i === latent ? code[i] : value)));
    stage.show(sliders.code, latent);
    remember([...sliders.code]);
  };
  const turned = wanted && isStatic() ? mostMoved(run, wanted, base.code) : -1;
  // An export has images in which one latent moves: the others stay at the start code.
  const shown = wanted && isStatic() ? base.code.map((value, i) => (i === turned ? wanted[i] : value)) : (wanted ?? base.code);
  const sliders = new Sliders(run.latents, run.order, shown, carriedBy(run).unit, moved);
  const reset = () => {
    sliders.set(base.code);
    stage.show(sliders.code, -1);
    remember([...sliders.code]);
  };
  stage.controls(hasData(run) ? base : { ...base, image: null }, reset, (number) => context.go("run", { ...state, image: number, z: null }));
  stage.show(sliders.code, turned);
  below.follow(wanted || state.image !== undefined ? sliders.code : null);
  const carry = `Latents are sorted by what they carry (${carriedBy(run).name}${carriedBy(run).unit ? ", in nats" : ""}), each with the factor it follows.`;
  const spans = `A slider spans the codes of ${number(run.sampled)} of ${counted(run.of, "image")}, drawn at random; their histogram is above it.`;
  const note = run.sampled ? `${carry} ${spans}` : "The data set is missing, so there are no codes: each slider spans 98 % of the prior.";
  const alone = isStatic() ? " In this export a slider shows the nearest image that was computed in advance, one latent at a time." : "";
  const side = el("div", {}, el("h2", {}, "Latents"), el("p", { class: "note" }, note + alone), sliders.element);
  return [el("div", { class: "desk" }, stage.element, side), below.element];
}

/** Traversals and reconstructions. @param {Context} context @param {RunAnswer} run */
function pictures(context, run) {
  if (run.kind !== "images") return { element: el("div"), follow: () => {} };
  const { state } = context;
  const grid = el("img", { class: "pixels", alt: "" });
  const png = el("a", { class: "button", download: true }, "Save as PNG");
  const gif = el("a", { class: "button", download: true }, "Save as GIF");
  /** @type {number[] | null} */
  let at = null;
  const draw = () => {
    const params = isStatic() ? { run: run.id } : { run: run.id, z: at?.map((value) => value.toFixed(4)).join(","), steps: state.steps ?? "9" };
    // A saved picture has names, and only the rows that are shown.
    const named = { labels: 1, rows: state.rows === "all" ? "all" : "used" };
    const given = isStatic() ? { ...named, rows: "used" } : { ...named, download: 1, scale: Math.min(8, Math.max(2, Math.round(SAVED / run.shape[1]))) };
    grid.src = address("run/traversals", params);
    grid.alt = `Traversals: each row moves one latent from low to high; rows ${run.order.map((/** @type {number} */ i) => `z${i}`).join(", ")}`;
    png.href = address("run/traversals", { ...params, ...given });
    gif.href = address("run/animation", { ...params, ...given });
    gif.hidden = !has("run/animation", { ...params, ...given });
  };
  const steps = el("select", { onchange: () => (context.set({ steps: steps.value === "9" ? null : steps.value }, { push: true }), draw()) }, STEPS.map((n) => el("option", { value: n }, n)));
  steps.value = state.steps ?? "9";
  const used = run.order.filter((/** @type {number} */ i) => run.latents[i].active !== false).length;
  const frame = el("div", { class: "crop" }, grid);
  const labels = el("div", { class: "row-labels" });
  const unused = check(`Show unused latents (${run.order.length - used})`, state.rows === "all", (on) => (context.set({ rows: on ? "all" : null }, { push: true }), draw(), crop()));
  const crop = () => {
    const rows = state.rows === "all" || !used ? run.order : run.order.slice(0, used);
    fill(labels, rows.map((/** @type {number} */ i) => el("div", {}, el("b", {}, `z${i}`), run.latents[i].active !== false && run.latents[i].factor ? el("small", {}, run.latents[i].factor) : null)));
    // The picture has a row for each latent, those in use first: crop the rest.
    frame.style.aspectRatio = grid.naturalWidth ? `${grid.naturalWidth} / ${(rows.length * (grid.naturalHeight + 1)) / run.order.length - 1}` : "auto";
  };
  grid.addEventListener("load", crop);
  const controls = el("div", { class: "controls" }, isStatic() ? null : el("label", { class: "field" }, el("span", {}, "Images in a row"), steps), png, gif, used && used < run.order.length ? unused : null);
  const element = el(
    "div",
    { class: "two wide-left" },
    section("Traversals", "Each row moves one latent from the 1 % to the 99 % quantile of its codes, or through its categories; the others stay at the values of the sliders.", controls, el("div", { class: "grid-picture" }, labels, frame)),
    reconstructions(context, run),
  );
  const follow = (/** @type {number[] | null} */ code) => {
    at = code ? [...code] : null;
    draw();
  };
  return { element, follow };
}

/** @param {Context} context @param {RunAnswer} run */
function reconstructions(context, run) {
  const { state } = context;
  const picture = el("img", { class: "pixels", alt: "" });
  const draw = () => {
    const params = isStatic() ? { run: run.id } : { run: run.id, n: 6, seed: state.draw ?? "0" };
    picture.src = address("run/reconstructions", params);
    picture.alt = "Random images, each with its reconstruction below";
  };
  const others = () => {
    context.set({ draw: String(Number(state.draw ?? "0") + 1) });
    draw();
  };
  if (!hasData(run) || !has("run/reconstructions", isStatic() ? { run: run.id } : {})) return null;
  draw();
  const button = isStatic() ? null : el("div", { class: "controls" }, el("button", { type: "button", onclick: others }, "Other images"));
  const labels = el("div", { class: "row-labels" }, el("div", {}, "images"), el("div", {}, "from codes"));
  return section("Reconstructions", "Random images above, their reconstructions below.", button, el("div", { class: "grid-picture" }, labels, picture));
}

