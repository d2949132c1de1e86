// @ts-check
/** A study: its runs as a table and as charts, live while it runs. */
import { isStatic, json } from "#lib/api.js";
import { select, tabs, unique } from "#lib/controls.js";
import { el, fill, later } from "#lib/dom.js";
import { counted, number } from "#lib/format.js";
import { filterOf, ordered } from "#lib/frame.js";
import { filesPart, withoutRuns } from "#views/study_files.js";
import { drawPairs } from "#views/study_pairs.js";
import { drawParallel } from "#views/study_parallel.js";
import { drawScores } from "#views/study_scores.js";
import { drawSeeds } from "#views/study_seeds.js";
import { drawTable } from "#views/study_table.js";

/** @typedef {import("#lib/frame.js").Frame} Frame */
/** @typedef {{mean: number | null, low: number | null, high: number | null, n: number, values: (number | null)[]}} GroupScore */
/** @typedef {{key: Record<string, any>, name: string, runs: string[], scores: Record<string, GroupScore>}} Group */
/** @typedef {{by: string[], groups: Group[], interval: string}} Groups */
/**
 * The data of all parts of the page. `rows` pass the filter; of each group, `members` are the rows that pass and `sizes`
 * counts all rows.
 * @typedef {{frame: Frame, groups: Groups, rows: number[], members: number[][], sizes: number[]}} Model
 */
/** @typedef {(panel: HTMLElement, model: Model, context: Context, signal: AbortSignal) => ((model: Model) => void)} Part */
/** @typedef {any} Context */

export const title = "Study";
const EVERY = 3000;
/** @type {{value: string, label: string, draw: Part}[]} */
const PARTS = [
  { value: "table", label: "Table", draw: drawTable },
  { value: "scores", label: "Scores", draw: drawScores },
  { value: "pairs", label: "Metric against metric", draw: drawPairs },
  { value: "parallel", label: "Parallel coordinates", draw: drawParallel },
  { value: "seeds", label: "Cells × seeds", draw: drawSeeds },
];

/** @param {Context} context */
export async function show(context) {
  const { state, index, root, signal } = context;
  const study = state.study ?? index.studies[0]?.id ?? ".";
  const load = async () => {
    const [frame, groups] = await Promise.all([json("table", { study }, signal), json("groups", { study }, signal)]);
    return { frame, groups: inOrder(withValues(groups, frame)) };
  };
  let { frame, groups } = await load();
  if (!frame.total) {
    const files = filesPart(index);
    fill(root, heading(context, study, frame, null), withoutRuns(files !== null), files);
    return;
  }
  let model = modelOf(frame, groups, state.filter ?? "").model;
  let part = PARTS.find((one) => one.value === state.show) ?? PARTS[0];
  let leaving = new AbortController();
  /** @type {(model: Model) => void} */
  let redraw = () => {};

  const live = el("span", { class: "live quiet" });
  const count = el("span", { class: "quiet", role: "status", id: "shown-runs" });
  const reason = el("p", { class: "warning", role: "status", id: "filter-reason", hidden: true });
  let drawn = false;
  const { list, panel } = tabs("Views of the study", PARTS, part.value, (value) => {
    part = PARTS.find((one) => one.value === value) ?? PARTS[0];
    context.set({ show: value === "table" ? null : value }, { push: true });
    refresh(true);
  });
  const draw = () => {
    leaving.abort();
    leaving = new AbortController();
    fill(panel);
    redraw = part.draw(panel, model, context, AbortSignal.any([signal, leaving.signal]));
  };
  const refresh = (/** @type {boolean} */ whole) => {
    const found = modelOf(frame, groups, state.filter ?? "");
    model = found.model;
    const none = !model.rows.length;
    const all = found.error ? `${counted(frame.total, "run")}: the filter is not applied` : counted(frame.total, "run");
    count.textContent = model.rows.length === frame.total ? all : `${number(model.rows.length)} of ${counted(frame.total, "run")}`;
    reason.textContent = found.error || (none ? found.why() : "");
    reason.hidden = !reason.textContent;
    panel.hidden = none;
    if (none) drawn = drawn && !whole;
    else if (whole || !drawn) draw();
    else redraw(model);
    drawn = drawn || !none;
  };
  fill(root, heading(context, study, frame, live), el("div", { class: "controls" }, filterField(context, () => refresh(false)), count), reason, list, panel, filesPart(index));
  refresh(true);
  if (!isStatic()) watch(context, study, frame.stamp, live, async () => {
    ({ frame, groups } = await load());
    if (!signal.aborted) refresh(false);
  });
}

/** @param {Context} context @param {string} study @param {Frame} frame @param {HTMLElement | null} live */
function heading(context, study, frame, live) {
  const { index } = context;
  const known = index.studies.map((/** @type {any} */ one) => ({ value: one.id, label: `${one.name} (${one.planned > one.runs ? `${number(one.runs)} of ${counted(one.planned, "run")}` : counted(one.runs, "run")})` }));
  if (!known.some((/** @type {any} */ one) => one.value === study)) known.push({ value: study, label: study === "." ? "all runs of the folder" : study });
  const several = known.length > 1;
  const name = index.studies.find((/** @type {any} */ one) => one.id === study)?.name ?? (study === "." ? index.root : study);
  return el(
    "div",
    { class: "head" },
    el("h1", {}, name),
    several ? select("Study", known, study, (value) => context.go("study", { study: value })) : null,
    live,
  );
}

/** @param {Context} context @param {() => void} onchange */
function filterField(context, onchange) {
  const id = unique("filter-help");
  const changed = later(120, () => {
    context.set({ filter: input.value.trim() });
    onchange();
  });
  const input = el("input", { type: "search", value: context.state.filter ?? "", placeholder: "beta>1 data=shapes2d seed!=0", size: "34", spellcheck: "false", "aria-describedby": id, oninput: changed });
  const help = "All conditions must hold: column=value, !=, <, >, <=, >=, or a part of a name.";
  return el("label", { class: "field" }, el("span", { id }, `Filter. ${help}`), input);
}

/** Add the score of each run, from the table, to the groups. @param {Groups} groups @param {Frame} frame @returns {Groups} */
function withValues(groups, frame) {
  const places = placesOf(frame);
  for (const group of groups.groups) {
    const rows = group.runs.map((id) => places.get(id) ?? -1);
    for (const [metric, score] of Object.entries(group.scores)) score.values = rows.map((row) => /** @type {any} */ (frame.rows[metric]?.[row] ?? null));
  }
  return groups;
}

/** A map from the id of each run to its row. @param {Frame} frame */
function placesOf(frame) {
  return new Map(frame.rows.id.map((id, row) => [id, row]));
}

/** Sort groups by their settings, numbers by size: the order of the table until the user sorts it. @param {Groups} groups @returns {Groups} */
function inOrder(groups) {
  const places = groups.by.reduceRight((order, name) => ordered(order, (place) => groups.groups[place].key[name], false, true), groups.groups.map((_, place) => place));
  return { ...groups, groups: places.map((place) => groups.groups[place]) };
}

/**
 * The model of the rows that pass a filter.
 * @param {Frame} frame
 * @param {Groups} groups
 * @param {string} filter
 * @returns {{model: Model, error: string, why: () => string}}
 */
export function modelOf(frame, groups, filter) {
  const { keep, error, why } = filterOf(filter, frame);
  const rows = [];
  for (let row = 0; row < frame.total; row++) if (error || keep(row)) rows.push(row);
  const kept = new Set(rows);
  const places = placesOf(frame);
  const found = groups.groups.map((group) => /** @type {number[]} */ (group.runs.map((id) => places.get(id)).filter((row) => row !== undefined)));
  const members = found.map((all) => all.filter((row) => kept.has(row)));
  return { model: { frame, groups, rows, members, sizes: found.map((all) => all.length) }, error, why };
}

/**
 * Poll the server for changes, such as runs that start or finish.
 * @param {Context} context
 * @param {string} study
 * @param {string} stamp
 * @param {HTMLElement} live
 * @param {() => Promise<void>} onchange
 */
function watch(context, study, stamp, live, onchange) {
  const { signal } = context;
  let timer = 0;
  const ask = async () => {
    try {
      const answer = await json("changes", { study, stamp }, signal);
      stamp = answer.stamp;
      const busy = answer.counts.running ?? 0;
      const words = Object.entries(answer.counts).filter(([, n]) => n).map(([state, n]) => `${number(n)} ${state === "todo" ? "to do" : state}`).join(", ");
      fill(live, busy ? el("i", { class: "dot running" }) : null, busy ? `live: ${words}` : words);
      if (answer.changed) await onchange();
      context.fail("");
    } catch (error) {
      if (signal.aborted) return;
      context.fail(error instanceof Error ? error.message : String(error));
    }
    timer = window.setTimeout(ask, document.hidden ? EVERY * 5 : EVERY);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  void ask();
}
