import { agentName } from "../base/labels.js";
import { logAxis } from "./log-axis.js";
import { colourScale } from "../base/series.js";
import { colour, isNarrow } from "../base/theme.js";
import { hiddenAgents } from "../base/visibility.js";

const HEIGHT = 420;

// Beside the point, then further off where others are in the way.
const SIDES = ["right", "left", "top", "bottom", "top-right", "bottom-right", "top-left", "bottom-left"];
const DISTANCES = [5, 12, 20, 30];
const ANCHORS = DISTANCES.flatMap(() => SIDES);
const OFFSETS = DISTANCES.flatMap((distance) => SIDES.map(() => distance));

// "pi-ts,particles=5" is "particles=5" where "pi-ts" stands there too and nobody else would be called so.
function shortNames(agents) {
  const short = (agent) => {
    const base = agents.find((other) => agent.startsWith(`${other},`));
    return base === undefined ? agent : agent.slice(base.length + 1);
  };
  const all = agents.map(short);
  const alone = (name) => all.filter((other) => other === name).length === 1;
  return new Map(agents.map((agent, i) => [agent, all[i] !== agent && alone(all[i]) ? all[i] : agentName(agent)]));
}

// What nobody beats at less cost: the running minimum along the cost.
const front = {
  name: "front",
  source: "points",
  transform: [
    { type: "window", sort: { field: "cost" }, ops: ["min"], fields: ["mean"], as: ["best"], frame: [null, 0] },
    { type: "filter", expr: "datum.mean <= datum.best" },
    { type: "collect", sort: { field: "cost" } },
  ],
};

const place = { x: { scale: "x", field: "cost" }, y: { scale: "y", field: "mean" } };

function marks() {
  const tint = { scale: "colour", field: "agent" };
  const tooltip = { signal: "{Agent: datum.agent, 'Normalised regret': format(datum.mean, '.4~g'), 'Standard error': isValid(datum.se) ? format(datum.se, '.3~g') : '–', 'CPU time, µs per round': format(datum.cost, ',.4~g')}" };
  return [
    {
      name: "best",
      type: "line",
      from: { data: "front" },
      encode: { update: { ...place, interpolate: { value: "step-after" }, stroke: { value: colour("muted") }, strokeDash: { value: [5, 4] }, strokeWidth: { value: 1.5 } } },
    },
    {
      name: "bars",
      type: "rule",
      from: { data: "points" },
      encode: { update: { x: place.x, y: { scale: "y", field: "low" }, y2: { scale: "y", field: "high" }, stroke: tint, strokeWidth: { value: 1.5 } } },
    },
    { name: "dots", type: "symbol", from: { data: "points" }, encode: { update: { ...place, size: { value: 64 }, fill: tint, tooltip } } },
    {
      type: "text",
      from: { data: "dots" },
      encode: { update: { text: { field: "datum.name" }, fontSize: { value: 12 }, fill: { scale: "colour", field: "datum.agent" } } },
      transform: [{ type: "label", anchor: ANCHORS, offset: OFFSETS, avoidMarks: ["bars", "best"], size: { signal: "[width, height]" } }],
    },
  ];
}

// points: [{ agent, cost, mean, se }], cost in µs per round. Labels that find no room are left out.
export function costChart(agents, points) {
  const log = points.every(({ mean }) => mean > 0);
  const names = shortNames(points.map(({ agent }) => agent));
  const rows = points.map((point) => {
    const low = point.mean - (point.se ?? 0);
    return { ...point, name: names.get(point.agent), low: log && low <= 0 ? point.mean : low, high: point.mean + (point.se ?? 0) };
  });
  const x = logAxis(rows.map(({ cost }) => cost), "x");
  const y = log ? logAxis(rows.flatMap(({ low, high }) => [low, high]), "y") : { scale: { type: "linear", zero: false, nice: true }, axis: { tickCount: 6 } };
  const shades = colourScale(agents);
  return {
    padding: 2,
    height: isNarrow() ? 320 : HEIGHT,
    signals: [{ name: "hidden", value: hiddenAgents() }],
    data: [{ name: "points", values: rows, transform: [{ type: "filter", expr: "indexof(hidden, datum.agent) < 0" }] }, front],
    scales: [
      { ...x.scale, name: "x", range: "width", padding: 24, domain: { data: "points", field: "cost" } },
      { ...y.scale, name: "y", range: "height", padding: 12, domain: { data: "points", fields: ["low", "high"] } },
      { name: "colour", type: "ordinal", domain: shades.domain, range: shades.range },
    ],
    axes: [
      { ...x.axis, scale: "x", orient: "bottom", title: "CPU time, µs per round", grid: false, labelFlush: false, labelOverlap: true },
      { ...y.axis, scale: "y", orient: "left", title: "Normalised regret", grid: true },
    ],
    marks: marks(),
  };
}
