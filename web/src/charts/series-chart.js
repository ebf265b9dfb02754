import { vegaLegend } from "../figure/agent-legend.js";
import { isNumber } from "../base/format.js";
import { logAxis } from "./log-axis.js";
import { colourScale, dashScale } from "../base/series.js";
import { colour as themeColour } from "../base/theme.js";
import { hiddenParameter, visibleOnly } from "../base/visibility.js";

const WIDE_RANGE = 10;
const CROWDED = 0.12;

// Numbers over a wide range are set on a log axis; crowded ones, which would run
// into each other, at equal distances.
function xScale(values, title) {
  const axis = { title, grid: false, labelFlush: false, labelAngle: 0 };
  const [low, high] = [values[0], values.at(-1)];
  const gaps = values.slice(1).map((value, i) => value - values[i]);
  if (low > 0 && high / low >= WIDE_RANGE && values.length < 10) return { type: "quantitative", scale: { type: "log", nice: false, padding: 14 }, axis: { ...axis, values, format: ",~g" } };
  if (values.length < 10 && Math.min(...gaps) < CROWDED * (high - low)) return { type: "ordinal", scale: { type: "point", padding: 0.3 }, axis };
  return { type: "quantitative", scale: { nice: false, zero: false, padding: 10 }, axis: { ...axis, tickCount: 6 } };
}

// rows: [{ agent, x, mean, low, high }] without those a log axis cannot show
function chartRows(series, log) {
  const rows = series.flatMap(({ agent, points }) =>
    points.filter(({ mean }) => isNumber(mean)).map(({ x, mean, se }) => ({ agent, x, mean, se, low: mean - (se ?? 0), high: mean + (se ?? 0) })),
  );
  return log ? rows.filter(({ mean }) => mean > 0).map((row) => ({ ...row, low: row.low > 0 ? row.low : row.mean })) : rows;
}

function floorLayers(floor, log, x, y) {
  if (!floor) return [];
  const rows = chartRows([floor], log);
  const muted = themeColour("muted");
  const encoding = { x: { ...x, field: "x" }, y: { ...y, field: "mean" } };
  return [
    { data: { values: rows }, mark: { type: "area", color: muted, opacity: 0.14, tooltip: null }, encoding: { x: encoding.x, y: { ...y, field: "low" }, y2: { field: "high" } } },
    { data: { values: rows }, mark: { type: "line", strokeDash: [5, 4], strokeWidth: 1.5, color: muted, tooltip: null }, encoding },
    { data: { values: rows.slice(-1) }, mark: { type: "text", align: "right", baseline: "top", dx: 4, dy: 10, fontSize: 12, color: muted, text: floor.label, tooltip: null }, encoding },
  ];
}

// series: [{ agent, points: [{ x, mean, se }] }] with lines and bars of one standard error;
// floor: { label, points }, a dashed line that no series is expected to pass
export function seriesChart(series, { xTitle, yTitle, log = false, floor = null, legend = true, height = 300 }) {
  const agents = series.map(({ agent }) => agent);
  const rows = chartRows(series, log);
  const all = floor ? [...rows, ...chartRows([floor], log)] : rows;
  const x = xScale([...new Set(all.map((row) => row.x))].sort((a, b) => a - b), xTitle);
  const y = { type: "quantitative", title: yTitle, ...(log ? logAxis(all.flatMap(({ low, high }) => [low, high]), "y") : { axis: { tickCount: 6 }, scale: { zero: true } }) };
  // Room for the floor's label below it.
  if (log && floor) y.scale.domainMin = 0.7 * Math.min(...all.map(({ low }) => low));
  const colour = { field: "agent", type: "nominal", sort: null, scale: colourScale(agents), legend: legend ? vegaLegend(agents) : null };
  const at = { x: { ...x, field: "x" }, y: { ...y, field: "mean" }, color: colour };
  const tooltip = [
    { field: "agent", title: "Agent" },
    { field: "x", title: xTitle, format: ",~g", type: "quantitative" },
    { field: "mean", title: yTitle, format: ",.4~g" },
    { field: "se", title: "Standard error", format: ",.3~g" },
  ];
  return {
    // Any number: fitWidth replaces it, but without one an ordinal axis would set its own.
    width: 400,
    height,
    params: [hiddenParameter()],
    layer: [
      ...floorLayers(floor, log, x, y),
      {
        data: { values: rows },
        // A single series stays: an empty drawing has no axes.
        transform: series.length > 1 ? [visibleOnly] : [],
        layer: [
          { mark: { type: "rule", strokeWidth: 1.5, tooltip: null }, encoding: { ...at, y: { ...y, field: "low" }, y2: { field: "high" } } },
          { mark: { type: "line", strokeWidth: 2, tooltip: null }, encoding: { ...at, strokeDash: { ...colour, scale: dashScale(agents) } } },
          { mark: { type: "point", filled: true, size: 55, opacity: 1 }, encoding: { ...at, tooltip } },
        ],
      },
    ],
  };
}
