// @ts-check
/** The image or vector that is decoded from the sliders, and the true image of the start code. */
import { address, has, isStatic, json, picture } from "#lib/api.js";
import { el, svg } from "#lib/dom.js";
import { fixed, number, setting } from "#lib/format.js";
import { following } from "#lib/latest.js";
import { ends } from "#lib/sliders.js";

const LARGE = 280;

export class Stage {
  /** @param {any} context @param {any} run */
  constructor(context, run) {
    this.context = context;
    this.run = run;
    this.canvas = el("canvas", { class: "pixels big", role: "img", width: 1, height: 1, "aria-label": "Decoded image" });
    this.vector = el("div", { class: "vector" });
    this.below = el("div");
    this.element = el("div", { class: "stage" }, run.kind === "images" ? this.canvas : this.vector, this.below);
    /** @type {Map<number, Promise<HTMLImageElement>>} */
    this.strips = new Map();
    this.asked = {};
    this.ask = following(
      (/** @type {number[]} */ code, signal) => this.decode(code, signal),
      (answer, code) => this.draw(answer, code),
      (error) => context.fail(error.message),
      context.signal,
    );
  }

  /**
   * @param {number[]} code
   * @param {number} latent the latent that has moved, or -1
   */
  show(code, latent) {
    if (isStatic()) this.nearest([...code], latent === -1 ? this.run.order[0] : latent).catch(() => this.context.fail(`This export has no images of z${latent}.`));
    else this.ask([...code]);
  }

  /** @param {number[]} code @param {AbortSignal} signal */
  async decode(code, signal) {
    const params = { run: this.run.id, z: code.map((value) => String(Number(value.toFixed(4)))).join(",") };
    if (this.run.kind !== "images") return (await json("run/decode", params, signal)).values;
    return createImageBitmap(await picture("run/decode", params, signal));
  }

  /** @param {any} answer @param {number[]} code */
  draw(answer, code) {
    this.context.fail("");
    if (this.run.kind !== "images") {
      this.vector.replaceChildren(bars(answer));
      return;
    }
    this.paint(answer, 0, answer.width, answer.height);
    this.canvas.setAttribute("aria-label", `Decoded image ${code.map((value) => fixed(value, 2)).join(", ")}`);
    this.canvas.dataset.code = code.join(",");
    answer.close();
  }

  /** @param {CanvasImageSource} source @param {number} left @param {number} width @param {number} height */
  paint(source, left, width, height) {
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    const brush = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    brush.clearRect(0, 0, width, height);
    brush.drawImage(source, left, 0, width, height, 0, 0, width, height);
  }

  /** Show the image, of a traversal computed in advance, that is nearest to a latent's value. @param {number[]} code @param {number} latent */
  async nearest(code, latent) {
    const asked = (this.asked = {});
    const strip = await this.strip(latent);
    if (asked !== this.asked) return; // another slider has moved since
    const [width, height] = [this.run.shape[1], this.run.shape[0]];
    const count = Math.round((strip.naturalWidth + 1) / (width + 1));
    const [low, high] = ends(this.run.latents[latent]);
    const place = Math.min(count - 1, Math.max(0, Math.round(((code[latent] - low) / (high - low)) * (count - 1))));
    this.paint(strip, place * (width + 1), width, height);
    this.canvas.dataset.code = code.join(",");
  }

  /** @param {number} latent */
  strip(latent) {
    const known = this.strips.get(latent);
    if (known) return known;
    const image = new Image();
    const from = { run: this.run.id, latent, image: this.context.state.image };
    image.src = address("run/traversal", has("run/traversal", from) ? from : { run: this.run.id, latent });
    const loaded = image.decode().then(() => image);
    this.strips.set(latent, loaded);
    return loaded;
  }

  /**
   * The true image and the buttons.
   * @param {{image: number | null, factors: number[] | null}} base
   * @param {() => void} reset
   * @param {(image: number) => void} choose
   */
  controls(base, reset, choose) {
    const { run } = this;
    const buttons = [el("button", { type: "button", onclick: reset }, "Reset")];
    if (run.kind === "images") buttons.push(el("button", { type: "button", onclick: () => this.save() }, "Save PNG"));
    const canChoose = !isStatic() && base.image !== null && run.of > 1;
    const starts = (isStatic() && run.starts) || []; // the start images of the traversals in an export
    if (starts.length > 1) buttons.push(el("button", { type: "button", onclick: () => choose(starts[(starts.indexOf(base.image) + 1) % starts.length]) }, "Another image"));
    if (canChoose) buttons.push(el("button", { type: "button", "aria-label": "Random image", onclick: () => choose(Math.floor(Math.random() * run.of)) }, "Random"));
    const parts = [el("div", { class: "controls tight" }, buttons)];
    if (base.image !== null) parts.push(this.truth(base, canChoose, choose));
    this.below.replaceChildren(...parts);
  }

  /** @param {any} base @param {boolean} canChoose @param {(image: number) => void} choose */
  truth(base, canChoose, choose) {
    const { run } = this;
    const field = el("input", { type: "number", min: 0, max: run.of - 1, step: 1, value: base.image, disabled: !canChoose });
    field.addEventListener("change", () => {
      const value = field.valueAsNumber;
      if (Number.isInteger(value) && value >= 0 && value < run.of) choose(value);
      else {
        wrong.textContent = `${field.value ? `There is no image ${field.value}` : "Enter a number"}: images are numbered from 0 to ${number(run.of - 1)}.`;
        field.value = String(base.image);
      }
    });
    const wrong = el("span", { class: "wrong", role: "alert" });
    const factors = base.factors ? run.factors.map((/** @type {any} */ factor, /** @type {number} */ i) => `${factor.name} ${setting(base.factors[i])}`).join(", ") : "";
    const words = el("div", {}, el("label", { class: "field" }, el("span", {}, `Code of image (0 to ${number(run.of - 1)})`), field), wrong, factors ? el("span", {}, factors) : null);
    const seen = run.kind === "images" ? el("img", { class: "pixels", src: address("run/image", { run: run.id, image: base.image }), alt: `Image ${base.image} of the data set` }) : null;
    return el("div", { class: "truth" }, seen, words);
  }

  /** Save the image as it is shown, enlarged without blurring. */
  save() {
    const scale = Math.max(1, Math.round((LARGE * 2) / this.canvas.width));
    const large = el("canvas", { width: this.canvas.width * scale, height: this.canvas.height * scale });
    const brush = /** @type {CanvasRenderingContext2D} */ (large.getContext("2d"));
    brush.imageSmoothingEnabled = false;
    brush.drawImage(this.canvas, 0, 0, large.width, large.height);
    large.toBlob((blob) => {
      if (!blob) return;
      const url = URL.createObjectURL(blob);
      el("a", { href: url, download: `${this.run.name}.png` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    });
  }
}

/** A decoded vector as bars. @param {number[]} values */
function bars(values) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const span = high - low || 1;
  const drawn = svg("svg", { viewBox: `0 0 ${values.length} 100`, preserveAspectRatio: "none", role: "img", "aria-label": `Decoded vector of ${values.length} values from ${number(low)} to ${number(high)}` });
  values.forEach((value, i) => {
    const top = (100 * (high - Math.max(value, 0))) / span;
    drawn.append(svg("rect", { x: i, y: top, width: 0.85, height: Math.max(0.5, (100 * Math.abs(value)) / span) }));
  });
  return drawn;
}
