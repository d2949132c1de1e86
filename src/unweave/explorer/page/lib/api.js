// @ts-check
/** Requests to the server or to a static export; the rest of the page need not know which. */

/** @typedef {Record<string, string | number | null | undefined>} Params */
/** @typedef {{json: Record<string, any>, files?: Record<string, string>, pictures?: Record<string, string>}} Stored */

export class AnswerError extends Error {}

/** @returns {Stored | undefined} */
function stored() {
  return /** @type {any} */ (window).UNWEAVE_STATIC;
}

/** Whether the page is a static export, without a server. */
export function isStatic() {
  return stored() !== undefined;
}

/** @param {Params} params @returns {[string, string][]} */
function given(params) {
  /** @type {[string, string][]} */
  const pairs = [];
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") pairs.push([name, String(value)]);
  }
  return pairs.sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

/**
 * The key of an answer in a static export.
 * @param {string} path
 * @param {Params} [params]
 */
export function key(path, params = {}) {
  const pairs = given(params).map(([name, value]) => `${name}=${value}`);
  return pairs.length ? `${path}?${pairs.join("&")}` : path;
}

/**
 * Whether a static export has the answer; always true with a server.
 * @param {string} path
 * @param {Params} [params]
 */
export function has(path, params = {}) {
  const kept = stored();
  const name = key(path, params);
  return !kept || name in kept.json || name in (kept.files ?? {}) || name in (kept.pictures ?? {});
}

/**
 * The address of a picture, for an image or a link.
 * @param {string} path
 * @param {Params} [params]
 */
export function address(path, params = {}) {
  const kept = stored();
  if (kept) return (kept.pictures ?? {})[key(path, params)] ?? "";
  const query = new URLSearchParams(given(params)).toString();
  return query ? `api/${path}?${query}` : `api/${path}`;
}

/**
 * An answer as JSON.
 * @param {string} path
 * @param {Params} [params]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function json(path, params = {}, signal) {
  const kept = stored();
  if (kept) return fromExport(kept, key(path, params));
  const answer = await ask(address(path, params), signal);
  return answer.json();
}

/**
 * A picture as a blob.
 * @param {string} path
 * @param {Params} params
 * @param {AbortSignal} [signal]
 * @returns {Promise<Blob>}
 */
export async function picture(path, params, signal) {
  const answer = await ask(address(path, params), signal);
  return answer.blob();
}

/** @param {string} url @param {AbortSignal} [signal] */
async function ask(url, signal) {
  let answer;
  try {
    answer = await fetch(url, { signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new AnswerError("The server does not answer. Is `unweave explore` still running?");
  }
  if (!answer.ok) throw new AnswerError(await reason(answer));
  return answer;
}

/** @param {Response} answer */
async function reason(answer) {
  try {
    const body = await answer.json();
    if (typeof body.error === "string") return body.error;
  } catch {
    // Not JSON: only the status is known.
  }
  return `The server answered with status ${answer.status}.`;
}

/** @param {Stored} kept @param {string} name */
async function fromExport(kept, name) {
  const file = kept.files?.[name];
  if (!(name in kept.json) && file) await script(file);
  if (!(name in kept.json)) throw new AnswerError("This is not in the export. Open the folder with `unweave explore` to see it.");
  return kept.json[name];
}

/** @type {Map<string, Promise<void>>} */
const scripts = new Map();

/**
 * Load a classic script once.
 * @param {string} source
 * @returns {Promise<void>}
 */
export function script(source) {
  const known = scripts.get(source);
  if (known) return known;
  const loading = new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
    const tag = document.createElement("script");
    tag.src = source;
    tag.onload = () => resolve();
    tag.onerror = () => {
      scripts.delete(source);
      reject(new AnswerError(`Cannot load ${source}. Reload the page.`));
    };
    document.head.append(tag);
  });
  scripts.set(source, loading);
  return loading;
}
