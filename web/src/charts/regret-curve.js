import { vegaLegend } from "../figure/agent-legend.js";
import { logAxis } from "./log-axis.js";
import { isLogScale } from "../figure/scale-switch.js";
import { colourScale, dashScale } from "../base/series.js";
import { colour as themeColour, isNarrow } from "../base/theme.js";
import { hiddenParameter, visibleOnly } from "../base/visibility.js";

// On a log axis the band is cut at the lowest positive mean, the axis's foot.
function curveRows(curves, log) {
  const foot = Math.min(...curves.flatMap((c) => c.mean.filter((mean) => mean > 0)));
  const rows = curves.flatMap(({ agent, t, mean, std }) =>
    t.map((round, i) => ({ agent, t: round, mean: mean[i], low: mean[i] - (std?.[i] ?? 0), high: mean[i] + (std?.[i] ?? 0) })),
  );
  if (!log) return rows;
  return rows.filter((row) => row.mean > 0).map((row) => ({ ...row, low: Math.max(row.low, foot) }));
}

// One row a round: its strip [from, to] of the time axis and what the tooltip shows there.
function readouts(curves) {
  const rounds = new Map();
  for (const { agent, t, mean, std } of curves) {
    t.forEach((round, i) => {
      if (!rounds.has(round)) rounds.set(round, []);
      rounds.get(round).push({ agent, mean: mean[i], std: std?.[i] });
    });
  }
  const ts = [...rounds.keys()].sort((a, b) => a - b);
  return ts.map((t, i) => ({
    t,
    from: i === 0 ? t : (ts[i - 1] + t) / 2,
    to: i === ts.length - 1 ? t : (t + ts[i + 1]) / 2,
    readout: { round: t, rows: rounds.get(t) },
  }));
}

const crosshair = (curves) => [
  {
    data: { values: readouts(curves) },
    params: [{ name: "hover", select: { type: "point", fields: ["t"], on: "pointerover", clear: "pointerout" } }],
    mark: { type: "rect", opacity: 0, tooltip: { expr: "datum.readout" } },
    encoding: { x: { field: "from", type: "quantitative" }, x2: { field: "to" } },
  },
  {
    data: { values: readouts(curves) },
    transform: [{ filter: { param: "hover", empty: false } }],
    mark: { type: "rule", color: themeColour("muted"), tooltip: null },
    encoding: { x: { field: "t", type: "quantitative" } },
  },
];

// legend: inside the drawing, and not by the page
export function regretCurve(agents, curves, { legend = true, height = 380 } = {}) {
  const log = isLogScale();
  const rows = curveRows(curves, log);
  const shown = agents.filter((agent) => curves.some((curve) => curve.agent === agent));
  const colour = { field: "agent", type: "nominal", sort: null, scale: colourScale(agents), legend: legend ? vegaLegend(shown) : null };
  const rounds = curves.flatMap((curve) => [curve.t[0], curve.t.at(-1)]);
  const x = { type: "quantitative", title: "Round", scale: { domain: [Math.min(...rounds), Math.max(...rounds)], nice: false }, axis: { grid: false, tickCount: isNarrow() || height < 300 ? 4 : 8 } };
  const y = { type: "quantitative", title: "Cumulative regret", ...(log ? logAxis(rows.flatMap(({ low, high }) => [low, high]), "y") : { axis: { tickCount: 6 } }) };
  return {
    height: isNarrow() ? Math.min(260, height) : height,
    params: [hiddenParameter()],
    data: { values: rows },
    transform: [visibleOnly],
    layer: [
      { mark: { type: "area", opacity: 0.13, tooltip: null }, encoding: { x: { ...x, field: "t" }, y: { ...y, field: "low" }, y2: { field: "high" }, color: colour } },
      {
        mark: { type: "line", strokeWidth: 2, tooltip: null, clip: true },
        encoding: { x: { ...x, field: "t" }, y: { ...y, field: "mean" }, color: colour, strokeDash: { ...colour, scale: dashScale(agents) } },
      },
      ...crosshair(curves),
    ],
  };
}
