// @ts-check
/** A table that renders only the visible rows, so 75,000 rows scroll as smoothly as 75. */
import { eachFrame, el, fill } from "#lib/dom.js";

/** @typedef {import("#lib/dom.js").Child} Child */
/** @typedef {{name: string, label: string, width: number, numeric?: boolean, title?: string, sortable?: boolean}} Column */
/** @typedef {{cells: Child[], kind?: string}} Row */
/**
 * @typedef {object} Options
 * @property {string} label
 * @property {Column[]} columns
 * @property {string} sort the name of a column; with "-" before it, the largest value comes first
 * @property {(sort: string) => void} onsort
 * @property {AbortSignal} signal
 */

const ROW = 29;
const BEYOND = 5;
/** Longer texts may be cut off; a tooltip shows them in full. */
const LONG = 30;

export class VirtualTable {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.count = 0;
    /** @type {(index: number) => Row} */
    this.row = () => ({ cells: [] });
    /** @type {Map<number, HTMLTableRowElement>} */
    this.shown = new Map();
    this.above = el("tr", { class: "gap", "aria-hidden": "true" }, el("td"));
    this.below = el("tr", { class: "gap", "aria-hidden": "true" }, el("td"));
    this.body = el("tbody", {}, this.above, this.below);
    this.head = el("thead");
    this.columns = el("colgroup");
    this.table = el("table", { class: "runs" }, el("caption", { class: "unseen" }, options.label), this.columns, this.head, this.body);
    this.element = el("div", { class: "runs-scroll", tabindex: "0", role: "region", "aria-label": options.label }, this.table);
    const drawn = eachFrame(() => this.draw());
    this.element.addEventListener("scroll", drawn, { passive: true, signal: options.signal });
    const watcher = new ResizeObserver(drawn);
    watcher.observe(this.element);
    options.signal.addEventListener("abort", () => watcher.disconnect());
    this.setColumns(options.columns, options.sort);
  }

  /**
   * @param {Column[]} columns
   * @param {string} sort
   */
  setColumns(columns, sort) {
    this.options.columns = columns;
    this.options.sort = sort;
    fill(this.columns, columns.map((column) => el("col", { style: `width:${column.width}px` })));
    this.table.style.width = `${columns.reduce((sum, column) => sum + column.width, 0)}px`;
    fill(this.head, el("tr", { "aria-rowindex": "1" }, columns.map((column) => this.heading(column, sort))));
  }

  /** @param {Column} column @param {string} sort */
  heading(column, sort) {
    const up = sort === column.name;
    const down = sort === `-${column.name}`;
    const order = up ? "ascending" : down ? "descending" : null;
    const kind = column.numeric ? "number" : null;
    if (column.sortable === false) return el("th", { scope: "col", class: kind }, column.label);
    // The first click sorts numbers from the largest, and names from the first.
    const next = down || (!up && !column.numeric) ? column.name : `-${column.name}`;
    const press = () => {
      this.options.onsort(next);
      const again = [...this.head.querySelectorAll("button")].find((button) => button.dataset.column === column.name);
      again?.focus(); // the headings were redrawn
    };
    return el(
      "th",
      { scope: "col", class: kind, "aria-sort": order, title: column.title },
      el("button", { type: "button", "data-column": column.name, onclick: press }, column.label, el("span", { class: "arrow", "aria-hidden": "true" }, up ? "▲" : down ? "▼" : "")),
    );
  }

  /**
   * @param {number} count
   * @param {(index: number) => Row} row
   */
  setRows(count, row) {
    this.count = count;
    this.row = row;
    this.table.setAttribute("aria-rowcount", String(count + 1));
    for (const made of this.shown.values()) made.remove();
    this.shown.clear();
    this.draw();
  }

  draw() {
    const height = this.element.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - BEYOND);
    const last = Math.min(this.count, Math.ceil((this.element.scrollTop + height) / ROW) + BEYOND);
    for (const [index, made] of this.shown) {
      if (index < first || index >= last) {
        made.remove();
        this.shown.delete(index);
      }
    }
    let next = /** @type {Element} */ (this.below);
    for (let index = last - 1; index >= first; index--) {
      let made = this.shown.get(index);
      if (!made) {
        made = this.make(index);
        this.shown.set(index, made);
        next.before(made);
      }
      next = made;
    }
    this.above.style.height = `${first * ROW}px`;
    this.below.style.height = `${Math.max(0, this.count - last) * ROW}px`;
  }

  /** @param {number} index */
  make(index) {
    const { cells, kind } = this.row(index);
    const columns = this.options.columns;
    return el(
      "tr",
      { "aria-rowindex": String(index + 2), class: kind },
      cells.map((cell, i) => {
        const side = columns[i].numeric ? "number" : null;
        const title = typeof cell === "string" && cell.length > LONG ? cell : null;
        return i === 0 ? el("th", { scope: "row", class: side, title }, cell) : el("td", { class: side, title }, cell);
      }),
    );
  }
}

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/** @param {string} text */
function measured(text) {
  if (!ruler) {
    ruler = el("canvas").getContext("2d");
    if (ruler) ruler.font = getComputedStyle(document.body).font;
  }
  return ruler ? ruler.measureText(text).width : text.length * 8;
}

/**
 * The width of a column, from its heading and a sample of its texts.
 * @param {string} label
 * @param {Iterable<string>} texts
 * @param {number} [most]
 */
export function widthOf(label, texts, most = 330) {
  const words = label.split(/(?<=[\s-])/).map((word) => 0.87 * measured(word) + 18);
  let width = Math.max(...words);
  for (const text of new Set(texts)) width = Math.max(width, measured(text));
  return Math.round(Math.min(most, Math.max(52, width + 22)));
}
