// @ts-check
/** Labelled controls. */
import { el } from "#lib/dom.js";

/** @typedef {string | {value: string, label: string, group?: string}} Option */

let made = 0;

/** A unique id of an element. @param {string} stem */
export function unique(stem) {
  made += 1;
  return `${stem}-${made}`;
}

/**
 * A drop-down list.
 * @param {string} label
 * @param {Option[]} options
 * @param {string} value
 * @param {(value: string) => void} onchange
 */
export function select(label, options, value, onchange) {
  const control = el("select", { onchange: () => onchange(control.value) });
  const groups = new Map();
  for (const option of options) {
    const { value: key, label: text, group } = typeof option === "string" ? { value: option, label: option, group: "" } : option;
    const made = el("option", { value: key }, text);
    if (!group) {
      control.append(made);
      continue;
    }
    if (!groups.has(group)) {
      groups.set(group, el("optgroup", { label: group }));
      control.append(groups.get(group));
    }
    groups.get(group).append(made);
  }
  control.value = value;
  return el("label", { class: "field" }, el("span", {}, label), control);
}

/**
 * A checkbox.
 * @param {string} label
 * @param {boolean} checked
 * @param {(checked: boolean) => void} onchange
 */
export function check(label, checked, onchange) {
  const control = el("input", { type: "checkbox", checked, onchange: () => onchange(control.checked) });
  return el("label", { class: "tick" }, control, label);
}

/**
 * Radio buttons that look like a switch, for a choice of a few values.
 * @param {string} label
 * @param {{value: string, label: string}[]} options
 * @param {string} value
 * @param {(value: string) => void} onchange
 */
export function oneOf(label, options, value, onchange) {
  const name = unique("one");
  const items = options.map((option) => {
    const input = el("input", { type: "radio", name, value: option.value, checked: option.value === value });
    input.addEventListener("change", () => input.checked && onchange(option.value));
    return el("label", {}, input, el("span", {}, option.label));
  });
  return el("fieldset", { class: "one-of" }, el("legend", { class: "unseen" }, label), ...items);
}

/**
 * Tabs and the panel below them; `onchange` draws the panel of the selected tab.
 * @param {string} label
 * @param {{value: string, label: string}[]} options
 * @param {string} value
 * @param {(value: string, panel: HTMLElement) => void} onchange
 * @returns {{list: HTMLElement, panel: HTMLElement}}
 */
export function tabs(label, options, value, onchange) {
  const id = unique("tab");
  const panel = el("div", { role: "tabpanel", id: `${id}-panel`, class: "panel" });
  const list = el("div", { role: "tablist", "aria-label": label, class: "tabs" });
  const buttons = options.map((option) =>
    el("button", { type: "button", role: "tab", id: `${id}-${option.value}`, "aria-controls": panel.id, onclick: () => choose(option.value) }, option.label),
  );
  /** @param {string} chosen */
  const mark = (chosen) => {
    buttons.forEach((button, i) => {
      const on = options[i].value === chosen;
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
      if (on) panel.setAttribute("aria-labelledby", button.id);
    });
  };
  /** @param {string} chosen */
  const choose = (chosen) => {
    mark(chosen);
    onchange(chosen, panel);
  };
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const now = buttons.findIndex((button) => button.tabIndex === 0);
    const next = (now + step + buttons.length) % buttons.length;
    choose(options[next].value);
    buttons[next].focus();
  });
  list.append(...buttons);
  mark(value);
  return { list, panel };
}

const SUGGESTED = 100;

/**
 * A text field that selects a run; it suggests the runs whose names contain the words in it.
 * @param {string} label
 * @param {string[]} runs
 * @param {string} value
 * @param {(run: string) => void} onchange
 */
export function runPicker(label, runs, value, onchange) {
  const list = el("datalist", { id: unique("runs") });
  const known = new Set(runs);
  const suggest = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const whole = known.has(input.value);
    const found = [];
    for (const run of runs) {
      if (found.length >= SUGGESTED) break;
      if (whole || words.every((word) => run.toLowerCase().includes(word))) found.push(el("option", { value: run }));
    }
    list.replaceChildren(...found);
  };
  const accept = () => {
    if (known.has(input.value) && input.value !== value) {
      value = input.value;
      onchange(value);
    }
  };
  const input = el("input", { type: "text", list: list.id, value, spellcheck: "false", autocomplete: "off", onfocus: suggest, oninput: () => (suggest(), accept()) });
  input.addEventListener("change", () => {
    if (!known.has(input.value)) input.value = value;
  });
  const step = (/** @type {number} */ by) => {
    const next = runs[runs.indexOf(value) + by];
    if (next !== undefined) onchange(next);
  };
  const at = runs.indexOf(value);
  return el(
    "div",
    { class: "picker" },
    el("label", { class: "field wide" }, el("span", {}, label), input),
    list,
    el("button", { type: "button", class: "plain", "aria-label": `Previous run (${label})`, disabled: at <= 0, onclick: () => step(-1) }, "‹"),
    el("button", { type: "button", class: "plain", "aria-label": `Next run (${label})`, disabled: at < 0 || at >= runs.length - 1, onclick: () => step(1) }, "›"),
  );
}
