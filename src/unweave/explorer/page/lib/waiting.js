// @ts-check
/** The message while the server reads the folder; the first time, a folder of many runs takes a few seconds. */
import { isStatic, json } from "#lib/api.js";
import { el } from "#lib/dom.js";
import { counted, number } from "#lib/format.js";

const EVERY = 250;

/**
 * A line that says what the page waits for and, until it is removed, the progress of the server.
 * @param {string} words
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function waitingLine(words, signal) {
  const text = el("span", {}, words);
  const bar = el("progress", { "aria-label": "Runs read", hidden: true });
  const line = el("p", { class: "quiet waiting" }, text, bar);
  const ask = async () => {
    if (signal.aborted || !line.isConnected) return;
    try {
      const { found, read, of } = await json("progress", {}, signal);
      text.textContent = of ? `Reading runs: ${number(read)} of ${number(of)} ` : found ? `${words} ${counted(found, "run")} found.` : words;
      bar.hidden = !of;
      if (of) Object.assign(bar, { max: of, value: read });
      window.setTimeout(ask, EVERY);
    } catch {
      // The request that the page waits for shows the error.
    }
  };
  if (!isStatic()) window.setTimeout(ask, EVERY);
  return line;
}
