// @ts-check
/** Numbers and names as text, by the same rules as `report/style.py`. */

/**
 * A number with a few significant digits, a true minus sign and no trailing zeros.
 * @param {unknown} value
 * @param {number} [digits]
 */
export function number(value, digits = 4) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return minus(String(value).replace(/\B(?=(\d{3})+$)/g, ","));
  return minus(String(Number(value.toPrecision(digits))));
}

/**
 * A score with three decimals; fewer if it is large, none if it is a whole number above 1.
 * @param {unknown} value
 * @param {number} [places]
 */
export function decimals(value, places = 3) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  const large = Math.abs(value);
  if (Number.isInteger(value) && large > 1) return number(value);
  return minus(value.toFixed(large >= 1000 ? 0 : large >= 100 ? Math.min(places, 1) : large >= 10 ? Math.min(places, 2) : places));
}

/**
 * The number of decimals that a column of scores needs: three, unless its values are large or whole numbers.
 * @param {ArrayLike<unknown>} values
 */
export function placesOf(values) {
  let largest = 0;
  let whole = true;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value !== "number" || !Number.isFinite(value)) continue;
    largest = Math.max(largest, Math.abs(value));
    whole = whole && Number.isInteger(value);
  }
  if (whole && largest > 1) return 0;
  return largest >= 1000 ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : 3;
}

/** @param {unknown} value @param {number} places */
export function fixed(value, places) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  return minus(value.toFixed(places));
}

/**
 * The value of a setting as text.
 * @param {unknown} value
 */
export function setting(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? number(value) : String(value);
}

/** @param {string} text */
export function minus(text) {
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace("-", "−");
}

/**
 * A count and its noun, in the plural unless the count is one.
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * The short name of a run: the last part of its path.
 * @param {string} id
 */
export function shortName(id) {
  return id.split("/").pop() || id;
}
