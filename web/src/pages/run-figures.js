import { figure } from "../figure/figure.js";
import { pullsBars } from "../charts/pulls-bars.js";
import { regretBox } from "../charts/regret-box.js";
import { regretCurve } from "../charts/regret-curve.js";

export const NOTES = {
  curves: "Mean over realizations, with a band of one standard deviation.",
  box: "One point per realization; box: quartiles, whiskers: extremes.",
  pulls: "Mean number of rounds in which the agent chose the action.",
};

// A table's rows from lists held by agents: columns names what spread(entry) gives.
const spreadRows = (columns, entries, spread) => [["agent", "environment", ...columns], ...entries.flatMap((entry) => spread(entry).map((row) => [entry.agent, entry.env, ...row]))];

const curveRows = (curves) => spreadRows(["round", "regret_mean", "regret_std"], curves, ({ t, mean, std }) => t.map((round, i) => [round, mean[i], std?.[i]]));
const finalRows = (finals) => spreadRows(["realization", "normalized_regret"], finals, ({ values }) => values.map((value, i) => [i, value]));
const pullRows = (pulls) => spreadRows(["action", "pulls_mean"], pulls, ({ counts }) => counts.map((count, i) => [i, count]));

const presentAgents = (agents, entries) => agents.filter((agent) => entries.some((entry) => entry.agent === agent));

// text: { title, fullTitle, note, file }; legend: whether each drawing has its own
export function curveFigure(agents, curves, text, { legend = true, height } = {}) {
  return figure({
    ...text,
    agents: true,
    agentLegend: legend,
    scaled: true,
    height,
    spec: (standalone = false) => regretCurve(agents, curves, { legend: legend || standalone, height }),
    rows: () => curveRows(curves),
  });
}

export function boxFigure(agents, finals, text) {
  const shown = presentAgents(agents, finals);
  return figure({ ...text, agents: true, scaled: true, spec: () => regretBox(shown, finals), rows: () => finalRows(finals) });
}

export function pullsFigure(agents, pulls, text) {
  const shown = presentAgents(agents, pulls);
  return figure({ ...text, agents: true, spec: () => pullsBars(shown, pulls), rows: () => pullRows(pulls) });
}
