import { isNumber } from "../base/format.js";
import { logAxis } from "./log-axis.js";
import { colour } from "../base/theme.js";

function floorLayers(floor) {
  if (!isNumber(floor)) return [];
  const data = { values: [{ floor }] };
  const y = { field: "floor", type: "quantitative" };
  return [
    { data, mark: { type: "rule", strokeDash: [5, 4], strokeWidth: 1.5, color: colour("muted"), tooltip: null }, encoding: { y } },
    {
      data,
      mark: { type: "text", align: "left", baseline: "bottom", dx: 6, dy: -3, fontSize: 12, color: colour("muted"), text: "exact", x: 0, tooltip: null },
      encoding: { y },
    },
  ];
}

// metric: { key, axis }; now: the iteration that the particles' figure shows
export function metricChart(metrics, { key, axis }, floor, now) {
  const rows = metrics.filter((row) => isNumber(row[key])).map((row) => ({ iteration: row.iteration, value: row[key] }));
  const positive = rows.every(({ value }) => value > 0) && !(floor <= 0);
  const x = { field: "iteration", type: "quantitative", title: "Iteration", scale: { nice: false }, axis: { grid: false, tickCount: 4 } };
  const y = { field: "value", type: "quantitative", title: axis, ...(positive ? logAxis([...rows.map(({ value }) => value), ...(isNumber(floor) ? [floor] : [])], "y") : { axis: { tickCount: 5 } }) };
  const tooltip = [
    { field: "iteration", type: "quantitative", title: "Iteration" },
    { field: "value", type: "quantitative", title: axis, format: ".4~g" },
  ];
  return {
    height: 210,
    params: [{ name: "now", value: now }],
    data: { values: rows },
    layer: [
      { mark: { type: "line", strokeWidth: 2, tooltip: null }, encoding: { x, y } },
      { mark: { type: "point", filled: true, size: 60, opacity: 0 }, encoding: { x, y, tooltip } },
      ...floorLayers(floor),
      {
        data: { values: [{}] },
        transform: [{ calculate: "now", as: "iteration" }],
        mark: { type: "rule", color: colour("particle"), strokeWidth: 1.5, tooltip: null },
        encoding: { x },
      },
    ],
  };
}
