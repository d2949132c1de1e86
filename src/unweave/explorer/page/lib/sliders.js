// @ts-check
/** A slider and a number field for each latent, over the histogram of its codes. */
import { el, svg } from "#lib/dom.js";
import { fixed } from "#lib/format.js";

/**
 * @typedef {object} Latent
 * @property {number} index
 * @property {number | null} kl
 * @property {boolean | null} active
 * @property {number} mean
 * @property {number} sd
 * @property {number[]} quantiles
 * @property {{edges: number[], counts: number[]} | null} histogram
 * @property {string | null} factor
 * @property {number} categories how many a categorical latent has; 0 for a number
 */

const STEPS = 400;

/** The lowest and the highest value of a latent's slider. @param {Latent} latent @returns {[number, number]} */
export function ends(latent) {
  if (latent.categories) return [0, latent.categories - 1];
  const low = latent.quantiles[0] ?? -3;
  const high = latent.quantiles[latent.quantiles.length - 1] ?? 3;
  return high > low ? [low, high] : [low - 1, low + 1];
}

/** The step of a latent's slider. @param {Latent} latent */
export function stepOf(latent) {
  if (latent.categories) return 1;
  const [low, high] = ends(latent);
  return (high - low) / STEPS;
}

/**
 * The measure of what a latent carries: its mean KL; for codes without a posterior, their variance; for a categorical
 * latent, the entropy of its category.
 * @param {{points?: boolean, latents?: Latent[]}} run
 */
export function carriedBy(run) {
  const categorical = (run.latents ?? []).filter((latent) => latent.categories).length;
  if (categorical && categorical === run.latents?.length) return { name: "entropy", unit: " nats", words: "the entropy of its category over images, in nats" };
  if (categorical) return { name: "KL or entropy", unit: " nats", words: "the KL divergence of its posterior from the prior or, for a categorical latent, the entropy of its category, in nats" };
  return run.points
    ? { name: "variance", unit: "", words: "the variance of its codes over images" }
    : { name: "KL", unit: " nats", words: "the KL divergence of its posterior from the prior, in nats" };
}

export class Sliders {
  /**
   * @param {Latent[]} latents
   * @param {number[]} order
   * @param {number[]} code
   * @param {string} unit of the measure of `carriedBy`
   * @param {(code: number[], latent: number) => void} onmove
   */
  constructor(latents, order, code, unit, onmove) {
    this.unit = unit;
    this.code = [...code];
    this.onmove = onmove;
    /** @type {{range: HTMLInputElement, field: HTMLInputElement}[]} */
    this.inputs = [];
    this.element = el("div", { class: "sliders" }, order.map((index) => this.row(latents[index])));
  }

  /** @param {Latent} latent */
  row(latent) {
    const [low, high] = ends(latent);
    const name = `z${latent.index}`;
    const follows = latent.active === false ? null : latent.factor;
    const described = follows ? `${name}, follows ${follows}` : name;
    const step = stepOf(latent);
    const range = el("input", { type: "range", min: low, max: high, step, "aria-label": described });
    const field = el("input", { type: "number", step: latent.categories ? 1 : "any", "aria-label": `Value of ${name}` });
    range.addEventListener("input", () => this.move(latent.index, Number(range.value), range));
    range.addEventListener("keydown", (event) => {
      const by = { PageUp: 20, PageDown: -20 }[event.key];
      if (!by) return;
      event.preventDefault();
      range.value = String(Number(range.value) + by * step);
      this.move(latent.index, Number(range.value), range);
    });
    field.addEventListener("input", () => {
      if (field.value !== "" && Number.isFinite(field.valueAsNumber)) this.move(latent.index, field.valueAsNumber, field);
    });
    field.addEventListener("change", () => this.show(latent.index, null));
    this.inputs[latent.index] = { range, field };
    this.show(latent.index, null);
    const carried = latent.kl === null ? "" : fixed(latent.kl, 2) + this.unit;
    return el(
      "div",
      { class: latent.active === false ? "latent idle" : "latent" },
      el("div", { class: "name" }, el("b", {}, name), follows ? ` ${follows}` : "", el("small", {}, latent.active === false ? "unused" : carried)),
      el("div", { class: "track" }, histogram(latent), range, el("div", { class: "ends", "aria-hidden": "true" }, el("span", {}, fixed(low, 2)), el("span", {}, fixed(high, 2)))),
      field,
    );
  }

  /** @param {number} index @param {number} value @param {HTMLInputElement} source */
  move(index, value, source) {
    this.code[index] = value;
    this.show(index, source);
    this.onmove(this.code, index);
  }

  /**
   * Show a latent's value in its slider and its field, except in the one that the user has changed.
   * @param {number} index
   * @param {HTMLInputElement | null} source
   */
  show(index, source) {
    const { range, field } = this.inputs[index];
    const value = this.code[index];
    if (source !== range) range.value = String(value);
    if (source !== field) field.value = Number.isInteger(Number(range.step)) ? String(Math.round(value)) : value.toFixed(3);
    range.setAttribute("aria-valuetext", fixed(value, 2));
  }

  /** @param {number[]} code */
  set(code) {
    this.code = [...code];
    this.inputs.forEach((_, index) => this.show(index, null));
  }
}

/**
 * The histogram of a latent's codes, over the range of its slider.
 * @param {Latent} latent
 * @param {string} [label]
 */
export function histogram(latent, label) {
  const found = latent.histogram;
  const [low, high] = ends(latent);
  const drawn = svg("svg", { viewBox: "0 0 100 24", preserveAspectRatio: "none", ...(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }) });
  if (!found) return drawn;
  const most = Math.max(...found.counts, 1);
  found.counts.forEach((count, i) => {
    const left = Math.max(0, (100 * (found.edges[i] - low)) / (high - low));
    const right = Math.min(100, (100 * (found.edges[i + 1] - low)) / (high - low));
    const height = (23 * count) / most;
    if (count && right > left) drawn.append(svg("rect", { x: left, y: 24 - height, width: Math.max(0.4, right - left - 0.4), height }));
  });
  return drawn;
}
