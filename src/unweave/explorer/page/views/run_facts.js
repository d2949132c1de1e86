// @ts-check
/** Parts of the page of a run: what each latent carries, its scores, curves and settings. */
import { json } from "#lib/api.js";
import { chart } from "#lib/charts.js";
import { check } from "#lib/controls.js";
import { el, fill, plainTable, section } from "#lib/dom.js";
import { decimals, fixed, number, setting } from "#lib/format.js";
import { link } from "#lib/router.js";
import { carriedBy, histogram } from "#lib/sliders.js";
import { COLOURS } from "#lib/theme.js";

/** @param {any} context @param {any} run */
export function latentsPart(context, run) {
  const host = el("div");
  const { name, unit, words } = carriedBy(run);
  const axis = unit ? `${name} (${unit.trim()})` : name;
  const shown = run.order.map((/** @type {number} */ i) => run.latents[i]);
  const known = shown.filter((/** @type {any} */ latent) => latent.kl !== null);
  if (known.length) {
    const spec = {
      height: 200,
      label: `What each latent carries: ${words}`,
      traces: [{ type: "bar", x: known.map((/** @type {any} */ latent) => `z${latent.index}`), y: known.map((/** @type {any} */ latent) => latent.kl), marker: { color: known.map((/** @type {any} */ latent) => (latent.active === false ? "#8a929c" : COLOURS[0])) }, hovertemplate: `%{x}: %{y:.3g}${unit}<extra></extra>` }],
      layout: { yaxis: { title: axis, rangemode: "tozero" }, xaxis: { type: "category" }, bargap: 0.35, margin: { l: 48, r: 8, t: 8, b: 28 } },
    };
    void chart(host, spec, context.signal).catch((error) => context.fail(error.message));
  }
  const rows = shown.map((/** @type {any} */ latent) => [
    `z${latent.index}`,
    latent.active === false ? "–" : (latent.factor ?? "–"),
    fixed(latent.kl, 3),
    fixed(latent.mean, 2),
    fixed(latent.sd, 2),
    el("span", { class: "tiny" }, histogram(latent, `Histogram of the codes of z${latent.index}`)),
  ]);
  const link_ = run.labelled ? el("p", { class: "note" }, el("a", { href: link("matrix", { run: run.id }) }, "Codes against all factors")) : null;
  return section(
    "What each latent carries",
    `Bars: ${words}. Codes are ${run.points ? "those" : "posterior means"} of ${number(run.sampled)} of ${number(run.of)} ${run.kind === "codes-only" ? "rows" : "images"}, drawn at random.`,
    host,
    plainTable("Latents", ["latent", "follows", axis, "mean", "sd", "codes"], rows, { hideCaption: true }),
    link_,
  );
}

/** @param {any} run */
export function scoresPart(run) {
  const scores = run.scores ?? [];
  if (!scores.length && !run.state && !run.method) return null;
  if (!scores.length) return section("Scores", "", el("p", {}, "This run has no scores yet. Score it with ", el("code", {}, "unweave evaluate"), "."));
  const has = (/** @type {string} */ name) => scores.some((/** @type {any} */ score) => typeof score[name] === "number");
  const intervals = has("low");
  const limits = has("floor") || has("ceiling");
  const head = ["metric", "score", ...(intervals ? ["95 % interval"] : []), ...(limits ? ["floor", "ceiling"] : []), "step"];
  const rows = scores.map((/** @type {any} */ score) => [
    score.metric,
    decimals(score.value),
    ...(intervals ? [typeof score.low === "number" ? `${decimals(score.low)} to ${decimals(score.high)}` : "–"] : []),
    ...(limits ? [decimals(score.floor), decimals(score.ceiling)] : []),
    score.current === false ? `${setting(score.step)} (of earlier weights)` : setting(score.step),
  ]);
  const note = ["Each score is of the step in the last column.", intervals ? "Intervals are over half-samples of the images." : "", limits ? "Floor: the score with shuffled factors; ceiling: the score with the factors themselves as codes." : ""];
  return section("Scores", note.filter(Boolean).join(" "), plainTable("Scores of the run", head, rows, { hideCaption: true }));
}

/** @param {any} context @param {any} run */
export function curves(context, run) {
  const host = el("div", { class: "charts" });
  if (!run.state && !run.method) return null; // codes or a custom model: there is no training log
  const weights = el("p", { class: "note", hidden: true }, "Terms are shown as they are optimised, already multiplied by their weights: for β-VAE, kl is β × KL.");
  const part = section("Training", "Terms of the loss as they were logged: sums over pixels and latents, means over the batch, in nats.", host, weights);
  const draw = (/** @type {any} */ answer, /** @type {boolean} */ logarithmic) => {
    const terms = Object.entries(answer.terms);
    fill(host, terms.map(([name, values]) => {
      const place = el("div");
      const spec = {
        height: 190,
        label: `${name} over the steps of training`,
        traces: [{ type: "scatter", mode: "lines", x: answer.steps, y: values, line: { color: COLOURS[0], width: 1.5 }, hovertemplate: "step %{x}<br>%{y:.4g}<extra></extra>" }],
        layout: { xaxis: { title: "step", nticks: 6 }, yaxis: { type: logarithmic ? "log" : "linear", nticks: 5 }, margin: { l: 48, r: 8, t: 8, b: 36 } },
        table: { head: ["step", name], rows: answer.steps.map((/** @type {number} */ step, /** @type {number} */ i) => [number(step), number(/** @type {any} */ (values)[i])]) },
      };
      void chart(place, spec, context.signal).catch((error) => context.fail(error.message));
      return el("figure", {}, el("figcaption", {}, el("strong", {}, name)), place);
    }));
  };
  json("run/curves", { run: run.id }, context.signal).then(
    (answer) => {
      if (!answer.steps.length) {
        fill(host, el("p", { class: "quiet" }, "Nothing was logged."));
        return;
      }
      host.before(el("div", { class: "controls" }, check("Logarithmic scale", context.state.log === "1", (on) => {
        context.set({ log: on ? "1" : null }, { push: true });
        draw(answer, on);
      })));
      draw(answer, context.state.log === "1");
      weights.hidden = Object.keys(answer.terms).length < 2;
    },
    (error) => context.signal.aborted || fill(host, el("p", { class: "quiet" }, error.message)),
  );
  return part;
}

/** @param {any} run */
export function settingsPart(run) {
  const rows = Object.entries(run.config ?? {}).flatMap(([group, values]) => {
    if (values === null || typeof values !== "object") return [[group, setting(values)]];
    return Object.entries(values).map(([name, value]) => [`${group}.${name}`, typeof value === "object" && value !== null ? JSON.stringify(value) : setting(value)]);
  });
  if (!rows.length) return el("div");
  return el("section", {}, el("details", {}, el("summary", {}, el("b", {}, "Settings")), plainTable("Settings of the run", ["setting", "value"], rows, { hideCaption: true })));
}
