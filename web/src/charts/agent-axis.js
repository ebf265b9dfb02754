import { agentLabels, agentName } from "../base/labels.js";
import { textWidth } from "../figure/text-width.js";
import { isNarrow } from "../base/theme.js";

// A wide figure has its labels left of the rows; where they would take too much
// of the width, each label stands over its row. space: the pixels left of the rows.
export function agentAxis(agents) {
  const width = textWidth(agents.map(agentName), 12) + 10;
  const above = width > (isNarrow() ? 110 : 240);
  const beside = { title: null, grid: false, labelLimit: 240, ...agentLabels() };
  const over = { ...beside, labelAlign: "left", labelBaseline: "bottom", labelPadding: -1, labelOffset: -2, labelLimit: 330, zindex: 1 };
  return above ? { axis: over, step: 42, shift: 9, space: 0 } : { axis: beside, step: 26, shift: 0, space: width };
}
