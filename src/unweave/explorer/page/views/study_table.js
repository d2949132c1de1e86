// @ts-check
/** The table of a study: a row for each cell (all settings except the seed), or for each run. */
import { check, oneOf } from "#lib/controls.js";
import { el } from "#lib/dom.js";
import { fixed, placesOf, setting, shortName } from "#lib/format.js";
import { columnsOf, ordered } from "#lib/frame.js";
import { link } from "#lib/router.js";
import { VirtualTable, widthOf } from "#lib/table.js";
import { filteredScore, partialNote, partialWords } from "#views/study_filtered.js";

/** @typedef {import("#views/study.js").Model} Model */
/** @typedef {import("#lib/frame.js").Column} Column */
/** @typedef {import("#lib/table.js").Row} Row */
/** @typedef {{group: number, row?: undefined} | {group?: undefined, row: number, member: boolean}} Line */

const SAMPLE = 300;
const NAMES = ["id", "name"];
/** Columns that are not settings: a cell has no single value for them. */
const OUTCOMES = ["state", "step", "seconds"];

/** @type {import("#views/study.js").Part} */
export function drawTable(panel, model, context, signal) {
  const { state } = context;
  let view = new View(model, state);
  const note = el("p", { class: "note" });
  const redraw = () => {
    view = new View(model, state);
    table.setColumns(view.columns(), view.sort);
    table.setRows(view.lines.length, (place) => view.row(view.lines[place], toggle));
    note.textContent = view.grouped ? `Each row is a cell: runs that differ only in the seed. Scores are means over seeds ± half the interval: ${model.groups.interval}.${partialNote(model)}` : "Each row is a run, with the scores at its last step.";
  };
  const toggle = (/** @type {number} */ group) => {
    const open = new Set(view.open);
    if (!open.delete(group)) open.add(group);
    context.set({ open: [...open].sort((a, b) => a - b).join(",") });
    redraw();
  };
  const set = (/** @type {Record<string, string | null>} */ changes) => {
    context.set(changes, { push: true });
    redraw();
  };
  const table = new VirtualTable({ label: "Runs of the study", columns: view.columns(), sort: view.sort, signal, onsort: (sort) => set({ sort }) });
  const rowKind = oneOf("Rows", [{ value: "", label: "Grouped by everything but the seed" }, { value: "0", label: "Every run" }], state.group ?? "", (value) => set({ group: value }));
  const all = check("All columns", state.all === "1", (checked) => set({ all: checked ? "1" : null }));
  panel.append(el("div", { class: "controls" }, rowKind, all), table.element, note);
  redraw();
  return (next) => {
    model = next;
    redraw();
  };
}

/** The columns and the sorted lines of the table. */
class View {
  /** @param {Model} model @param {Record<string, string>} state */
  constructor(model, state) {
    this.model = model;
    this.grouped = state.group !== "0";
    this.sort = state.sort ?? "";
    this.open = new Set((state.open ?? "").split(",").filter(Boolean).map(Number));
    const kinds = this.grouped ? ["text", "number"] : ["text", "number", "seed", "state"];
    const settings = columnsOf(model.frame, kinds, state.all === "1").filter((column) => !NAMES.includes(column.name));
    const later = this.grouped ? [] : settings.filter((column) => OUTCOMES.includes(column.name));
    /** The state of a run comes after its scores. */
    this.outcomes = later.filter((column) => state.all === "1" || varies(model.frame.rows[column.name]));
    this.settings = settings.filter((column) => !OUTCOMES.includes(column.name) && !(this.grouped && column.name === "method"));
    this.scores = columnsOf(model.frame, ["score"], state.all === "1");
    this.places = Object.fromEntries(this.scores.map((column) => [column.name, placesOf(model.frame.rows[column.name])]));
    this.lines = this.grouped ? this.groupLines() : this.runLines();
  }

  /** @returns {Line[]} */
  runLines() {
    const rows = this.model.frame.rows;
    const name = this.sort.replace(/^-/, "");
    const values = rows[name === "name" ? "id" : name];
    const order = values ? ordered(this.model.rows, (row) => values[row], this.sort.startsWith("-")) : this.model.rows;
    return order.map((row) => ({ row, member: false }));
  }

  /** @returns {Line[]} */
  groupLines() {
    const { groups, members } = this.model;
    const name = this.sort.replace(/^-/, "");
    const places = groups.groups.map((_, group) => group).filter((group) => members[group].length);
    const order = name ? ordered(places, (group) => this.groupValue(group, name), this.sort.startsWith("-")) : places;
    return order.flatMap((group) => [/** @type {Line} */ ({ group }), ...(this.open.has(group) ? members[group].map((row) => ({ row, member: true })) : [])]);
  }

  /** @param {number} group @param {string} name */
  groupValue(group, name) {
    const { groups, members, frame } = this.model;
    const one = groups.groups[group];
    if (name === "name") return one.name;
    if (name === "seeds") return members[group].length;
    if (one.scores[name]) return this.score(group, name).mean;
    return name in one.key ? one.key[name] : frame.rows[name]?.[members[group][0]];
  }

  /** The mean of a score over the seeds that pass the filter, and half its interval or null. @param {number} group @param {string} name */
  score(group, name) {
    const { mean, low, high } = filteredScore(this.model, group, name);
    return { mean, half: low === null || high === null ? null : (high - low) / 2 };
  }

  /** @param {number} row */
  method(row) {
    return setting(this.model.frame.rows.method?.[row] ?? "cell");
  }

  columns() {
    const { frame, groups, rows } = this.model;
    const some = rows.slice(0, SAMPLE);
    const names = this.grouped ? [...rows.slice(0, SAMPLE).map((row) => `▸  ${this.method(row)}`), ...(this.open.size ? some.map((row) => `    ${shortName(frame.rows.id[row])}`) : [])] : some.map((row) => shortName(frame.rows.id[row]));
    const label = this.grouped ? "Cell" : "Run";
    const first = { name: "name", label, width: widthOf(label, names, 345) + (this.grouped ? 36 : 0) };
    const seeds = { name: "seeds", label: "Seeds", width: 76, numeric: true };
    const plain = (/** @type {Column} */ column) => ({
      name: column.name,
      label: column.name,
      numeric: column.kind === "number" || column.kind === "seed",
      width: widthOf(column.name, some.map((row) => setting(frame.rows[column.name][row]))) + (column.kind === "state" ? 18 : 0),
    });
    const scores = this.scores.map((column) => ({
      name: column.name,
      label: column.name + (column.higher_is_better === true ? "\u00a0↑" : column.higher_is_better === false ? "\u00a0↓" : ""),
      title: column.higher_is_better === true ? "higher is better" : column.higher_is_better === false ? "lower is better" : undefined,
      numeric: true,
      width: widthOf(column.name, this.grouped ? [`${fixed(0, this.places[column.name])} ±${fixed(0, this.places[column.name])}00`] : some.map((row) => fixed(frame.rows[column.name][row], this.places[column.name]))),
    }));
    return [first, ...(this.grouped ? [seeds] : []), ...this.settings.map(plain), ...scores, ...this.outcomes.map(plain)];
  }

  /** @param {Line} line @param {(group: number) => void} toggle @returns {Row} */
  row(line, toggle) {
    return line.group === undefined ? this.runRow(line.row, line.member) : this.groupRow(line.group, toggle);
  }

  /** @param {number} group @param {(group: number) => void} toggle @returns {Row} */
  groupRow(group, toggle) {
    const { groups, members, sizes } = this.model;
    const name = groups.groups[group].name;
    const open = this.open.has(group);
    const press = () => {
      toggle(group);
      /** @type {HTMLElement | null} */ (document.querySelector(`[data-group="${group}"]`))?.focus();
    };
    const opener = el("button", { type: "button", class: "open", "aria-expanded": String(open), "aria-label": `Runs of ${name}`, "data-group": group, onclick: press }, open ? "▾" : "▸");
    const [shown, size] = [members[group].length, sizes[group]];
    return {
      kind: "group",
      cells: [
        el("span", { title: name }, opener, this.method(members[group][0])),
        shown === size ? String(size) : el("span", { title: partialWords(this.model, group) }, `${shown} of ${size}`),
        ...this.settings.map((column) => setting(this.groupValue(group, column.name))),
        ...this.scores.map((column) => this.scoreCell(group, column.name)),
      ],
    };
  }

  /** @param {number} group @param {string} name */
  scoreCell(group, name) {
    const { mean, half } = this.score(group, name);
    const places = this.places[name];
    if (mean === null) return "–";
    return el("span", {}, fixed(mean, places), half === null ? null : el("small", {}, ` ±${fixed(half, places)}`));
  }

  /** @param {number} row @param {boolean} member @returns {Row} */
  runRow(row, member) {
    const { rows } = this.model.frame;
    const id = rows.id[row];
    return {
      kind: member ? "member" : "run",
      cells: [
        el("a", { href: link("run", { run: id }), title: id }, shortName(id)),
        ...(this.grouped ? [rows.seed ? `seed ${setting(rows.seed[row])}` : ""] : []),
        ...this.settings.map((column) => stateCell(column, rows[column.name][row])),
        ...this.scores.map((column) => fixed(rows[column.name][row], this.places[column.name])),
        ...this.outcomes.map((column) => stateCell(column, rows[column.name][row])),
      ],
    };
  }
}

/** @param {any[]} values */
function varies(values) {
  return values.some((value) => value !== values[0]);
}

/** @param {Column} column @param {unknown} value */
function stateCell(column, value) {
  if (column.kind !== "state") return setting(value);
  return el("span", {}, el("i", { class: `dot ${value}` }), setting(value));
}
