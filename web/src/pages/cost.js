import { costChart } from "../charts/cost-chart.js";
import { element } from "../base/dom.js";
import { figure } from "../figure/figure.js";
import { isNumber } from "../base/format.js";
import { secondsPerRound } from "../tables/time-table.js";

const NOTE = "One point per agent, with bars of one standard error. Dashed: what no agent beats at less cost. A setting alone is a variant of the agent that stands there without it; a point whose name finds no room tells it to the pointer.";

function pointsOf(data, env) {
  const points = data.summary
    .filter((s) => s.env === env)
    .map((s) => ({ agent: s.agent, cost: 1e6 * secondsPerRound(data, s.agent, env), mean: s.normalized_regret?.mean, se: s.normalized_regret?.se }));
  return points.filter(({ cost, mean }) => cost > 0 && isNumber(mean));
}

const rowsOf = (points, env) => [["agent", "environment", "cpu_us_per_round", "normalized_regret_mean", "normalized_regret_se"], ...points.map(({ agent, cost, mean, se }) => [agent, env, cost, mean, se])];

function costFigure(data, env) {
  const points = pointsOf(data, env);
  if (points.length < 2) return null;
  const title = "Normalised regret against CPU time";
  return figure({
    title: data.environments.length > 1 ? env : title,
    fullTitle: `${title}: ${env}`,
    file: `pits ${env} cost`,
    mode: "vega",
    agents: true,
    height: 420,
    spec: () => costChart(data.agents, points),
    rows: () => rowsOf(points, env),
  });
}

// Regret against what it costs, where there are agents to compare and their times are known.
export function costSection(data) {
  const drawings = data.environments.map((env) => costFigure(data, env)).filter(Boolean);
  if (!drawings.length) return null;
  return element("section", { id: "cost", class: "environment" }, element("h2", {}, "Regret against cost"), element("p", { class: "note" }, NOTE), drawings);
}
