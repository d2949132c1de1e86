// @ts-check
/** Which runs there are, and the controls that choose one. */
import { json } from "#lib/api.js";
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
 * The run at the address, or the first one there is.
 * @param {any} context
 * @param {string} [name]
 * @returns {Promise<string>}
 */
export async function chosenRun(context, name = "run") {
  const wanted = context.state[name];
  if (wanted) return wanted;
  const [first] = await runsOf(context);
  if (!first) throw new Error("There is no run in this folder yet. Train one with `unweave train`.");
  return first;
}

/**
 * A place for the control that chooses a run; it appears when the runs are known, so that it keeps nothing waiting.
 * @param {any} context
 * @param {string} label
 * @param {string} run
 * @param {(run: string) => void} onchange
 */
export function pickerLater(context, label, run, onchange) {
  const host = el("div", { class: "picker-place" });
  fill(host, runPicker(label, [run], run, onchange));
  runsOf(context).then(
    (runs) => fill(host, runPicker(label, runs.includes(run) ? runs : [run, ...runs], run, onchange)),
    (error) => context.fail(error.message),
  );
  return host;
}
