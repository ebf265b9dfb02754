import { element } from "./dom.js";
import { drawAll } from "./figure.js";

let scale = "linear";

export const isLogScale = () => scale === "log";

const middle = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

// One agent far above the rest, uniform play mostly, would press all the others onto a linear axis.
function startScale(summary) {
  const environments = new Set(summary.map((row) => row.env));
  const dwarfed = [...environments].some((env) => {
    const means = summary.filter((row) => row.env === env).map((row) => row.regret.mean);
    return Math.max(...means) > 10 * middle(means);
  });
  return dwarfed ? "log" : "linear";
}

function choose(name) {
  scale = name;
  drawAll();
}

function choice(name) {
  const attributes = { type: "radio", name: "scale", value: name, onchange: () => choose(name) };
  if (name === scale) attributes.checked = "";
  return element("label", {}, element("input", attributes), element("span", {}, name));
}

export function scaleSwitch(summary) {
  scale = startScale(summary);
  return element("fieldset", { class: "switch" }, element("legend", {}, "Regret axis"), choice("linear"), choice("log"));
}
