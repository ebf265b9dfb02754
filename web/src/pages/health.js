import { pageLegend } from "../figure/agent-legend.js";
import { element } from "../base/dom.js";
import { figure } from "../figure/figure.js";
import { integer } from "../base/format.js";
import { healthChart } from "../charts/health-chart.js";
import { agentName } from "../base/labels.js";

const ROUND = { title: "Round", log: true };
const SE = "Mean over realizations, with a band of one standard error.";

// key: the series of a summary's health; also: another one, drawn pale
const PANELS = [
  { key: "disagreement", title: "Disagreement", note: `Share of the last 100 contexts on which two particles prefer different actions. ${SE}`, y: { title: "Share of contexts" } },
  {
    key: "spread",
    also: "collapse_line",
    title: "Spread of predicted rewards",
    note: "Standard deviation over particles, in standard deviations of the reward. Pale dots: the line below which particles count as collapsed.",
    y: { title: "Spread", log: true },
  },
  { key: "effective", title: "Effective number of particles", note: "1 for copies, the number of particles for independent ones.", y: { title: "Particles" } },
  { key: "repulsion", title: "Repulsion over drive", note: "What particles do to each other over what the data and the prior do to them. Particles that do not interact have none and no line.", y: { title: "Ratio", log: true } },
  { key: "covered50", also: "covered90", title: "Coverage of predicted rewards", note: "Share of the last 100 rewards within the central 50 % of what was predicted; pale: 90 %. Dashed: calibrated.", y: { title: "Share of rewards", domain: [0, 1] }, references: [0.5, 0.9] },
];

const line = ({ agent, health }, key, thin = false) => ({ agent, x: health.rounds, mean: health[key], se: health[`${key}_se`], thin });

function seriesRows(entries, keys) {
  const columns = keys.flatMap((key) => [key, `${key}_se`]);
  const rows = entries.flatMap(({ agent, env, health }) => health.rounds.map((round, i) => [agent, env, round, ...columns.map((column) => health[column][i])]));
  return [["agent", "environment", "round", ...columns], ...rows];
}

function panel(env, entries, { key, also, title, note, y, references }) {
  const keys = also ? [key, also] : [key];
  const drawn = y.log ? entries.filter(({ health }) => health[key].some((value) => value > 0)) : entries;
  if (!drawn.length) return null;
  const lines = drawn.flatMap((entry) => [line(entry, key), ...(also ? [line(entry, also, true)] : [])]);
  const agents = drawn.map(({ agent }) => agent);
  const spec = (standalone = false) => healthChart(agents, lines, { x: ROUND, y, references, legend: standalone });
  return figure({ title, fullTitle: `${title}: ${env}`, note, file: `pits ${env} ${key}`, agents: true, height: 240, spec, rows: () => seriesRows(entries, keys) });
}

// Where rewards fell in what was predicted: a density over [0, 1], level for a calibrated agent.
function pitPanel(env, entries) {
  const bins = entries[0].health.pit.length;
  const edges = Array.from({ length: bins + 1 }, (_, b) => b / bins);
  const lines = entries.map(({ agent, health }) => ({ agent, x: edges, mean: [...health.pit, health.pit.at(-1)].map((share) => share * bins) }));
  const agents = entries.map(({ agent }) => agent);
  const title = "Where rewards fell";
  const options = { x: { title: "Probability of a smaller reward, as predicted", domain: [0, 1] }, y: { title: "Density" }, references: [1], step: true };
  const spec = (standalone = false) => healthChart(agents, lines, { ...options, legend: standalone });
  const rows = () => [["agent", "environment", "pit_from", "pit_to", "share"], ...entries.flatMap(({ agent, health }) => health.pit.map((share, b) => [agent, env, edges[b], edges[b + 1], share]))];
  const note = "Probability integral transform of all rewards after the first training. Level: calibrated; a hump: too unsure; high ends: too sure.";
  return figure({ title, fullTitle: `${title}: ${env}`, note, file: `pits ${env} pit`, agents: true, height: 240, spec, rows });
}

const warning = ({ agent, health }, realizations) =>
  element("p", { class: "warning" }, element("strong", {}, agentName(agent)), `: the particles have collapsed in ${health.collapsed} of ${realizations} realizations, from round ${integer(health.collapsed_since)} on.`);

// The health of the particles of every agent that has some; nothing where nobody asked for it.
export function healthParts(data, env) {
  const entries = data.summary.filter((s) => s.env === env && s.health?.rounds.length);
  if (!entries.length) return [];
  const panels = [...PANELS.map((description) => panel(env, entries, description)), pitPanel(env, entries)].filter(Boolean);
  return [
    element("h3", { class: "topic" }, "Health of the particles"),
    ...entries.filter(({ health }) => health.collapsed > 0).map((entry) => warning(entry, data.realizations)),
    pageLegend(entries.map(({ agent }) => agent)),
    element("div", { class: "pair" }, panels),
  ];
}
