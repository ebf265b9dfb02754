import { element } from "../base/dom.js";
import { agentName } from "../base/labels.js";
import { swatch } from "../base/series.js";
import { isHidden, onVisibilityChange, toggleAgent } from "../base/visibility.js";

// A legend entry that the keyboard reaches as well.
export function agentButton(agent) {
  const button = element("button", { type: "button", class: "agent", "data-agent": agent, onclick: () => toggleAgent(agent) });
  button.innerHTML = swatch(agent);
  button.append(element("span", {}, agentName(agent)));
  const follow = () => button.setAttribute("aria-pressed", String(!isHidden(agent)));
  onVisibilityChange(follow);
  follow();
  return button;
}

// A row's head in the tables.
export const agentLabel = (agent) => element("th", { scope: "row" }, agentButton(agent));
