import { agentLabel } from "./agent-label.js";
import { element, framedTable, tableClass } from "./dom.js";
import { csvButton } from "./download.js";
import { decimalsFor, fixed, isNumber } from "./format.js";
import { showAllAgents } from "./visibility.js";

const entry = (data, agent, env) => data.summary.find((s) => s.agent === agent && s.env === env)?.normalized_regret;

// { best, ties }: the lowest mean, and the means within one standard error of
// the difference, sqrt(se² + se_best²), of it.
function leaders(entries) {
  const known = entries.filter((e) => isNumber(e?.mean));
  const best = known.reduce((low, e) => (low && low.mean <= e.mean ? low : e), null);
  const ties = known.filter((e) => e !== best && e.mean - best.mean <= Math.hypot(e.se ?? 0, best.se ?? 0));
  return { best, ties };
}

function regretCell(value, column) {
  if (!isNumber(value?.mean)) return element("td", {}, "–");
  const rank = value === column.best ? "best" : column.ties.includes(value) ? "tie" : undefined;
  const error = isNumber(value.se) ? element("span", { class: "error" }, ` ± ${fixed(value.se, column.decimals)}`) : null;
  return element("td", { class: rank }, element("span", { class: "mean" }, fixed(value.mean, column.decimals)), error);
}

function columns(data) {
  return data.environments.map((env) => {
    const entries = data.agents.map((agent) => entry(data, agent, env));
    const { best, ties } = leaders(entries);
    return { entries, best, ties, decimals: decimalsFor([best?.mean]) };
  });
}

export function regretTable(data) {
  const cols = columns(data);
  const head = element("tr", {}, element("th", { scope: "col" }, "Agent"), data.environments.map((env) => element("th", { scope: "col" }, env)));
  const rows = data.agents.map((agent, i) => element("tr", {}, agentLabel(agent, i), cols.map((column) => regretCell(column.entries[i], column))));
  const note =
    "Mean ± standard error over realizations; regret is relative to choosing actions uniformly at random, and lower is better. " +
    "Shaded: the best mean of the column. Bold: within one standard error of the difference from it. " +
    "Click an agent to hide or show it in every figure.";
  return element(
    "section",
    { id: "regret", class: tableClass(data.environments) },
    element("h2", {}, "Normalised regret"),
    framedTable("Normalised regret", element("thead", {}, head), element("tbody", {}, rows)),
    element("p", { class: "note" }, note),
    element("p", { class: "buttons" }, csvButton(data.summary), element("button", { type: "button", onclick: showAllAgents }, "Show all agents")),
  );
}
