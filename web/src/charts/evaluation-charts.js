import { colour, isNarrow, SERIES_COLOURS } from "../base/theme.js";

// A width of any number: without one, bars are as wide as they like, and no page could fit them.
// A policy has one colour on the whole page; what was logged is grey.
const seriesColours = (names) => ({ domain: names, range: names.map((_, i) => colour(`series-${i % SERIES_COLOURS}`)) });
const withLogged = (names) => ({ domain: ["logged", ...names], range: [colour("muted"), ...seriesColours(names).range] });
const legend = () => ({ orient: "bottom", symbolOpacity: 1, title: null, columns: isNarrow() ? 1 : 3, labelLimit: 260 });
const quantitative = (field, title, more = {}) => ({ field, type: "quantitative", title, ...more });
const tip = (field, title, format = ".4~g") => ({ field, type: "quantitative", title, format });

// The estimate of every policy after a part of the log, with its confidence sequence where there is one.
export function growthChart(rows, names, logged) {
  const x = quantitative("rounds", "Rounds of the log", { axis: { grid: false, tickCount: 5 } });
  const y = quantitative("value", "Value", { scale: { zero: false }, axis: { tickCount: 5 } });
  const color = { field: "policy", type: "nominal", scale: seriesColours(names), legend: legend() };
  const tooltip = [{ field: "policy", type: "nominal", title: "Policy" }, tip("rounds", "Rounds", ",d"), tip("value", "Value"), tip("low", "From"), tip("high", "To")];
  const band = { mark: { type: "area", opacity: 0.13, tooltip: null }, encoding: { x, y: { field: "low", type: "quantitative" }, y2: { field: "high" }, color } };
  return {
    width: 400,
    height: 300,
    data: { values: rows },
    layer: [
      ...(rows.some(({ low }) => low !== undefined) ? [band] : []),
      { mark: { type: "line", strokeWidth: 2, tooltip: null }, encoding: { x, y, color } },
      { mark: { type: "point", filled: true, size: 60, opacity: 0 }, encoding: { x, y, color, tooltip } },
      { data: { values: [{ logged }] }, mark: { type: "rule", strokeDash: [5, 4], strokeWidth: 1.5, color: colour("muted"), tooltip: null }, encoding: { y: { field: "logged", type: "quantitative" } } },
    ],
  };
}

// Shares of rounds by the size of their weight.
export function weightBars(rows, names) {
  return {
    width: 400,
    height: 240,
    data: { values: rows },
    mark: { type: "bar", tooltip: true },
    encoding: {
      x: { field: "weight", type: "nominal", sort: [...new Set([...rows].sort((a, b) => a.low - b.low).map(({ weight }) => weight))], title: "Weight π(a|x) / p(a|x)", axis: { labelAngle: -40 } },
      xOffset: { field: "policy", type: "nominal", sort: names },
      y: quantitative("share", "Share of rounds", { axis: { format: "%", tickCount: 5 } }),
      color: { field: "policy", type: "nominal", scale: seriesColours(names), legend: legend() },
      tooltip: [{ field: "policy", type: "nominal", title: "Policy" }, { field: "weight", type: "nominal", title: "Weight" }, tip("share", "Share", ".2%")],
    },
  };
}

// How often the logger and the policies take every action.
export function supportBars(rows, names, actions) {
  return {
    width: 400,
    height: 240,
    data: { values: rows },
    mark: { type: "bar", tooltip: true },
    encoding: {
      x: { field: "action", type: "nominal", sort: actions, title: "Action", axis: { labelAngle: actions.length > 8 ? -40 : 0, labelOverlap: true } },
      xOffset: { field: "policy", type: "nominal", sort: ["logged", ...names] },
      y: quantitative("share", "Mean probability", { axis: { format: "%", tickCount: 5 } }),
      color: { field: "policy", type: "nominal", scale: withLogged(names), legend: legend() },
      tooltip: [{ field: "policy", type: "nominal", title: "Policy" }, { field: "action", type: "nominal", title: "Action" }, tip("share", "Probability", ".2%")],
    },
  };
}

// Mean rewards with two standard errors; x: a field and its title.
export function rewardPoints(rows, x, xTitle, nominal) {
  const values = rows.map((row) => ({ ...row, low: row.mean - 2 * row.error, high: row.mean + 2 * row.error }));
  const place = nominal
    ? { field: x, type: "nominal", sort: rows.map((row) => row[x]), title: xTitle, axis: { labelAngle: rows.length > 8 ? -40 : 0, labelOverlap: true } }
    : quantitative(x, xTitle, { scale: { zero: false }, axis: { grid: false, tickCount: 5 } });
  const tooltip = [{ field: x, type: nominal ? "nominal" : "quantitative", title: xTitle }, tip("mean", "Mean reward"), tip("rounds", "Rounds", ",d")];
  return {
    width: 400,
    height: 230,
    data: { values },
    layer: [
      { mark: { type: "rule", strokeWidth: 1.5, tooltip: null }, encoding: { x: place, y: { field: "low", type: "quantitative", title: "Mean reward", scale: { zero: false }, axis: { tickCount: 5 } }, y2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 70, opacity: 1 }, encoding: { x: place, y: { field: "mean", type: "quantitative" }, tooltip } },
    ],
  };
}

// Predicted against logged rewards; on the dashed line the model is right.
export function calibrationChart(rows) {
  const spec = rewardPoints(rows, "at", "Predicted reward", false);
  const ends = [Math.min(...rows.map(({ at }) => at)), Math.max(...rows.map(({ at }) => at))];
  const line = { data: { values: ends.map((at) => ({ at })) }, mark: { type: "line", strokeDash: [5, 4], color: colour("muted"), tooltip: null }, encoding: { x: { field: "at", type: "quantitative" }, y: { field: "at", type: "quantitative" } } };
  return { ...spec, layer: [line, ...spec.layer] };
}
