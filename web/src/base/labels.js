// Shown names of agents and environments; what has no label is shown by its name.
const agents = new Map();
const environments = new Map();

const add = (names, labels) => Object.entries(labels).forEach(([name, label]) => label && !names.has(name) && names.set(name, label));

// The first label that a name is given stays, so that the whole page agrees.
export const labelAgents = (labels) => add(agents, labels);
export const labelEnvironments = (labels) => add(environments, labels);
export const agentName = (agent) => agents.get(agent) ?? agent;
export const environmentName = (env) => environments.get(env) ?? env;

// For an axis or a legend over agents.
export function agentLabels() {
  return agents.size ? { labelExpr: `${JSON.stringify(Object.fromEntries(agents))}[datum.value] || datum.label` } : {};
}
