// @ts-check
/** Functions that create elements, and helpers that every view needs. */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element with attributes, listeners (`onclick`, …) and children.
 *
 * `true` sets an attribute without a value; `null`, `undefined` and `false` omit it. Strings are inserted as text and
 * never parsed as HTML, so a name from a file cannot become markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "disabled") /** @type {any} */ (made)[key] = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  fill(made, ...children);
  return made;
}

/**
 * Replace the children of an element.
 * @param {Element} host
 * @param {...(Child | Child[])} children
 */
export function fill(host, ...children) {
  const kept = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  host.replaceChildren(...kept.map((child) => (child instanceof Node ? child : String(child))));
}

/**
 * An SVG element.
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @param {...Node} children
 * @returns {SVGElement}
 */
export function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/**
 * A section with a heading.
 * @param {string} heading
 * @param {Child | Child[]} note a sentence below the heading
 * @param {...(Child | Child[])} children
 */
export function section(heading, note, ...children) {
  const words = Array.isArray(note) ? note.length > 0 : Boolean(note);
  return el("section", {}, el("h2", {}, heading), words ? el("p", { class: "note" }, note) : null, ...children);
}

/**
 * A small table; columns of numbers are aligned to the right.
 * @param {string} caption
 * @param {string[]} head
 * @param {Child[][]} rows
 * @param {{hideCaption?: boolean}} [options]
 */
export function plainTable(caption, head, rows, options = {}) {
  const numeric = head.map((_, column) => rows.every((row) => isNumber(row[column])));
  const side = (/** @type {number} */ column) => (numeric[column] ? "number" : null);
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      { class: "small" },
      el("caption", { class: options.hideCaption ? "unseen" : null }, caption),
      el("thead", {}, el("tr", {}, head.map((text, i) => el("th", { scope: "col", class: side(i) }, text)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) => bodyCell(cell, i, side(i)))))),
    ),
  );
}

/** @param {Child} cell @param {number} column @param {string | null} side */
function bodyCell(cell, column, side) {
  return column === 0 ? el("th", { scope: "row", class: side }, cell) : el("td", { class: side }, cell);
}

/** @param {Child} cell */
function isNumber(cell) {
  return typeof cell === "number" || (typeof cell === "string" && /^[−+-]?[\d.,]+([e×][\d−+-]+)?$|^–$/.test(cell));
}

/**
 * Call a function at most once per frame, with the arguments of the last call.
 * @template {any[]} A
 * @param {(...values: A) => void} action
 * @returns {(...values: A) => void}
 */
export function eachFrame(action) {
  /** @type {A | null} */
  let waiting = null;
  return (...values) => {
    const idle = waiting === null;
    waiting = values;
    if (idle) {
      requestAnimationFrame(() => {
        const last = /** @type {A} */ (waiting);
        waiting = null;
        action(...last);
      });
    }
  };
}

/**
 * Call a function once, `milliseconds` after the last of several calls.
 * @template {any[]} A
 * @param {number} milliseconds
 * @param {(...values: A) => void} action
 * @returns {(...values: A) => void}
 */
export function later(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => action(...values), milliseconds);
  };
}
