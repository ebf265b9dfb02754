import { agentButton } from "./agent-label.js";
import { element } from "../base/dom.js";
import { agentLabels, agentName } from "../base/labels.js";
import { textWidth } from "./text-width.js";

const AXIS_WIDTH = 70;
const FEW = 8;

// Inside a drawing, below it.
export function vegaLegend(agents) {
  const entryWidth = textWidth(agents.map(agentName), 13) + 52;
  return {
    orient: "bottom",
    title: null,
    values: agents,
    columns: { expr: `max(1, floor((container - ${AXIS_WIDTH}) / ${entryWidth}))` },
    labelLimit: 280,
    ...agentLabels(),
    symbolType: "stroke",
    symbolSize: 500,
    symbolStrokeWidth: 2.5,
    rowPadding: 5,
    columnPadding: 16,
    offset: 14,
  };
}

// On the page, one for the figures that follow it; a short one stays in sight, a single agent needs none.
export function pageLegend(agents, ...controls) {
  const buttons = agents.length > 1 ? agents.map(agentButton) : [];
  const entries = element("div", { class: "entries", role: "group", "aria-label": "Agents shown" }, buttons);
  return element("div", { class: agents.length > FEW ? "legend" : "legend pinned" }, entries, ...controls);
}
