import { agentLabel } from "../figure/agent-label.js";
import { element, framedTable, tableClass } from "../base/dom.js";
import { isNumber, significant } from "../base/format.js";

export function secondsPerRound(data, agent, env) {
  const row = data.summary.find((s) => s.agent === agent && s.env === env);
  // A problem may end before the last step.
  return isNumber(row?.seconds) ? row.seconds / ((row.rounds ?? data.steps) * data.realizations) : null;
}

// One unit for the whole table, so that its columns compare at a glance.
export function unitFor(times) {
  return Math.max(...times.filter(isNumber)) < 1e-2 ? { name: "µs", size: 1e-6 } : { name: "ms", size: 1e-3 };
}

export function timeTable(data) {
  const times = data.agents.map((agent) => data.environments.map((env) => secondsPerRound(data, agent, env)));
  if (!times.flat().some(isNumber)) return null;
  const unit = unitFor(times.flat());
  const cell = (time) => element("td", {}, isNumber(time) ? significant(time / unit.size) : "–");
  const head = element("tr", {}, element("th", { scope: "col" }, "Agent"), data.environments.map((env) => element("th", { scope: "col" }, env)));
  const rows = data.agents.map((agent, i) => element("tr", {}, agentLabel(agent), times[i].map(cell)));
  return element(
    "section",
    { id: "time", class: tableClass(data.environments) },
    element("h2", {}, "CPU time"),
    framedTable("CPU time", element("thead", {}, head), element("tbody", {}, rows)),
    element("p", { class: "note" }, `${unit.name} per round, averaged over all rounds and realizations${data.machine ? ` (${data.machine})` : ""}.`),
  );
}
