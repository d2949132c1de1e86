// @ts-check
/** Two runs side by side: latents matched by their codes, with traversals in the same direction. */
import { address, isStatic, json } from "#lib/api.js";
import { el, fill, plainTable, section } from "#lib/dom.js";
import { decimals, fixed, number, shortName } from "#lib/format.js";
import { link } from "#lib/router.js";
import { pickerLater, runsOf } from "#lib/runs.js";

/** @typedef {{left: number, right: number, sign: 1 | -1, agreement: number}} Pair */
/** @typedef {"left" | "right"} Side */

export const title = "Compare";
const STEPS = 7;

/** @param {any} context */
export async function show(context) {
  const { root, state, signal } = context;
  const { left, right } = await chosen(context);
  const choose = (/** @type {Side} */ side) => (/** @type {string} */ run) => context.go("compare", { ...state, left, right, [side]: run });
  const head = el("div", { class: "head" }, el("h1", {}, "Two runs"), pickerLater(context, "Left", left, choose("left")), pickerLater(context, "Right", right, choose("right")), el("button", { type: "button", onclick: () => context.go("compare", { ...state, left: right, right: left }) }, "Swap"));
  const body = el("div", {}, el("p", { class: "quiet waiting" }, "Matching latents …"));
  fill(root, head, body);
  const [answer, ours, theirs] = await Promise.all([json("compare", { left, right }, signal), json("run", { run: left }, signal), json("run", { run: right }, signal)]);
  fill(body, pairs(answer, { ...ours, id: left }, { ...theirs, id: right }), el("div", { class: "two" }, scores(answer), settings(ours, theirs)));
}

/** @param {any} context @returns {Promise<{left: string, right: string}>} */
async function chosen(context) {
  const { state } = context;
  if (state.left && state.right) return { left: state.left, right: state.right };
  const runs = await runsOf(context);
  if (runs.length < 2) throw new Error("This folder has fewer than two runs to compare. Train another run with `unweave train` and reload the page.");
  const left = state.left ?? state.run ?? runs[0];
  const right = state.right ?? runs[(runs.indexOf(left) + 1) % runs.length];
  context.set({ left, right, run: null });
  return { left, right };
}

/** @param {any} answer @param {any} ours @param {any} theirs */
function pairs(answer, ours, theirs) {
  const rows = answer.pairs.flatMap((/** @type {Pair} */ pair) => [
    el("div", {}, el("b", {}, `z${pair.left} · z${pair.right}`), el("small", {}, `|r| ${fixed(pair.agreement, 2)}${pair.sign < 0 ? ", reversed" : ""}`), factorWords(ours, theirs, pair)),
    strip(answer, ours, "left", pair.left, 1),
    strip(answer, theirs, "right", pair.right, pair.sign),
  ]);
  const rest = restWords(answer);
  return section(
    "Matched latents",
    `Latents in use are matched one to one by the correlation r of their codes on ${number(answer.sampled)} of ${number(answer.of ?? answer.sampled)} images, drawn at random. Each row moves the matched latents from the 1 % to the 99 % quantile of their codes; where r is negative, the right one is reversed.${rest}`,
    answer.pairs.length
      ? el("div", { class: "pairs" }, el("div", { class: "top" }, "left · right"), header(ours), header(theirs), rows)
      : el("p", {}, "One of the runs uses no latent, so nothing can be matched."),
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
  const words = (/** @type {number[]} */ some, /** @type {string} */ side) => (some.length ? ` Unmatched on the ${side}: ${some.map((latent) => `z${latent}`).join(", ")}.` : "");
  return words(answer.rest_left, "left") + words(answer.rest_right, "right");
}

/** @param {any} answer @param {any} run @param {Side} side @param {number} latent @param {number} sign */
function strip(answer, run, side, latent, sign) {
  if (run.kind !== "images") return el("span", { class: "quiet" }, "no images");
  const given = { run: run.id, latent };
  const code = answer.start[side].map((/** @type {number} */ value) => value.toFixed(4)).join(",");
  const source = address("run/traversal", isStatic() ? given : { ...given, z: code, steps: STEPS });
  const alt = `z${latent} of the ${side} run, ${sign < 0 ? "from high to low" : "from low to high"}`;
  return sign < 0 ? turned(source, alt, run.shape[1]) : el("img", { class: "pixels", src: source, alt });
}

/** A strip with its images in reverse order. @param {string} source @param {string} alt @param {number} width of one image */
function turned(source, alt, width) {
  const canvas = el("canvas", { class: "pixels strip", role: "img", "aria-label": alt });
  const whole = new Image();
  whole.onload = () => {
    const [wide, high] = [whole.naturalWidth, whole.naturalHeight];
    Object.assign(canvas, { width: wide, height: high });
    const brush = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    for (let left = 0; left < wide; left += width + 1) brush.drawImage(whole, left, 0, width, high, wide - left - width, 0, width, high);
  };
  whole.src = source;
  return canvas;
}

/** @param {any} answer */
function scores(answer) {
  const rows = answer.scores.map((/** @type {any} */ score) => [score.metric, decimals(score.left), decimals(score.right), typeof score.left === "number" && typeof score.right === "number" ? signed(score.right - score.left) : "–"]);
  return section("Scores", "Scores of the current weights.", rows.length ? plainTable("Scores of both runs", ["metric", "left", "right", "right − left"], rows, { hideCaption: true }) : el("p", {}, "Neither run has scores."));
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
