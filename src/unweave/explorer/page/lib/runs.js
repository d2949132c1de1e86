// @ts-check
/** Which runs there are, and the controls that choose one. */
import { has, json } from "#lib/api.js";
import { runPicker } from "#lib/controls.js";
import { el, fill } from "#lib/dom.js";

/**
 * The runs of the folder, by identity.
 * @param {any} context
 * @returns {Promise<string[]>}
 */
export async function runsOf(context) {
  const table = await json("table", { study: context.index.static ? (context.index.studies[0]?.id ?? ".") : "." }, context.signal);
  return table.rows.id;
}

/**
 * The files of codes that can be shown like runs.
 * @param {any} context
 * @returns {string[]}
 */
function codesOf(context) {
  return context.index.codes.map((/** @type {{id: string}} */ file) => file.id).filter((/** @type {string} */ run) => has("run", { run }));
}

/**
 * The run at the address, or the first one there is; without runs, the first file of codes.
 * @param {any} context
 * @returns {Promise<string>}
 */
export async function chosenRun(context) {
  const wanted = context.state.run;
  if (wanted) return wanted;
  const [first] = [...(await runsOf(context)), ...codesOf(context)];
  if (!first) throw new Error("There are neither runs nor codes in this folder yet. Train a run with `unweave train`.");
  return first;
}

/**
 * A place for the control that chooses a run; it appears when the runs are known, so that it keeps nothing waiting.
 * @param {any} context
 * @param {string} label
 * @param {string} run
 * @param {(run: string) => void} onchange
 * @param {{codes?: boolean}} [options] whether files of codes can be chosen too
 */
export function pickerLater(context, label, run, onchange, options = {}) {
  const host = el("div", { class: "picker-place" });
  fill(host, runPicker(label, [run], run, onchange));
  runsOf(context).then(
    (found) => {
      const runs = options.codes ? [...found, ...codesOf(context)] : found;
      fill(host, runPicker(label, runs.includes(run) ? runs : [run, ...runs], run, onchange));
    },
    (error) => context.fail(error.message),
  );
  return host;
}
