// @ts-check
/** One rule for all parts of the page: what is shown of a cell is what the filter keeps of its seeds. */

/** @typedef {import("#views/study.js").Model} Model */
/** @typedef {import("#views/study.js").Group} Group */
/** @typedef {import("#views/study.js").GroupScore} GroupScore */

/**
 * A score of a cell over the seeds that the filter keeps. An interval is of all seeds of a cell: where the filter has
 * dropped some there is none, since what is left is a choice and no sample.
 * @param {Model} model
 * @param {number} group
 * @param {string} metric
 * @returns {GroupScore}
 */
export function keptScore(model, group, metric) {
  const { groups, members, sizes, frame } = model;
  const known = groups.groups[group].scores[metric];
  if (known && members[group].length === sizes[group]) return known;
  const values = members[group].map((row) => frame.rows[metric]?.[row] ?? null);
  const numbers = values.filter((value) => typeof value === "number");
  const mean = numbers.length ? numbers.reduce((sum, value) => sum + value, 0) / numbers.length : null;
  return { mean, low: null, high: null, n: numbers.length, values };
}

/**
 * The cells that have a score in sight, with their runs and values in sight.
 * @param {Model} model
 * @param {string} metric
 * @returns {(Group & {lost: string})[]}
 */
export function keptGroups(model, metric) {
  return model.groups.groups.flatMap((group, place) => {
    const score = model.members[place].length ? keptScore(model, place, metric) : null;
    if (typeof score?.mean !== "number") return [];
    const whole = model.members[place].length === model.sizes[place];
    const runs = whole ? group.runs : model.members[place].map((row) => model.frame.rows.id[row]);
    return [{ ...group, runs, scores: { [metric]: score }, lost: lostWords(model, place) }];
  });
}

/** How many seeds of a cell are kept; nothing where all are. @param {Model} model @param {number} group */
export function lostWords(model, group) {
  const [shown, size] = [model.members[group].length, model.sizes[group]];
  return shown === size ? "" : `${shown} of ${size} seeds kept by the filter`;
}

/** A sentence on the cells in sight that have lost seeds; nothing where none has. @param {Model} model */
export function lostNote(model) {
  const some = model.members.map((_, group) => group).filter((group) => model.members[group].length && lostWords(model, group));
  if (!some.length) return "";
  const words = new Set(some.map((group) => lostWords(model, group)));
  const count = words.size === 1 ? [...words][0] : "only some seeds kept by the filter";
  return ` In ${some.length === 1 ? "one cell" : `${some.length} cells`}: ${count}; their mean is of these, without an interval.`;
}
