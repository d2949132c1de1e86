// @ts-check
/** Two runs side by side: latents matched by their codes, traversals that run in the same direction. */
import { address, isStatic, json } from "#lib/api.js";
import { el, fill, plainTable, section } from "#lib/dom.js";
import { decimals, fixed, number, shortName } from "#lib/format.js";
import { link } from "#lib/router.js";
import { ends } from "#lib/sliders.js";
import { pickerLater, runsOf } from "#lib/runs.js";

/** @typedef {{left: number, right: number, sign: 1 | -1, agreement: number}} Pair */
/** @typedef {"left" | "right"} Side */

export const title = "Compare";

/** @param {any} context */
export async function show(context) {
  const { root, state, signal } = context;
  const { left, right } = await chosen(context);
  const choose = (/** @type {Side} */ side) => (/** @type {string} */ run) => context.go("compare", { ...state, left, right, [side]: run });
  const head = el("div", { class: "head" }, el("h1", {}, "Two runs"), pickerLater(context, "Left", left, choose("left")), pickerLater(context, "Right", right, choose("right")), el("button", { type: "button", onclick: () => context.go("compare", { ...state, left: right, right: left }) }, "Swap"));
  const body = el("div", {}, el("p", { class: "quiet" }, "Matching latents …"));
  fill(root, head, body);
  const [answer, ours, theirs] = await Promise.all([json("compare", { left, right }, signal), json("run", { run: left }, signal), json("run", { run: right }, signal)]);
  fill(body, pairs(answer, { ...ours, id: left }, { ...theirs, id: right }), el("div", { class: "two" }, scores(answer), settings(ours, theirs)));
}

/** @param {any} context @returns {Promise<{left: string, right: string}>} */
async function chosen(context) {
  const { state } = context;
  if (state.left && state.right) return { left: state.left, right: state.right };
  const runs = await runsOf(context);
  if (runs.length < 2) throw new Error("There are not two runs in this folder.");
  const left = state.left ?? state.run ?? runs[0];
  const right = state.right ?? runs[(runs.indexOf(left) + 1) % runs.length];
  context.set({ left, right, run: null });
  return { left, right };
}

/** @param {any} answer @param {any} ours @param {any} theirs */
function pairs(answer, ours, theirs) {
  const rows = answer.pairs.flatMap((/** @type {Pair} */ pair) => [
    el("div", {}, el("b", {}, `z${pair.left} · z${pair.right}`), el("small", {}, `|r| ${fixed(pair.agreement, 2)}${pair.sign < 0 ? ", turned" : ""}`), factorWords(ours, theirs, pair)),
    strip(answer, ours, "left", pair.left, 1),
    strip(answer, theirs, "right", pair.right, pair.sign),
  ]);
  const rest = restWords(answer);
  return section(
    "Matched latents",
    `Latents in use are matched one to one by the correlation r of their codes on ${number(answer.sampled)} of ${number(answer.of ?? answer.sampled)} images, drawn at random. Each row moves the matched latents from the 1 % to the 99 % quantile of their codes; where r is negative the right one is turned round.${rest}`,
    answer.pairs.length
      ? el("div", { class: "pairs" }, el("div", { class: "top" }, "left · right"), header(ours), header(theirs), rows)
      : el("p", {}, "One of the runs uses no latent, so that nothing can be matched."),
  );
}

/** @param {any} run */
function header(run) {
  return el("div", { class: "top" }, el("a", { href: link("run", { run: run.id }) }, shortName(run.id)));
}

/** @param {any} ours @param {any} theirs @param {Pair} pair */
function factorWords(ours, theirs, pair) {
  const [one, other] = [ours.latents[pair.left]?.factor, theirs.latents[pair.right]?.factor];
  if (!one && !other) return null;
  return el("small", {}, one === other ? one : `${one ?? "–"} · ${other ?? "–"}`);
}

/** @param {any} answer */
function restWords(answer) {
  const words = (/** @type {number[]} */ some, /** @type {string} */ side) => (some.length ? ` Without a partner on the ${side}: ${some.map((latent) => `z${latent}`).join(", ")}.` : "");
  return words(answer.rest_left, "left") + words(answer.rest_right, "right");
}

/** @param {any} answer @param {any} run @param {Side} side @param {number} latent @param {number} sign */
function strip(answer, run, side, latent, sign) {
  if (run.kind !== "images") return el("span", { class: "quiet" }, "no images");
  const image = el("img", { class: "pixels", alt: `z${latent} of the ${side} run, ${sign < 0 ? "from high to low" : "from low to high"}`, loading: "lazy" });
  if (isStatic()) return still(image, run, latent, sign);
  const [low, high] = ends(run.latents[latent]);
  image.src = address("run/traversal", { run: run.id, latent, z: answer.start[side].map((/** @type {number} */ value) => value.toFixed(4)).join(","), low: (sign < 0 ? high : low).toFixed(5), high: (sign < 0 ? low : high).toFixed(5), steps: 7 });
  return image;
}

/** A strip of the export, its images in reverse order where the latent is turned. @param {HTMLImageElement} image @param {any} run @param {number} latent @param {number} sign */
function still(image, run, latent, sign) {
  image.src = address("run/traversal", { run: run.id, latent });
  if (sign > 0) return image;
  const canvas = el("canvas", { class: "pixels strip", role: "img", "aria-label": image.alt });
  const whole = new Image();
  whole.onload = () => {
    const width = run.shape[1] + 1;
    const count = Math.round((whole.naturalWidth + 1) / width);
    Object.assign(canvas, { width: whole.naturalWidth, height: whole.naturalHeight });
    const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    for (let i = 0; i < count; i++) brush.drawImage(whole, i * width, 0, width - 1, whole.naturalHeight, (count - 1 - i) * width, 0, width - 1, whole.naturalHeight);
  };
  whole.src = image.src;
  return canvas;
}

/** @param {any} answer */
function scores(answer) {
  const rows = answer.scores.map((/** @type {any} */ score) => [score.metric, decimals(score.left), decimals(score.right), typeof score.left === "number" && typeof score.right === "number" ? signed(score.right - score.left) : "–"]);
  return section("Scores", "Scores of the weights as they are now.", rows.length ? plainTable("Scores of both runs", ["metric", "left", "right", "right − left"], rows, { hideCaption: true }) : el("p", {}, "Neither run has scores."));
}

/** @param {number} value */
function signed(value) {
  return (value > 0 ? "+" : "") + decimals(value);
}

/** The settings that differ. @param {any} ours @param {any} theirs */
function settings(ours, theirs) {
  const [one, other] = [flat(ours.config), flat(theirs.config)];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => one[name] !== other[name] && name !== "id");
  const rows = names.map((name) => [name, one[name] ?? "–", other[name] ?? "–"]);
  return section("Settings that differ", "", rows.length ? plainTable("Settings that differ", ["setting", "left", "right"], rows, { hideCaption: true }) : el("p", {}, "None."));
}

/** @param {any} config @param {string} [before] @returns {Record<string, string>} */
function flat(config, before = "") {
  const found = Object.entries(config ?? {}).map(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value) ? flat(value, `${before}${name}.`) : { [before + name]: typeof value === "object" ? JSON.stringify(value) : String(value) },
  );
  return Object.assign({}, ...found);
}
