import { element } from "../base/dom.js";
import { drawScaled } from "./figure.js";
import { isNumber } from "../base/format.js";

let scale = "linear";
let switches = 0;

export const isLogScale = () => scale === "log";

const middle = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

// One agent far above the rest, uniform play mostly, would press all the others onto a linear axis.
// Where that is so in half the environments the axes start logarithmic.
export function startScale(summary) {
  const environments = [...new Set(summary.map((row) => row.env))];
  const dwarfed = environments.filter((env) => {
    const means = summary.filter((row) => row.env === env).map((row) => row.regret?.mean).filter(isNumber);
    return Math.max(...means) > 10 * middle(means);
  });
  scale = environments.length && dwarfed.length >= environments.length / 2 ? "log" : "linear";
}

function choose(name) {
  scale = name;
  for (const input of document.querySelectorAll(".switch input")) input.checked = input.value === scale;
  drawScaled();
}

function choice(name, group) {
  const attributes = { type: "radio", name: group, value: name, onchange: () => choose(name) };
  if (name === scale) attributes.checked = "";
  return element("label", {}, element("input", attributes), element("span", {}, name));
}

// All switches of a page move together.
export function scaleSwitch() {
  const group = `scale-${(switches += 1)}`;
  return element("fieldset", { class: "switch" }, element("legend", {}, "Regret axis"), choice("linear", group), choice("log", group));
}
