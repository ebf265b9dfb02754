import { integer, significant } from "../base/format.js";
import { agentName } from "../base/labels.js";
import { isHidden } from "../base/visibility.js";

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => String(text).replace(/[&<>"]/g, (character) => ENTITIES[character]);
const row = (name, value) => `<tr><td class="key">${escaped(name)}</td><td class="value">${escaped(value)}</td></tr>`;
const table = (rows) => `<table>${rows.join("")}</table>`;

// readout: { round, rows: [{ agent, mean, std }] }, every agent's regret at one round
function readoutTable({ round, rows }) {
  const visible = rows.filter(({ agent }) => !isHidden(agent)).sort((a, b) => b.mean - a.mean);
  const lines = visible.map(({ agent, mean, std }) => row(agentName(agent), `${significant(mean)} ± ${significant(std)}`));
  return `<h2>Round ${integer(round)}</h2>${table(lines)}`;
}

export function tooltipHtml(value) {
  if (value?.round !== undefined && value.rows) return readoutTable(value);
  if (typeof value === "object") return table(Object.entries(value).map(([name, shown]) => row(name, name === "Agent" ? agentName(shown) : shown)));
  return escaped(value);
}
