// @ts-check
/** The page around the views: navigation, the view at the address, error messages. */
import { json } from "#lib/api.js";
import { el, fill } from "#lib/dom.js";
import { here, link, write } from "#lib/router.js";
import { start } from "#lib/theme.js";
import { waitingLine } from "#lib/waiting.js";

/**
 * @typedef {object} Index
 * @property {string} version
 * @property {string} root
 * @property {{id: string, name: string, runs: number, planned: number, done: number, running: boolean}[]} studies
 * @property {number} runs
 * @property {{id: string}[]} codes
 * @property {{id: string}[]} points
 * @property {boolean} static
 */
/**
 * @typedef {object} Context
 * @property {HTMLElement} root
 * @property {Record<string, string>} state
 * @property {(changes: Record<string, string | number | null | undefined>, options?: {push?: boolean}) => void} set with `push` the change is a step of the history: for choices, not for typing or dragging
 * @property {(view: string, state?: Record<string, string | number | null | undefined>) => void} go
 * @property {Index} index
 * @property {AbortSignal} signal
 * @property {(text: string) => void} say
 * @property {(text: string) => void} fail
 */

const PAGES = ["study", "run", "matrix", "compare", "data", "geometry"];
/** State that the links of the navigation pass on. */
const SHARED = ["run", "study"];

const content = /** @type {HTMLElement} */ (document.getElementById("content"));
const fault = /** @type {HTMLElement} */ (document.getElementById("fault"));
const said = /** @type {HTMLElement} */ (document.getElementById("said"));
let leaving = new AbortController();
/** @type {Promise<Index> | null} */
let reading = null;

/** @param {string} text */
function fail(text) {
  fault.textContent = text;
  fault.hidden = !text;
}

/** @param {string} view @param {Record<string, string>} state */
function navigation(view, state) {
  const shared = Object.fromEntries(SHARED.filter((name) => state[name]).map((name) => [name, state[name]]));
  if (state.left && !shared.run) shared.run = state.left;
  const pages = PAGES.map((name) => {
    const kept = name === "compare" ? { study: shared.study, left: shared.run } : shared;
    const current = name === view ? "page" : null;
    return el("li", {}, el("a", { href: link(name, name === view ? state : kept), "aria-current": current }, title(name)));
  });
  fill(/** @type {Element} */ (document.getElementById("pages")), pages);
}

/** @param {string} name */
function title(name) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** @returns {Promise<Index>} */
function index() {
  reading ??= json("index").catch((error) => {
    reading = null;
    throw error;
  });
  return reading;
}

async function show() {
  leaving.abort();
  const controller = (leaving = new AbortController());
  const place = here();
  const view = PAGES.includes(place.view) ? place.view : "study";
  const state = { ...place.state };
  fail("");
  navigation(view, state);
  document.title = `${title(view)} · unweave explorer`;
  if (!content.querySelector(".view")) fill(content, waitingLine("Reading the folder …", controller.signal));
  try {
    const [known, module] = await Promise.all([index(), import(`#views/${view}.js`)]);
    if (controller.signal.aborted) return;
    /** @type {HTMLElement} */ (document.getElementById("root-name")).textContent = known.root;
    const root = el("div", { class: `view ${view}` });
    const words = view === "study" ? "Reading …" : "Reading … The first time, the server opens the run and encodes its images.";
    const waiting = window.setTimeout(() => root.childElementCount || fill(root, waitingLine(words, controller.signal)), 300);
    controller.signal.addEventListener("abort", () => clearTimeout(waiting));
    fill(content, root);
    await module.show(context(view, state, root, known, controller.signal));
    root.dataset.ready = "true";
  } catch (error) {
    if (controller.signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    instead(view, reason);
    fail(reason);
  }
}

/**
 * Show an error in place of a view or of its waiting message.
 * @param {string} view
 * @param {string} reason
 */
function instead(view, reason) {
  const root = content.querySelector(".view");
  const wayOut = view === "study" && !here().state.study ? null : el("a", { href: link("study", {}) }, "Show everything in the folder");
  const words = el("p", { class: "warning failed" }, reason, wayOut ? " " : null, wayOut);
  const waiting = root?.querySelectorAll(".waiting") ?? [];
  if (!root?.childElementCount || (root.childElementCount === 1 && waiting.length)) fill(content, el("div", { class: `view ${view}` }, el("h1", {}, title(view)), words));
  else if (waiting.length) waiting[0].replaceWith(words);
  else root.append(words);
  for (const line of waiting) line.remove();
}

/**
 * @param {string} view
 * @param {Record<string, string>} state
 * @param {HTMLElement} root
 * @param {Index} known
 * @param {AbortSignal} signal
 * @returns {Context}
 */
function context(view, state, root, known, signal) {
  return {
    root,
    state,
    index: known,
    signal,
    fail: (text) => signal.aborted || fail(text),
    say: (text) => signal.aborted || (said.textContent = text),
    go: (other, wanted = {}) => (window.location.hash = link(other, wanted)),
    set: (changes, options = {}) => {
      if (signal.aborted) return;
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === undefined || value === "") delete state[name];
        else state[name] = String(value);
      }
      write(view, state, options.push ?? false);
      navigation(view, state);
    },
  };
}

start(/** @type {HTMLButtonElement} */ (document.getElementById("theme")));
window.addEventListener("hashchange", () => {
  if (window.location.hash !== "#content") void show();
});
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault(); // the address holds the state
  content.focus();
});
void show();
