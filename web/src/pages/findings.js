import { isNumber } from "../base/format.js";
import { leaders } from "../base/leaders.js";

function tally(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

// The agent with the paper's lowest mean in a problem, and ours among the same agents; a variant is not in the paper.
function bothLeaders(cells, variants) {
  const compared = cells.filter((cell) => isNumber(cell.paper_mean) && isNumber(cell.mean) && !variants.includes(cell.agent));
  if (compared.length < 2) return null;
  return { ours: leaders(compared).best.agent, paper: compared.reduce((a, b) => (b.paper_mean < a.paper_mean ? b : a)).agent };
}

const listed = (parts) => (parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

// Which method is best in how many problems, and whether the paper says the same.
export function findings({ agents, environments, cells, comparable = true }) {
  const label = (agent) => agents.find((entry) => entry.agent === agent)?.label ?? agent;
  const columns = environments.map(({ env }) => cells.filter((cell) => cell.env === env));
  const best = columns.map((column) => leaders(column).best).filter(Boolean);
  if (!best.length) return null;
  const [first, ...rest] = tally(best.map(({ agent }) => label(agent)));
  const others = rest.length ? `, ${listed(rest.map(([name, count]) => `${name} in ${count}`))}` : "";
  const line = `${first[0]} has the lowest mean normalised regret in ${first[1]} of ${best.length} problems${others}.`;
  const variants = agents.filter(({ variant_of }) => variant_of).map(({ agent }) => agent);
  const compared = comparable ? columns.map((column) => bothLeaders(column, variants)).filter(Boolean) : [];
  const same = compared.filter(({ ours, paper }) => ours === paper).length;
  return compared.length ? `${line} Of the methods in the paper's table, the paper's best is best here too in ${same} of ${compared.length}.` : line;
}
