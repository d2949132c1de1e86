// @ts-check
/** Requests of a moving control: only the newest value counts, and images appear while the control still moves. */

const PATIENCE = 120;

/**
 * A function that sends a request for each new value, one at a time.
 *
 * While a request runs, the newest value waits. If the request takes longer than `PATIENCE` milliseconds, it is aborted
 * for the waiting value. Aborting at once would show no image until the slider stops.
 * @template V, A
 * @param {(value: V, signal: AbortSignal) => Promise<A>} ask
 * @param {(answer: A, value: V) => void} show
 * @param {(error: Error) => void} fail
 * @param {AbortSignal} signal
 * @returns {(value: V) => void}
 */
export function following(ask, show, fail, signal) {
  /** @type {{value: V} | null} */
  let waiting = null;
  /** @type {AbortController | null} */
  let asking = null;
  let since = 0;

  const next = async () => {
    while (waiting && !signal.aborted) {
      const { value } = waiting;
      waiting = null;
      const controller = (asking = new AbortController());
      since = performance.now();
      try {
        const answer = await ask(value, AbortSignal.any([signal, controller.signal]));
        if (!signal.aborted) show(answer, value);
      } catch (error) {
        if (!controller.signal.aborted && !signal.aborted) fail(/** @type {Error} */ (error));
      }
    }
    asking = null;
  };
  return (value) => {
    waiting = { value };
    if (!asking) {
      void next();
      return;
    }
    const controller = asking;
    const left = since + PATIENCE - performance.now();
    window.setTimeout(() => {
      if (asking === controller && waiting) controller.abort();
    }, Math.max(0, left));
  };
}
