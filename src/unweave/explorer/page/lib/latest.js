// @ts-check
/** Requests that follow a control: only the newest counts, and an image still appears while the control moves. */

const PATIENCE = 120;

/**
 * A function that asks for each new value in turn.
 *
 * While an answer is awaited the newest value waits; an answer that takes longer than `PATIENCE` milliseconds is
 * aborted for it. Aborting at once would show nothing as long as a slider moves.
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
