import { vega } from "vega-embed";
import { logTicks } from "./log-ticks.js";

// Enough digits to tell ticks apart that lie in a narrow range.
function tickFormat(low, high) {
  const digits = Math.max(6, high > low ? 2 + Math.ceil(Math.log10(high / (high - low))) : 0);
  return high >= 1e5 || low < 1e-4 ? "~e" : `,.${digits}~g`;
}

vega.expressionFunction("pitsLogTicks", ([low, high]) => logTicks(low, high));

// Scale and axis of a logarithmic axis over positive values. Its ticks follow the scale of that name, whose domain
// shrinks where agents are hidden.
export function logAxis(values, name) {
  const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  return { scale: { type: "log", nice: false, padding: 8 }, axis: { values: { signal: `pitsLogTicks(domain('${name}'))` }, format: tickFormat(low, high) } };
}
