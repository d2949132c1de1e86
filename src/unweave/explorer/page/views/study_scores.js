// @ts-check
/** Scores by method and strength: each run is a point, each cell a mean with its interval. */
import { select } from "#lib/controls.js";
import { chart } from "#lib/charts.js";
import { el, fill } from "#lib/dom.js";
import { fixed, number, placesOf, setting } from "#lib/format.js";
import { arrow, metricsOf } from "#lib/frame.js";
import { COLOURS, MARKERS } from "#lib/theme.js";
import { filteredGroups, partialNote } from "#views/study_filtered.js";

/** @typedef {import("#views/study.js").Model} Model */
/** @typedef {import("#views/study.js").Group & {partial: string}} Group */

const CELLS = "(cells)";
const MOST_CELLS = 80;

/** @type {import("#views/study.js").Part} */
export function drawScores(panel, model, context, signal) {
  const { state } = context;
  const metrics = metricsOf(model.frame);
  if (!metrics.length) {
    panel.append(el("p", {}, "No run has a score yet. Score the runs with ", el("code", {}, "unweave evaluate"), "."));
    return () => {};
  }
  const metric = () => (metrics.includes(state.metric) ? state.metric : metrics[0]);
  const axes = [...strengths(model), CELLS];
  const axis = () => (axes.includes(state.by) ? state.by : axes[0]);
  const charts = el("div", { class: "charts" });
  const note = el("p", { class: "note" });
  let leaving = new AbortController();
  const draw = () => {
    leaving.abort();
    leaving = new AbortController();
    const inner = AbortSignal.any([signal, leaving.signal]);
    const shown = axis() === CELLS ? [byCell(model, metric(), context)] : byStrength(model, metric(), axis(), context);
    note.textContent = `Small points are runs, large points are means over seeds, bars are the interval: ${model.groups.interval}${axis() === CELLS ? cellsLeft(model) : ""}`.replace(/([^.])$/, "$1.") + partialNote(model);
    fill(charts, shown.map(({ name, spec }) => {
      const host = el("div");
      void chart(host, spec, inner).catch((error) => context.fail(error.message));
      return el("figure", {}, name ? el("figcaption", {}, el("strong", {}, name)) : null, host);
    }));
  };
  const chosen = (/** @type {string} */ name) => (/** @type {string} */ value) => {
    context.set({ [name]: value }, { push: true });
    draw();
  };
  panel.append(
    el("div", { class: "controls" }, select("Metric", metrics.map((name) => ({ value: name, label: name + arrow(model.frame, name) })), metric(), chosen("metric")), select("Against", axes.map((name) => ({ value: name, label: name === CELLS ? "cells, by name" : name })), axis(), chosen("by"))),
    note,
    charts,
  );
  draw();
  return (next) => {
    model = next;
    draw();
  };
}

/** Numeric settings with several values, those with the most values first. @param {Model} model */
export function strengths(model) {
  const distinct = model.groups.by.map((name) => ({ name, values: new Set(model.groups.groups.map((group) => group.key[name])) }));
  const numeric = distinct.filter(({ values }) => values.size > 1 && [...values].every((value) => value === null || typeof value === "number"));
  return numeric.sort((a, b) => b.values.size - a.values.size).map(({ name }) => name);
}

/** @param {Model} model @param {string} metric @param {string} axis @param {any} context */
function byStrength(model, metric, axis, context) {
  const groups = filteredGroups(model, metric).filter((group) => typeof group.key[axis] === "number");
  const panels = distinct(groups.map((group) => setting(group.key.data ?? "")));
  const others = model.groups.by.filter((name) => name !== axis && name !== "data");
  const series = distinct(groups.map((group) => seriesName(group, others)));
  const xs = groups.map((group) => group.key[axis]);
  const logarithmic = xs.every((x) => x > 0) && Math.max(...xs) / Math.min(...xs) >= 8;
  const range = rangeOf(groups, metric);
  const places = placesOf(model.frame.rows[metric]);
  return panels.map((name) => {
    const own = groups.filter((group) => setting(group.key.data ?? "") === name);
    const traces = series.flatMap((one, place) => tracesOf(own.filter((group) => seriesName(group, others) === one), one, metric, axis, { place, ...beside(xs, place, series.length, logarithmic) }));
    const ticks = distinct(xs).sort((a, b) => a - b);
    return {
      name: panels.length > 1 || name !== "–" ? (name === "–" ? "" : name) : "",
      spec: {
        traces,
        height: 360,
        label: `${metric} against ${axis}${name !== "–" ? ` on ${name}` : ""}, mean and interval over seeds`,
        layout: {
          xaxis: { title: axis, type: logarithmic ? "log" : "linear", ...(ticks.length <= 10 ? { tickvals: ticks, ticktext: ticks.map((x) => number(x)) } : {}) },
          yaxis: { title: metric + arrow(model.frame, metric), range },
          showlegend: series.length > 1,
        },
        table: { head: [axis, ...others, "mean", "low", "high", "seeds"], rows: own.map((group) => [number(group.key[axis]), ...others.map((key) => setting(group.key[key])), ...scoreWords(group, metric, places)]) },
        onclick: (/** @type {any} */ point) => openRun(point, context),
      },
    };
  });
}

/**
 * The offset of a series, so that bars do not overlap.
 * @param {number[]} xs
 * @param {number} place
 * @param {number} count
 * @param {boolean} logarithmic
 */
function beside(xs, place, count, logarithmic) {
  const by = (place - (count - 1) / 2) * 0.014;
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  return { at: (/** @type {number} */ x) => (logarithmic ? x * (high / low) ** by : x + by * (high - low)) };
}

/** @param {Group[]} groups @param {string} name @param {string} metric @param {string} axis @param {{place: number, at: (x: number) => number}} where */
function tracesOf(groups, name, metric, axis, { place, at }) {
  const colour = COLOURS[place % COLOURS.length];
  const sorted = [...groups].sort((a, b) => a.key[axis] - b.key[axis]);
  const points = sorted.flatMap((group) => group.scores[metric].values.map((value, i) => ({ x: at(group.key[axis]), y: value, run: group.runs[i] })));
  const scores = sorted.map((group) => group.scores[metric]);
  return [
    { type: "scatter", mode: "markers", name, showlegend: false, x: points.map((p) => p.x), y: points.map((p) => p.y), customdata: points.map((p) => p.run), marker: { color: colour, size: 6, opacity: 0.45, symbol: MARKERS[place % MARKERS.length] }, hovertemplate: "%{customdata}<br>%{y:.4g}<extra></extra>" },
    { type: "scatter", mode: "lines+markers", name, x: sorted.map((group) => at(group.key[axis])), text: sorted.map((group) => number(group.key[axis])), customdata: sorted.map(partialLine), y: scores.map((s) => s.mean), error_y: bars(scores), line: { color: colour, width: 1.5 }, marker: { color: colour, size: 10, symbol: MARKERS[place % MARKERS.length] }, hovertemplate: `${name}<br>${axis} %{text}<br>mean %{y:.4g}%{customdata}<extra></extra>`, meta: "mean" },
  ];
}

/** @param {Group} group */
function partialLine(group) {
  return group.partial ? `<br>${group.partial}` : "";
}

/** @param {any} point @param {any} context */
function openRun(point, context) {
  if (point.data.meta !== "mean" && point.customdata) context.go("run", { run: point.customdata });
}

/** @param {import("#views/study.js").GroupScore[]} scores */
function bars(scores) {
  const up = scores.map((s) => (s.high === null || s.mean === null ? 0 : s.high - s.mean));
  const down = scores.map((s) => (s.low === null || s.mean === null ? 0 : s.mean - s.low));
  return { type: "data", symmetric: false, array: up, arrayminus: down, thickness: 1.5, width: 4 };
}

/** @param {Model} model @param {string} metric @param {any} context */
function byCell(model, metric, context) {
  const groups = filteredGroups(model, metric).slice(0, MOST_CELLS);
  const names = groups.map((group) => group.name);
  const points = groups.flatMap((group) => group.scores[metric].values.map((value, i) => ({ x: value, y: group.name, run: group.runs[i] })));
  const scores = groups.map((group) => group.scores[metric]);
  const places = placesOf(model.frame.rows[metric]);
  return {
    name: "",
    spec: {
      height: 70 + 24 * groups.length,
      label: `${metric} of each cell, mean and interval over seeds`,
      traces: [
        { type: "scatter", mode: "markers", x: points.map((p) => p.x), y: points.map((p) => p.y), customdata: points.map((p) => p.run), marker: { color: COLOURS[0], size: 6, opacity: 0.45 }, hovertemplate: "%{customdata}<br>%{x:.4g}<extra></extra>" },
        { type: "scatter", mode: "markers", x: scores.map((s) => s.mean), y: names, error_x: bars(scores), customdata: groups.map(partialLine), meta: "mean", marker: { color: COLOURS[0], size: 10 }, hovertemplate: "%{y}<br>mean %{x:.4g}%{customdata}<extra></extra>" },
      ],
      layout: { showlegend: false, xaxis: { title: metric + arrow(model.frame, metric) }, yaxis: { range: [groups.length - 0.4, -0.6], type: "category" } },
      table: { head: ["cell", "mean", "low", "high", "seeds"], rows: groups.map((group) => [group.name, ...scoreWords(group, metric, places)]) },
      onclick: (/** @type {any} */ point) => openRun(point, context),
    },
  };
}

/** @param {Model} model */
function cellsLeft(model) {
  const count = model.members.filter((rows) => rows.length).length;
  return count > MOST_CELLS ? `. The first ${MOST_CELLS} of ${number(count)} cells are shown; filter to see others.` : "";
}

/** @param {Group} group @param {string} metric @param {number} places */
function scoreWords(group, metric, places) {
  const score = group.scores[metric];
  return [fixed(score.mean, places), fixed(score.low, places), fixed(score.high, places), group.partial || String(score.n)];
}

/** @param {Group} group @param {string[]} names */
function seriesName(group, names) {
  const given = names.filter((name) => group.key[name] !== null && group.key[name] !== undefined);
  return given.map((name) => (name === "method" ? setting(group.key[name]) : `${name}=${setting(group.key[name])}`)).join(" ") || "all runs";
}

/** @param {Group[]} groups @param {string} metric */
function rangeOf(groups, metric) {
  const all = groups.flatMap((group) => [group.scores[metric].low, group.scores[metric].high, ...group.scores[metric].values]).filter((value) => typeof value === "number");
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - room, high + room];
}

/** @template T @param {T[]} values @returns {T[]} */
function distinct(values) {
  return [...new Set(values)];
}

