import { element } from "./dom.js";
import { swatch } from "./series.js";
import { isHidden, onVisibilityChange, toggleAgent } from "./visibility.js";

// A row's head in the tables: a legend entry that the keyboard reaches as well.
export function agentLabel(agent, index) {
  const button = element("button", { type: "button", class: "agent", onclick: () => toggleAgent(agent) });
  button.innerHTML = swatch(index);
  button.append(element("span", {}, agent));
  const follow = () => button.setAttribute("aria-pressed", String(!isHidden(agent)));
  onVisibilityChange(follow);
  follow();
  return element("th", { scope: "row" }, button);
}
