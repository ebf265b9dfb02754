import { figure } from "../figure/figure.js";
import { isNumber } from "../base/format.js";
import { isLogScale } from "../figure/scale-switch.js";
import { seriesChart } from "./series-chart.js";
import { secondsPerRound, unitFor } from "../tables/time-table.js";

const REGRET = { key: "regret", title: "Cumulative regret", of: (s) => s.regret };
const NORMALISED = { key: "normalized-regret", title: "Normalised regret", of: (s) => s.normalized_regret };

// The agent's name without the setting that has this value: what its points have in common.
const family = (agent, value) => agent.replace(new RegExp(`[,:][\\w.-]+=${String(value).replace(".", "\\.")}(?=,|$)`), "");

const sorted = (points) => points.sort((a, b) => a.x - b.x);

function grouped(entries) {
  const series = new Map();
  for (const { agent, ...point } of entries) series.set(agent, [...(series.get(agent) ?? []), point]);
  return [...series].map(([agent, points]) => ({ agent, points: sorted(points) }));
}

export const families = ({ agents, x }) => [...new Set(agents.map((agent) => (isNumber(x.values[agent]) ? family(agent, x.values[agent]) : agent)))];

// Agents without a place on the axis are the same everywhere along it.
function alongAgents(section, env, of) {
  const places = [...new Set(Object.values(section.x.values))].filter(isNumber);
  const entries = section.summary.filter((s) => s.env === env).flatMap((s) => {
    const at = section.x.values[s.agent];
    return isNumber(at) ? [{ agent: family(s.agent, at), x: at, ...of(s) }] : places.map((x) => ({ agent: s.agent, x, ...of(s) }));
  });
  return grouped(entries);
}

function alongEnvironments(section, of) {
  const placed = section.summary.filter((s) => isNumber(section.env_x.values[s.env]));
  return grouped(placed.map((s) => ({ agent: s.agent, x: section.env_x.values[s.env], ...of(s) })));
}

const pointRows = (series, name) => [["agent", name, "mean", "se"], ...series.flatMap(({ agent, points }) => points.map(({ x, mean, se }) => [agent, x, mean, se]))];

function chart(series, axis, metric, file, place = "") {
  const title = `${metric.title} against ${axis.name}`;
  const drawing = (standalone = false) => seriesChart(series, { xTitle: axis.name, yTitle: metric.unit ?? metric.title, log: !metric.unit && isLogScale(), legend: standalone });
  const options = { agents: true, scaled: !metric.unit, height: 300 };
  return figure({ ...options, title, fullTitle: place ? `${title}: ${place}` : title, note: place, file: `${file} ${metric.key}`, spec: drawing, rows: () => pointRows(series, axis.name) });
}

function timeMetric(section) {
  const times = section.summary.map((s) => secondsPerRound(section, s.agent, s.env));
  if (!times.some(isNumber)) return null;
  const unit = unitFor(times);
  const of = (s) => {
    const seconds = secondsPerRound(section, s.agent, s.env);
    return { mean: isNumber(seconds) ? seconds / unit.size : null };
  };
  return { key: "time", title: "CPU time", unit: `CPU time, ${unit.name} per round`, of };
}

// Figures along a setting of the agents: regret and time.
export function agentFigures(section, environmentName) {
  const metrics = [REGRET, NORMALISED, timeMetric(section)].filter(Boolean);
  const place = (env) => (section.environments.length > 1 ? environmentName(env) : "");
  return section.environments.flatMap((env) =>
    metrics.map((metric) => chart(alongAgents(section, env, metric.of), section.x, metric, `${section.id} ${env} against`, place(env))),
  );
}

// Figures along a setting of the environment: regret and normalised regret.
export function environmentFigures(section) {
  return [REGRET, NORMALISED].map((metric) => chart(alongEnvironments(section, metric.of), section.env_x, metric, `${section.id} against`));
}
