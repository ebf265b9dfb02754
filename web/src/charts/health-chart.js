import { vegaLegend } from "../figure/agent-legend.js";
import { isNumber } from "../base/format.js";
import { logAxis } from "./log-axis.js";
import { colourScale, dashScale } from "../base/series.js";
import { colour as themeColour, isNarrow } from "../base/theme.js";
import { hiddenParameter, visibleOnly } from "../base/visibility.js";

// lines: [{ agent, x: [...], mean: [...], se: [...] }], all at least 0; thin: drawn pale and without a band
function rowsOf(lines, log) {
  const rows = lines.flatMap(({ agent, x, mean, se, thin = false }, line) =>
    x.map((at, i) => ({ agent, line, thin, x: at, mean: mean[i], se: se?.[i], low: Math.max(0, mean[i] - (se?.[i] ?? 0)), high: mean[i] + (se?.[i] ?? 0) })),
  );
  const shown = rows.filter(({ mean }) => isNumber(mean) && (!log || mean > 0));
  return log ? shown.map((row) => ({ ...row, low: row.low > 0 ? row.low : row.mean })) : shown;
}

const referenceLayers = (references) =>
  references.map((value) => ({ data: { values: [{ value }] }, mark: { type: "rule", strokeDash: [5, 4], strokeWidth: 1.5, color: themeColour("muted"), tooltip: null }, encoding: { y: { field: "value", type: "quantitative" } } }));

// A number of each agent over rounds, or over something else. x, y: { title, log, domain, format };
// references: values with a dashed line; step: a line is a histogram's, x where bins begin
export function healthChart(agents, lines, { x, y, references = [], step = false, legend = false, height = 240 }) {
  const rows = rowsOf(lines, y.log);
  const colour = { field: "agent", type: "nominal", sort: null, scale: colourScale(agents), legend: legend ? vegaLegend(agents) : null };
  const dash = { field: "agent", type: "nominal", sort: null, legend: null, scale: dashScale(agents) };
  const across = { field: "x", type: "quantitative", title: x.title, ...(x.log ? logAxis(rows.map((row) => row.x), "x") : { scale: { domain: x.domain, nice: false, zero: false } }) };
  across.axis = { ...across.axis, grid: false, labelFlush: false, labelOverlap: true };
  const up = { type: "quantitative", title: y.title, ...(y.log ? logAxis(rows.flatMap(({ low, high }) => [low, high]), "y") : { scale: { zero: true, domain: y.domain }, axis: { tickCount: 5, format: y.format } }) };
  const line = { type: "line", strokeWidth: 2, tooltip: null, ...(step ? { interpolate: "step-after" } : {}) };
  const at = { x: across, color: colour, detail: { field: "line" } };
  // A single agent stays: an empty drawing has no axes.
  const drawn = (thin) => [...(agents.length > 1 ? [visibleOnly] : []), { filter: `datum.thin === ${thin}` }];
  return {
    height: isNarrow() ? Math.min(height, 220) : height,
    params: [hiddenParameter()],
    data: { values: rows },
    layer: [
      ...referenceLayers(references),
      ...(rows.some(({ thin }) => thin) ? [{ transform: drawn(true), mark: { ...line, strokeWidth: 1.5, opacity: 0.55, strokeDash: [2, 3] }, encoding: { ...at, y: { ...up, field: "mean" } } }] : []),
      ...(step ? [] : [{ transform: drawn(false), mark: { type: "area", opacity: 0.13, tooltip: null }, encoding: { ...at, y: { ...up, field: "low" }, y2: { field: "high" } } }]),
      { transform: drawn(false), mark: line, encoding: { ...at, y: { ...up, field: "mean" }, strokeDash: dash } },
      {
        transform: drawn(false),
        mark: { type: "point", filled: true, size: 50, opacity: 0 },
        encoding: {
          ...at,
          y: { ...up, field: "mean" },
          tooltip: [
            { field: "agent", title: "Agent" },
            { field: "x", title: x.title, type: "quantitative", format: ",~g" },
            { field: "mean", title: y.title, type: "quantitative", format: ".4~g" },
          ],
        },
      },
    ],
  };
}
