// @ts-check
/** Light or dark colours: as the system is set, unless the user has used the switch. */

const STORAGE_KEY = "unweave-theme";
/** @type {Set<() => void>} */
const listeners = new Set();

/** @returns {string | null} */
function stored() {
  try {
    return window.localStorage.getItem(STORAGE_KEY);
  } catch {
    return null; // storage may be blocked, as for some pages opened from disk
  }
}

/** @param {string} name */
function store(name) {
  try {
    window.localStorage.setItem(STORAGE_KEY, name);
  } catch {
    // The choice then lasts until the page is closed.
  }
}

/** Whether the page is dark. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

/** @param {HTMLButtonElement} button */
export function start(button) {
  const chosen = stored();
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  const say = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  };
  const changed = () => {
    say();
    for (const listener of listeners) listener();
  };
  button.addEventListener("click", () => {
    const name = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = name;
    store(name);
    changed();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  say();
}

/**
 * Call a function whenever the colours change.
 * @param {() => void} listener
 * @param {AbortSignal} signal
 */
export function onChange(listener, signal) {
  listeners.add(listener);
  signal.addEventListener("abort", () => listeners.delete(listener));
}

/**
 * The current value of a colour of the palette.
 * @param {string} name
 */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Colours of methods, as in the report of a study; they are distinct on both backgrounds and for colour-blind readers. */
export const COLOURS = ["#3a83d8", "#d9762b", "#2f9d62", "#a06bd8", "#d4576c", "#189aa8", "#9b8a1c", "#c55ba6"];
/** Markers, so that colour is never the only difference. */
export const MARKERS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star"];
