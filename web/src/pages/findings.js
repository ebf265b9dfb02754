import { decimalsFor, fixed, integer, isNumber, significant } from "../base/format.js";
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

// How far the next agent is above the best, with its standard error: of paired differences where both have their
// realizations, for all agents meet the same rounds.
function lead(best, next) {
  const difference = next.mean - best.mean;
  const n = best.values?.length;
  if (n > 1 && next.values?.length === n) {
    const off = next.values.map((value, i) => value - best.values[i] - difference);
    return { difference, error: Math.sqrt(off.reduce((sum, x) => sum + x * x, 0) / (n - 1) / n) };
  }
  return { difference, error: isNumber(best.se) && isNumber(next.se) ? Math.hypot(best.se, next.se) : null };
}

// { best, next, difference, error, clear } of the agents in one problem; clear: by more than two standard errors.
function decided(cells) {
  const known = cells.filter(({ mean }) => isNumber(mean)).sort((a, b) => a.mean - b.mean);
  if (known.length < 2) return null;
  const [best, next] = known;
  const { difference, error } = lead(best, next);
  return { best, next, difference, error, clear: error > 0 && difference > 2 * error };
}

function inOneProblem({ best, next, difference, error, clear }, label) {
  const decimals = decimalsFor([best.mean]);
  const figures = (value, se) => fixed(value, decimals) + (se > 0 ? ` ± ${fixed(se, decimals)}` : "");
  const doubt = !(error > 0) ? " One realization does not say how much of that is chance." : clear ? "" : " That is less than two standard errors: chance may explain it.";
  return `${label(best.agent)} has the lowest mean normalised regret, ${figures(best.mean, best.se)}; ${label(next.agent)} comes next, ${figures(difference, error)} higher.${doubt}`;
}

// Which agent is best in how many problems, and how sure that is. columns: for each problem, [{ agent, mean, se, values }].
export function headline(columns, label) {
  const found = columns.map(decided).filter(Boolean);
  if (!found.length) return null;
  if (found.length === 1) return inOneProblem(found[0], label);
  const [first, ...rest] = tally(found.map(({ best }) => label(best.agent)));
  const others = rest.length ? `, ${listed(rest.map(([name, count]) => `${name} in ${count}`))}` : "";
  const line = `${first[0]} has the lowest mean normalised regret in ${first[1]} of ${found.length} problems${others}.`;
  if (!found.some(({ error }) => error > 0)) return `${line} One realization does not say how much of that is chance.`;
  const clear = found.filter((one) => one.clear).length;
  return `${line} The best is more than two standard errors ahead of the next in ${clear} of ${found.length}.`;
}

// Of the paper's table: the headline, and whether the paper says the same.
export function findings({ agents, environments, cells, comparable = true }) {
  const label = (agent) => agents.find((entry) => entry.agent === agent)?.label ?? agent;
  const columns = environments.map(({ env }) => cells.filter((cell) => cell.env === env));
  const line = headline(columns, label);
  if (!line) return null;
  const variants = agents.filter(({ variant_of }) => variant_of).map(({ agent }) => agent);
  const compared = comparable ? columns.map((column) => bothLeaders(column, variants)).filter(Boolean) : [];
  const same = compared.filter(({ ours, paper }) => ours === paper).length;
  return compared.length ? `${line} Of the methods in the paper's table, the paper's best is best here too in ${same} of ${compared.length}.` : line;
}

// Of an evaluation: whether a policy would have earned more. policies: [{ policy, value, apart }], apart the interval of the
// difference to `against`; those that are not to be trusted are left out by the caller.
export function verdict(policies, against) {
  const known = policies.filter(({ policy, value, apart }) => policy !== against && isNumber(value) && apart?.every(isNumber));
  if (!known.length) return null;
  const highest = (some) => some.reduce((a, b) => (b.value > a.value ? b : a));
  const said = ({ apart }) => `the interval of the difference, ${fixed(apart[0], 4)} to ${fixed(apart[1], 4)} per decision,`;
  const other = against === "logged" ? "what was logged" : against;
  const more = known.filter(({ apart }) => apart[0] > 0);
  if (more.length) return `${highest(more).policy} would have earned more than ${other}: ${said(highest(more))} excludes 0.`;
  const best = highest(known);
  if (best.apart[1] < 0) return `No policy is found to earn more than ${other}; ${best.policy}, the best, would have earned less: ${said(best)} excludes 0.`;
  return `No policy is found to earn more than ${other}: of the best, ${best.policy}, ${said(best)} contains 0.`;
}

const DISTANCES = [
  ["w2", "Wasserstein distance"],
  ["mmd", "maximum mean discrepancy"],
  ["ksd", "kernel Stein discrepancy"],
];

// Of particles that moved to a density: how far they are from it at the end, at the start, and beside exact samples. By the first
// distance that is known at two iterations. floor: what as many exact samples score, where that is known.
export function reached({ flow, target, metrics = [], floor }) {
  const rows = (key) => metrics.filter((row) => isNumber(row[key]));
  const known = DISTANCES.find(([key]) => rows(key).length > 1);
  if (!known) return null;
  const [key, name] = known;
  const [start, end] = [rows(key)[0], rows(key).at(-1)];
  const decimals = decimalsFor([end[key]]);
  const line = `After ${integer(end.iteration)} iterations of ${flow} the ${name} to ${target} is ${fixed(end[key], decimals)}; it was ${fixed(start[key], decimals)} at the start.`;
  const exact = floor?.[key];
  if (!(exact > 0)) return line;
  const against = `As many exact samples have ${fixed(exact, decimals)} on average`;
  if (end[key] <= exact) return `${line} ${against}: the particles are as near as these.`;
  return `${line} ${against}: the particles are ${significant(end[key] / exact, 2)} times as far.`;
}
