// @ts-check
/** Filter, sort and correlate a table of runs that is stored by column. Pure functions; a row is its index. */
import { number, setting } from "#lib/format.js";

/** @typedef {{name: string, kind: "text" | "number" | "seed" | "state" | "score", differs: boolean, higher_is_better?: boolean | null}} Column */
/** @typedef {{columns: Column[], rows: Record<string, any[]>, total: number, stamp: string}} Frame */
/** @typedef {(row: number) => boolean} Predicate */
/** @typedef {{word: string, column: string | null, holds: Predicate}} Test */

const MOST_VALUES = 8;
const SPACED = /\s*(==|<=|>=|!=|=|<|>)\s*/g;
const TERM = /^([^<>=!]+)(<=|>=|!=|=|<|>)(.*)$/;

/**
 * A filter of rows: a row passes if it meets every condition.
 *
 * `beta>1`, `data=shapes2d`, `seed!=0` compare a column. Any other word must be part of the name of a run or of a text column.
 * @param {string} text
 * @param {Frame} frame
 * @returns {{keep: Predicate, error: string, why: () => string}} `why` explains why no row passes
 */
export function filterOf(text, frame) {
  const words = text.replace(SPACED, (_, sign) => (sign === "==" ? "=" : sign)).trim().split(/\s+/).filter(Boolean);
  /** @type {Test[]} */
  const tests = [];
  let error = "";
  for (const word of words) {
    const term = TERM.exec(word);
    const column = term ? columnCalled(term[1], frame) : null;
    if (!term) tests.push({ word, column: null, holds: contains(word, frame) });
    else if (!column) error = `There is no column ${term[1]}. Use a name from the head of the table.`;
    else if (term[3] === "") error = `${word} needs a value after ${term[2]}.`;
    else if (/[<>]/.test(term[2]) && Number.isNaN(Number(term[3]))) error = `${word} needs a number after ${term[2]}.`;
    else tests.push({ word, column, holds: compares(frame.rows[column], term[2], term[3]) });
  }
  return { keep: (row) => tests.every((test) => test.holds(row)), error, why: () => reasonFor(tests, frame) };
}

/** The name of a column, found regardless of case. @param {string} name @param {Frame} frame @returns {string | null} */
function columnCalled(name, frame) {
  if (frame.rows[name]) return name;
  return Object.keys(frame.rows).find((known) => known.toLowerCase() === name.toLowerCase()) ?? null;
}

/** Why no row passes: a condition that no row meets, and the values of its column. @param {Test[]} tests @param {Frame} frame */
function reasonFor(tests, frame) {
  const rows = Array.from({ length: frame.total }, (_, row) => row);
  const alone = tests.find((test) => !rows.some(test.holds));
  if (!alone) return `Some run meets each of ${tests.map((test) => test.word).join(", ")}, but no run meets all of them.`;
  if (!alone.column) return `No run has “${alone.word}” in its name or in a text column.`;
  return `No run has ${alone.word}. Values of ${alone.column}: ${valuesOf(frame.rows[alone.column])}.`;
}

/** The values of a column as text: the range of many numbers, or the first few values. @param {any[]} values */
function valuesOf(values) {
  const numbers = values.filter((value) => typeof value === "number");
  if (numbers.length && new Set(numbers).size > MOST_VALUES) {
    const [low, high] = numbers.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
    return `from ${number(low)} to ${number(high)}`;
  }
  const names = [...new Set(values)].sort((a, b) => compare(a, b, 1)).map(setting);
  return names.slice(0, MOST_VALUES).join(", ") + (names.length > MOST_VALUES ? ", …" : "");
}

/** @param {string} word @param {Frame} frame @returns {Predicate} */
function contains(word, frame) {
  const wanted = word.toLowerCase();
  const texts = frame.columns.filter((column) => column.kind === "text" || column.kind === "state").map((column) => frame.rows[column.name]);
  const places = [frame.rows.id, ...texts];
  return (row) => places.some((values) => String(values[row] ?? "").toLowerCase().includes(wanted));
}

/** @param {any[]} values @param {string} sign @param {string} given @returns {Predicate} */
function compares(values, sign, given) {
  const wanted = Number(given);
  const numeric = given.trim() !== "" && !Number.isNaN(wanted);
  const lower = given.toLowerCase();
  /** @param {any} value */
  const equal = (value) => (numeric && typeof value === "number" ? value === wanted : words(value).includes(lower));
  if (sign === "=") return (row) => equal(values[row]);
  if (sign === "!=") return (row) => !equal(values[row]);
  const test = { "<": (/** @type {number} */ a) => a < wanted, ">": (/** @type {number} */ a) => a > wanted, "<=": (/** @type {number} */ a) => a <= wanted, ">=": (/** @type {number} */ a) => a >= wanted }[sign];
  return (row) => numeric && typeof values[row] === "number" && /** @type {any} */ (test)(values[row]);
}

/** The names that a filter can use for a value; `shapes2d:size=32` is also `shapes2d`. @param {any} value @returns {string[]} */
function words(value) {
  if (typeof value === "boolean") return value ? ["yes", "true"] : ["no", "false"];
  const text = String(value ?? "–").toLowerCase();
  return [text, text.split(":")[0]];
}

/**
 * Sort indices by their values; missing values come last in either direction.
 * @param {number[]} places
 * @param {(place: number) => any} value
 * @param {boolean} descending
 * @param {boolean} [stable] whether equal values keep their order, instead of being sorted by index
 */
export function ordered(places, value, descending, stable = false) {
  const sign = descending ? -1 : 1;
  const keys = new Map(places.map((place) => [place, value(place)]));
  return [...places].sort((a, b) => compare(keys.get(a), keys.get(b), sign) || (stable ? 0 : a - b));
}

const NAMES = new Intl.Collator("en", { numeric: true });

/** @param {any} a @param {any} b @param {number} sign */
function compare(a, b, sign) {
  const none = Number(a === null || a === undefined) - Number(b === null || b === undefined);
  if (none) return none;
  if (a === null || a === undefined) return 0;
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * NAMES.compare(String(a), String(b));
}

/**
 * Columns of some kinds: those whose values differ, or with `all` every one.
 * @param {Frame} frame
 * @param {string[]} kinds
 * @param {boolean} [all]
 */
export function columnsOf(frame, kinds, all = false) {
  return frame.columns.filter((column) => kinds.includes(column.kind) && (all || column.differs));
}

/**
 * The metrics that have a score.
 * @param {Frame} frame
 */
export function metricsOf(frame) {
  return frame.columns.filter((column) => column.kind === "score").map((column) => column.name);
}

/** An arrow in the better direction: ↑ if higher is better, ↓ if lower is. @param {Frame} frame @param {string} name */
export function arrow(frame, name) {
  const better = frame.columns.find((column) => column.name === name)?.higher_is_better;
  return better === true ? " ↑" : better === false ? " ↓" : "";
}

/**
 * Spearman's rank correlation of pairs of numbers; ties share their mean rank.
 * @param {number[]} x
 * @param {number[]} y
 */
export function rankCorrelation(x, y) {
  if (x.length < 3) return NaN;
  const [a, b] = [ranks(x), ranks(y)];
  const middle = (x.length + 1) / 2;
  let xy = 0, xx = 0, yy = 0;
  for (let i = 0; i < a.length; i++) {
    xy += (a[i] - middle) * (b[i] - middle);
    xx += (a[i] - middle) ** 2;
    yy += (b[i] - middle) ** 2;
  }
  return xx && yy ? xy / Math.sqrt(xx * yy) : NaN;
}

/** @param {number[]} values */
function ranks(values) {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const found = new Array(values.length);
  for (let first = 0; first < order.length; ) {
    let last = first;
    while (last + 1 < order.length && values[order[last + 1]] === values[order[first]]) last++;
    for (let i = first; i <= last; i++) found[order[i]] = (first + last) / 2 + 1;
    first = last + 1;
  }
  return found;
}

/**
 * At most `most` of these indices, drawn at random with a fixed seed.
 * @param {number[]} places
 * @param {number} most
 */
export function sampled(places, most) {
  if (places.length <= most) return places;
  let seed = 12345;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 4294967296;
  };
  const pool = [...places];
  for (let i = 0; i < most; i++) {
    const j = i + Math.floor(random() * (pool.length - i));
    [pool[i], pool[j]] = [pool[j], pool[i]];
  }
  return pool.slice(0, most);
}
