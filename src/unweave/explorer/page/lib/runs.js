// @ts-check
/** The runs of the folder, and the control that selects one. */
import { has, json } from "#lib/api.js";
import { runPicker } from "#lib/controls.js";
import { el, fill } from "#lib/dom.js";

/**
 * The ids of the runs in the folder.
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
 * The run in the address; without one the first run, and without runs the first file of codes.
 * @param {any} context
 * @returns {Promise<string>}
 */
export async function chosenRun(context) {
  const wanted = context.state.run;
  if (wanted) return wanted;
  const [first] = [...(await runsOf(context)), ...codesOf(context)];
  if (!first) throw new Error("This folder has no runs and no codes yet. Train a run with `unweave train` and reload the page.");
  return first;
}

/**
 * The control that selects a run. It offers only the current run until the others are known, so the page need not wait.
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
