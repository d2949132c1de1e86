// @ts-check
/** Scores of a cell over the seeds that pass the filter: one rule for all parts of the page. */

/** @typedef {import("#views/study.js").Model} Model */
/** @typedef {import("#views/study.js").Group} Group */
/** @typedef {import("#views/study.js").GroupScore} GroupScore */

/**
 * The score of a cell over the seeds that pass the filter. The interval is over all seeds of a cell. If the filter
 * removes some, there is no interval: the rest is a selection and not a sample.
 * @param {Model} model
 * @param {number} group
 * @param {string} metric
 * @returns {GroupScore}
 */
export function filteredScore(model, group, metric) {
  const { groups, members, sizes, frame } = model;
  const known = groups.groups[group].scores[metric];
  if (known && members[group].length === sizes[group]) return known;
  const values = members[group].map((row) => frame.rows[metric]?.[row] ?? null);
  const numbers = values.filter((value) => typeof value === "number");
  const mean = numbers.length ? numbers.reduce((sum, value) => sum + value, 0) / numbers.length : null;
  return { mean, low: null, high: null, n: numbers.length, values };
}

/**
 * The cells that have a score after the filter, with the runs and values that pass it.
 * @param {Model} model
 * @param {string} metric
 * @returns {(Group & {partial: string})[]}
 */
export function filteredGroups(model, metric) {
  return model.groups.groups.flatMap((group, place) => {
    const score = model.members[place].length ? filteredScore(model, place, metric) : null;
    if (typeof score?.mean !== "number") return [];
    const whole = model.members[place].length === model.sizes[place];
    const runs = whole ? group.runs : model.members[place].map((row) => model.frame.rows.id[row]);
    return [{ ...group, runs, scores: { [metric]: score }, partial: partialWords(model, place) }];
  });
}

/** How many seeds of a cell pass the filter, as text; empty if all do. @param {Model} model @param {number} group */
export function partialWords(model, group) {
  const [shown, size] = [model.members[group].length, model.sizes[group]];
  return shown === size ? "" : `${shown} of ${size} seeds pass the filter`;
}

/** A sentence on the cells of which only some seeds pass the filter; empty if there are none. @param {Model} model */
export function partialNote(model) {
  const some = model.members.map((_, group) => group).filter((group) => model.members[group].length && partialWords(model, group));
  if (!some.length) return "";
  const words = new Set(some.map((group) => partialWords(model, group)));
  const count = words.size === 1 ? [...words][0] : "only some seeds pass the filter";
  return ` In ${some.length === 1 ? "one cell" : `${some.length} cells`}: ${count}; the mean is over these, without an interval.`;
}
