import { agentAxis } from "./agent-axis.js";
import { colour } from "../base/theme.js";
import { hiddenParameter, visibleOnly } from "../base/visibility.js";

const pullRows = (pulls) => pulls.flatMap(({ agent, counts }) => counts.map((count, i) => ({ agent, action: i, count })));

export function pullsBars(agents, pulls) {
  const { axis, step, shift, space } = agentAxis(agents);
  return {
    height: { step },
    params: [hiddenParameter()],
    data: { values: pullRows(pulls) },
    transform: [visibleOnly],
    mark: { type: "bar", height: 14, yOffset: shift, stroke: colour("surface"), strokeWidth: 1 },
    encoding: {
      y: { field: "agent", type: "nominal", sort: agents, axis },
      x: { field: "count", type: "quantitative", stack: "zero", title: "Rounds", scale: { nice: false }, axis: { tickCount: 4 } },
      order: { field: "action", type: "quantitative" },
      color: {
        field: "action",
        type: "ordinal",
        scale: { scheme: { name: "viridis", extent: [0.15, 0.95] } },
        legend: { title: "Action", orient: "bottom", direction: "horizontal", symbolType: "square", symbolStrokeWidth: 0, columns: { expr: `max(2, floor((container - ${space}) / 44))` } },
      },
      tooltip: [
        { field: "agent", title: "Agent" },
        { field: "action", title: "Action" },
        { field: "count", title: "Mean pulls", format: ",.1f" },
      ],
    },
  };
}
