import { element } from "./dom.js";
import { drawAll } from "./figure.js";

let scale = "linear";

export const isLogScale = () => scale === "log";

function choose(name) {
  scale = name;
  drawAll();
}

function choice(name) {
  const attributes = { type: "radio", name: "scale", value: name, onchange: () => choose(name) };
  if (name === scale) attributes.checked = "";
  return element("label", {}, element("input", attributes), element("span", {}, name));
}

export function scaleSwitch() {
  return element("fieldset", { class: "switch" }, element("legend", {}, "Regret axis"), choice("linear"), choice("log"));
}
