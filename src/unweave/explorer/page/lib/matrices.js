// @ts-check
/** Small square matrices of distances as pictures, each with its numbers as a table. */
import { el, plainTable } from "#lib/dom.js";
import { number } from "#lib/format.js";
import { colour, onChange } from "#lib/theme.js";

const SIDE = 112;

/**
 * A matrix as a figure: the stronger the colour, the larger the distance, up to the largest of the matrix.
 * @param {number[][]} values
 * @param {string} name of the factor whose values are compared
 * @param {string} level what is compared: images, codes, …
 * @param {AbortSignal} signal
 */
export function matrix(values, name, level, signal) {
  const canvas = el("canvas", { class: "pixels", width: values.length, height: values.length, role: "img", "aria-label": described(values, name, level), style: `width:${SIDE}px;height:${SIDE}px;border-radius:3px` });
  const most = largest(values);
  draw(canvas, values, most);
  onChange(() => draw(canvas, values, most), signal);
  return el("figure", { style: `width:${SIDE}px` }, canvas, el("figcaption", { style: "line-height:1.25;font-size:0.75rem" }, level, " ", el("strong", {}, number(most, 3))), numbers(values, name, level));
}

/** @param {number[][]} values */
function largest(values) {
  return values.reduce((most, row) => row.reduce((a, b) => Math.max(a, b), most), 0);
}

/** @param {HTMLCanvasElement} canvas @param {number[][]} values @param {number} most */
function draw(canvas, values, most) {
  const pen = canvas.getContext("2d");
  if (!pen) return;
  const ink = colour("heat").split(/[\s,]+/).map(Number);
  const picture = pen.createImageData(values.length, values.length);
  values.forEach((row, i) =>
    row.forEach((value, j) => picture.data.set([ink[0], ink[1], ink[2], Math.round(255 * (most > 0 ? value / most : 0))], 4 * (i * values.length + j))),
  );
  pen.putImageData(picture, 0, 0);
}

/** @param {number[][]} values @param {string} name @param {string} level */
function described(values, name, level) {
  const size = values.length;
  const near = values.slice(1).reduce((sum, row, i) => sum + row[i], 0) / Math.max(1, size - 1);
  return `${level}: distances between the ${size} values of ${name}; neighbours are ${number(near, 3)} apart, the first and the last ${number(values[0][size - 1], 3)}, the farthest ${number(largest(values), 3)}`;
}

/** @param {number[][]} values @param {string} name @param {string} level */
function numbers(values, name, level) {
  const details = el("details", { class: "numbers" }, el("summary", {}, "Numbers"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    const head = [name, ...values.map((_, j) => String(j))];
    details.append(plainTable(`${name}, ${level}`, head, values.map((row, i) => [i, ...row.map((value) => number(value, 3))]), { hideCaption: true }));
  });
  return details;
}
