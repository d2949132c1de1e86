// @ts-check
/** Files of codes and of points in the folder, and what to do in a folder without runs. */
import { has } from "#lib/api.js";
import { el, plainTable, section } from "#lib/dom.js";
import { number } from "#lib/format.js";
import { link } from "#lib/router.js";

/** @typedef {{id: string, rows?: number, latents?: number, dim?: number}} File */

const COMMANDS = [
  ["train a model", "unweave train beta-vae --data shapes2d --out runs/first"],
  ["encode images with a pretrained model", "unweave encode efficientnet-lite0 --data rooms3d --out codes.npz"],
  ["find the factors of a manifold", "unweave geomancer points.npy --out factors.npz"],
];

/**
 * A table of the files of codes and points, each with links to the pages that show it; null if there are none.
 * @param {{codes: File[], points: File[]}} index
 */
export function filesPart(index) {
  const codes = index.codes.filter((file) => has("run", { run: file.id }));
  const points = index.points.filter((file) => has("geometry", { points: file.id }));
  if (!codes.length && !points.length) return null;
  const rows = [
    ...codes.map((file) => [file.id, "codes", size(file.rows, file.latents), pages([["Run", link("run", { run: file.id })], ["Matrix", link("matrix", { run: file.id })]], file.id)]),
    ...points.map((file) => [file.id, "points", size(file.rows, file.dim), pages([["Geometry", link("geometry", { points: file.id })]], file.id)]),
  ];
  return section("Codes and points", "Files in the folder that are not runs.", plainTable("Codes and points", ["file", "what", "rows × columns", "pages"], rows, { hideCaption: true }));
}

/** @param {number | undefined} rows @param {number | undefined} columns */
function size(rows, columns) {
  return `${number(rows)} × ${number(columns)}`;
}

/** @param {string[][]} links @param {string} file */
function pages(links, file) {
  return el("span", {}, links.flatMap(([name, href], i) => [i ? " · " : null, el("a", { href, "aria-label": `${name}: ${file}` }, name)]));
}

/** What to do in a folder without runs. @param {boolean} files whether it has other files */
export function withoutRuns(files) {
  if (files) return el("p", {}, "This folder has no runs, but it has files that can be shown.");
  const ways = COMMANDS.map(([what, command]) => el("li", {}, `${what}: `, el("code", {}, command)));
  return el("div", {}, el("p", {}, "This folder has no runs, codes or points yet. In this folder, run one of these commands:"), el("ul", {}, ways), el("p", {}, "Then reload this page. To explore another folder: ", el("code", {}, "unweave explore FOLDER"), "."));
}
