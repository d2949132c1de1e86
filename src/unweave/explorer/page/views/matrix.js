// @ts-check
/** Codes × factors: how much information each latent has about each factor. Hover over a cell to see it, click to keep it. */
import { address, has, isStatic, json } from "#lib/api.js";
import { chart } from "#lib/charts.js";
import { oneOf } from "#lib/controls.js";
import { el, fill, later } from "#lib/dom.js";
import { fixed, number } from "#lib/format.js";
import { link } from "#lib/router.js";
import { chosenRun, pickerLater } from "#lib/runs.js";

/** @typedef {{kind: string, factors: string[], latents: number[], values: (number | null)[][], matched: (number | null)[], order: number[], floor?: number | null, sampled: number, of: number}} Matrix */
/** @typedef {[number, number]} Cell a latent and the index of a factor */

export const title = "Matrix";
const KINDS = [
  { value: "mi", label: "Mutual information", note: "Share of a factor's entropy that the latent alone determines, from 0 to 1." },
  { value: "importance", label: "Importance", note: "How much boosted trees use this latent to predict the factor from all latents, as in DCI." },
  { value: "correlation", label: "Correlation", note: "Pearson's correlation of code and factor, from −1 (orange) to 1 (blue)." },
];

/** @param {any} context */
export async function show(context) {
  const { root, state, signal } = context;
  const run = await chosenRun(context);
  if (!state.run) context.set({ run });
  const about = await json("run", { run }, signal);
  const picker = pickerLater(context, "Run", run, (other) => context.go("matrix", { ...state, run: other, cell: null }), { codes: true });
  const host = el("div", { class: "map" });
  const note = el("div", { class: "note", role: "status" });
  const detail = new Detail(context, run, about);
  const kind = () => KINDS.find((one) => one.value === state.kind) ?? KINDS[0];
  const draw = async () => {
    const wanted = kind();
    host.setAttribute("aria-busy", "true"); // the table still has the numbers of another kind
    fill(note, el("span", { class: "waiting" }, `Computing ${wanted.label.toLowerCase()} …`));
    const answer = await json("matrix", { run, kind: wanted.value }, signal).catch((error) => {
      if (wanted === kind()) fill(host);
      throw error;
    });
    if (wanted !== kind()) return;
    host.removeAttribute("aria-busy");
    note.textContent = wordsOf(answer, wanted.note);
    fill(host, new Grid(answer, cellOf(state.cell), context, detail).element);
    detail.names(answer);
    const kept = cellOf(state.cell) ?? first(answer);
    if (kept) detail.show(kept);
  };
  const kinds = oneOf("What the cells show", KINDS, kind().value, (value) => {
    context.set({ kind: value }, { push: true });
    context.fail("");
    draw().catch((error) => {
      if (signal.aborted || value !== kind().value) return;
      note.textContent = error.message;
      context.fail(error.message);
    });
  });
  fill(
    root,
    el("div", { class: "head" }, el("h1", {}, "Codes against factors"), el("div", { class: "push" }, picker)),
    el("div", { class: "controls" }, about.labelled ? kinds : null, about.kind === "images" || about.kind === "vectors" ? el("a", { href: link("run", { run }) }, "Move the latents of this run") : null),
    note,
    el("div", { class: "map-and-detail" }, host, detail.element),
  );
  if (!about.labelled) throw new Error(about.warning ?? `The factors of ${about.name} are unknown, so its codes cannot be compared with them.`);
  await draw();
}

/** @param {Matrix} answer @param {string} what */
function wordsOf(answer, what) {
  const floor = floorWords(answer);
  const matched = answer.matched.some((latent) => latent !== null) ? " Latents are in the order of the factors they are matched to, one to one (framed)." : "";
  const alone = answer.factors.filter((_, factor) => answer.matched[factor] === null);
  const without = alone.length ? ` No latent is matched to ${alone.join(", ")}.` : "";
  return `${what}${floor} ${number(answer.sampled)} of ${number(answer.of)} images, drawn at random.${matched}${without}`;
}

/** What a latent must exceed to be matched. @param {Matrix} answer */
function floorWords(answer) {
  if (typeof answer.floor === "number") return ` Shuffled factors give up to ${fixed(answer.floor, 2)}.`;
  return answer.floor === null && answer.kind === "importance" ? " A latent is matched to a factor only if their mutual information exceeds that of shuffled factors." : "";
}

/** @param {string | undefined} text @returns {Cell | null} */
function cellOf(text) {
  const values = (text ?? "").split(",").map(Number);
  return text && values.length === 2 && values.every(Number.isInteger) ? [values[0], values[1]] : null;
}

/** The strongest matched pair. @param {Matrix} answer @returns {Cell | null} */
function first(answer) {
  /** @type {Cell | null} */
  let best = null;
  let strength = -1;
  answer.matched.forEach((latent, factor) => {
    const value = latent === null ? -1 : Math.abs(answer.values[latent][factor] ?? 0);
    if (latent !== null && value > strength) [best, strength] = [[latent, factor], value];
  });
  return best;
}

/** The table of cells; the arrow keys move between them. */
class Grid {
  /** @param {Matrix} answer @param {Cell | null} kept @param {any} context @param {Detail} detail */
  constructor(answer, kept, context, detail) {
    this.answer = answer;
    this.kept = kept;
    this.context = context;
    this.detail = detail;
    /** @type {HTMLButtonElement[][]} */
    this.buttons = [];
    const caption = "Latents in rows, factors in columns";
    const head = el("tr", {}, el("th", { scope: "col" }, "latent"), answer.factors.map((name) => el("th", { scope: "col" }, name)));
    const most = Math.max(1e-9, ...answer.values.flat().map((value) => Math.abs(value ?? 0)));
    this.scale = answer.kind === "importance" ? most : 1;
    const body = answer.order.map((latent, row) => el("tr", {}, el("th", { scope: "row" }, `z${latent}`), answer.factors.map((_, factor) => this.cell(latent, factor, row))));
    const table = el("table", { class: "heat big" }, el("caption", { class: "unseen" }, caption), el("thead", {}, head), el("tbody", { onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) }, body));
    table.addEventListener("mouseleave", () => this.rest());
    this.element = el("div", { class: "scroll" }, table);
    const start = kept ? this.buttons[answer.order.indexOf(kept[0])]?.[kept[1]] : null;
    (start ?? this.buttons[0]?.[0])?.setAttribute("tabindex", "0");
  }

  /** @param {number} latent @param {number} factor @param {number} row */
  cell(latent, factor, row) {
    const { answer } = this;
    const value = answer.values[latent][factor];
    const colour = (value ?? 0) < 0 ? "--against" : "--heat";
    const shade = `background: rgb(var(${colour}) / ${(Math.min(1, Math.abs(value ?? 0) / this.scale) * 0.6).toFixed(3)})`;
    const matched = answer.matched[factor] === latent;
    const words = `z${latent} and ${answer.factors[factor]}: ${fixed(value, 2)}${matched ? ", matched" : ""}`;
    const kept = this.kept?.[0] === latent && this.kept?.[1] === factor;
    const point = () => this.detail.show([latent, factor]);
    const press = () => this.keep([latent, factor]);
    const button = el("button", { type: "button", "aria-label": words, "aria-pressed": String(kept), tabindex: "-1", onclick: press, onmouseenter: point, onfocus: point }, fixed(value, 2));
    (this.buttons[row] ??= [])[factor] = button;
    return el("td", { style: shade, class: matched ? "match" : null }, button);
  }

  /** @param {Cell} cell */
  keep(cell) {
    const same = this.kept?.[0] === cell[0] && this.kept?.[1] === cell[1];
    this.kept = same ? null : cell;
    this.context.set({ cell: this.kept ? cell.join(",") : null }, { push: true });
    this.buttons.forEach((row, place) => row.forEach((button, factor) => {
      const on = this.kept !== null && this.answer.order[place] === this.kept[0] && factor === this.kept[1];
      button.setAttribute("aria-pressed", String(on));
    }));
    this.detail.show(cell);
    this.context.say(same ? "Cell released" : "Cell kept");
  }

  /** Show the kept cell again when the pointer leaves the table. */
  rest() {
    if (this.kept) this.detail.show(this.kept);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    const row = this.buttons.findIndex((line) => line.includes(/** @type {any} */ (event.target)));
    if (row < 0) return;
    const column = this.buttons[row].indexOf(/** @type {any} */ (event.target));
    const next = this.buttons[row + step[0]]?.[column + step[1]];
    event.preventDefault();
    if (!next) return;
    /** @type {HTMLElement} */ (event.target).tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}

/** The scatter plot and the traversal of a cell. */
class Detail {
  /** @param {any} context @param {string} run @param {any} about the answer of `/api/run` */
  constructor(context, run, about) {
    this.context = context;
    this.run = run;
    /** Whether traversals can be shown. */
    this.drawable = about.kind === "images";
    /** @type {string[]} */
    this.factors = [];
    this.heading = el("h2", {}, " ");
    this.plot = el("div", { class: "plot" });
    this.words = el("p", { class: "note" });
    this.strip = el("img", { class: "pixels strip", alt: "", hidden: true });
    this.element = el("section", { class: "detail", "aria-live": "off" }, this.heading, this.words, this.plot, this.strip);
    this.now = "";
    this.strip.addEventListener("error", () => (this.strip.hidden = true));
    this.strip.addEventListener("load", () => (this.strip.hidden = false));
    this.later = later(60, (/** @type {Cell} */ cell) => this.load(cell).catch((error) => context.signal.aborted || context.fail(error.message)));
    /** @type {Promise<{update: (spec: any) => Promise<void>}> | null} */
    this.drawn = null;
  }

  /** @param {Matrix} answer */
  names(answer) {
    this.factors = answer.factors;
  }

  /** @param {Cell} cell */
  show(cell) {
    if (this.now === cell.join(",")) return;
    this.now = cell.join(",");
    this.later(cell);
  }

  /** @param {Cell} cell */
  async load([latent, factor]) {
    const asked = this.now;
    const name = this.factors[factor];
    const params = isStatic() ? { run: this.run, latent } : { run: this.run, latent, steps: 9 };
    const answer = await json("scatter", { run: this.run, latent, factor }, this.context.signal);
    if (asked !== this.now) return;
    this.heading.textContent = `z${latent} and ${name}`;
    this.words.textContent = `Each point is an image, ${number(answer.sampled)} of ${number(answer.of)}; factor values are jittered to show how many there are.${this.drawable ? ` Below, the images as z${latent} moves from the 1 % to the 99 % quantile of its codes.` : ""}`;
    if (this.drawable && has("run/traversal", params)) this.strip.src = address("run/traversal", params);
    this.strip.alt = `Traversal of z${latent}`;
    const spec = scatter(answer, latent, name);
    this.drawn ??= chart(this.plot, spec, this.context.signal);
    await (await this.drawn).update(spec);
  }
}

/** @param {{x: number[], y: number[], sampled: number, of: number}} answer @param {number} latent @param {string} name */
function scatter(answer, latent, name) {
  const spread = answer.y.map((value, i) => value + ((((i * 2654435761) >>> 0) % 1000) / 1000 - 0.5) * 0.5);
  const byValue = new Map();
  answer.y.forEach((value, i) => byValue.set(value, [...(byValue.get(value) ?? []), answer.x[i]]));
  const values = [...byValue.keys()].sort((a, b) => a - b);
  const mean = (/** @type {number[]} */ some) => some.reduce((sum, x) => sum + x, 0) / some.length;
  return {
    height: 330,
    label: `Codes of z${latent} for each value of ${name}`,
    traces: [
      { type: "scatter", mode: "markers", x: spread, y: answer.x, text: answer.y, marker: { size: 4, opacity: 0.35, color: "#3a83d8" }, hovertemplate: `${name} %{text}<br>z${latent} %{y:.3g}<extra></extra>`, showlegend: false },
      { type: "scatter", mode: "lines+markers", x: values, y: values.map((value) => mean(byValue.get(value))), line: { color: "#d9762b", width: 1.5 }, marker: { size: 6, color: "#d9762b" }, name: "mean", hovertemplate: `mean of z${latent} at ${name} %{x}: %{y:.3g}<extra></extra>`, showlegend: false },
    ],
    layout: { xaxis: { title: name, ...(values.length <= 12 ? { tickvals: values } : {}) }, yaxis: { title: `z${latent}` } },
    table: { head: [name, "images", `mean of z${latent}`], rows: values.map((value) => [number(value), String(byValue.get(value).length), fixed(mean(byValue.get(value)), 3)]) },
  };
}
