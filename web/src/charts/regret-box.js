import { agentAxis } from "./agent-axis.js";
import { logAxis } from "./log-axis.js";
import { isLogScale } from "../figure/scale-switch.js";
import { colourScale } from "../base/series.js";
import { colour } from "../base/theme.js";
import { hiddenParameter, visibleOnly } from "../base/visibility.js";

// Points of one agent are spread over its row by the golden ratio's multiples.
const spread = (i) => ((i * 0.618034) % 1) - 0.5;

function finalRows(finals, log) {
  const rows = finals.flatMap(({ agent, values }) => values.map((value, i) => ({ agent, value, spread: spread(i) })));
  return log ? rows.filter(({ value }) => value > 0) : rows;
}

export function regretBox(agents, finals) {
  const log = isLogScale();
  const { axis, step, shift } = agentAxis(agents);
  const rows = finalRows(finals, log);
  const ruler = log ? logAxis(rows.map(({ value }) => value), "x") : { axis: { tickCount: 5 }, scale: { zero: false, padding: 8 } };
  const encoding = {
    y: { field: "agent", type: "nominal", sort: agents, axis },
    x: { field: "value", type: "quantitative", title: "Normalised regret", ...ruler },
    color: { field: "agent", type: "nominal", scale: colourScale(agents), legend: null },
  };
  const box = {
    type: "boxplot",
    extent: "min-max",
    size: 14,
    box: { opacity: 0.25, yOffset: shift },
    median: { color: colour("text"), yOffset: shift },
    rule: { color: colour("muted"), yOffset: shift },
  };
  const point = { type: "point", filled: true, size: 13, opacity: 0.65, yOffset: { expr: `${shift} + 10 * datum.spread` } };
  return {
    height: { step },
    params: [hiddenParameter()],
    data: { values: rows },
    transform: [visibleOnly],
    encoding,
    layer: [
      { mark: box },
      {
        mark: point,
        encoding: { tooltip: [{ field: "agent", title: "Agent" }, { field: "value", title: "Normalised regret", format: ".4~g" }] },
      },
    ],
  };
}
