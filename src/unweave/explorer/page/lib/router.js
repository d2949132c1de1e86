// @ts-check
/** The state of the page is in the address: `#/view?name=value`. */

/** @typedef {Record<string, string>} State */
/** @typedef {{view: string, state: State}} Place */

/** @returns {Place} */
export function here() {
  return read(window.location.hash);
}

/**
 * The view and the state of an address.
 * @param {string} hash
 * @returns {Place}
 */
export function read(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path, state: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * The address of a view and its state; commas and slashes stay readable.
 * @param {string} view
 * @param {Record<string, string | number | null | undefined>} [state]
 */
export function link(view, state = {}) {
  const pairs = Object.entries(state).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = pairs.map(([name, value]) => `${readable(name)}=${readable(String(value))}`).join("&");
  return query ? `#/${view}?${query}` : `#/${view}`;
}

/** @param {string} text */
function readable(text) {
  return encodeURIComponent(text).replace(/%2F/g, "/").replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%20/g, "+");
}

/**
 * Write the state to the address, without redrawing the page.
 * @param {string} view
 * @param {State} state
 * @param {boolean} push whether the change is a step of the history
 */
export function write(view, state, push) {
  const url = link(view, state);
  if (url === window.location.hash) return;
  if (push) window.history.pushState(null, "", url);
  else window.history.replaceState(null, "", url);
}
