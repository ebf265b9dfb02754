import { agentLabel } from "../figure/agent-label.js";
import { element, framedTable, tableClass } from "../base/dom.js";
import { summaryButton } from "../base/download.js";
import { decimalsFor, fixed, isNumber } from "../base/format.js";
import { environmentName } from "../base/labels.js";
import { leaders } from "../base/leaders.js";
import { hiddenAgents, onVisibilityChange, showAllAgents } from "../base/visibility.js";

const COMPARED =
  "regret is relative to choosing actions uniformly at random, and lower is better. " +
  "Shaded: the best mean of the column. Bold: within one standard error of the difference from it.";

function figures(value, decimals) {
  const error = isNumber(value.se) ? element("span", { class: "error" }, ` ± ${fixed(value.se, decimals)}`) : null;
  return [element("span", { class: "mean" }, fixed(value.mean, decimals)), error];
}

function regretCell(summary, column, absolute) {
  const value = summary?.normalized_regret;
  if (!isNumber(value?.mean)) return element("td", {}, "–");
  const rank = value === column.best ? "best" : column.ties.includes(value) ? "tie" : undefined;
  const regret = absolute && isNumber(summary.regret?.mean) ? element("div", { class: "second" }, figures(summary.regret, decimalsFor([summary.regret.mean]))) : null;
  return element("td", { class: rank }, figures(value, column.decimals), regret);
}

function columns(data) {
  return data.environments.map((env) => {
    const entries = data.agents.map((agent) => data.summary.find((s) => s.agent === agent && s.env === env));
    const { best, ties } = leaders(entries.map((entry) => entry?.normalized_regret));
    return { entries, best, ties, decimals: decimalsFor([best?.mean]) };
  });
}

// absolute: a second line with the cumulative regret
export function regretGrid(data, absolute = false) {
  const cols = columns(data);
  const head = element("tr", {}, element("th", { scope: "col" }, "Agent"), data.environments.map((env) => element("th", { scope: "col" }, environmentName(env))));
  const rows = data.agents.map((agent, i) => element("tr", {}, agentLabel(agent), cols.map((column) => regretCell(column.entries[i], column, absolute))));
  const frame = framedTable("Normalised regret", element("thead", {}, head), element("tbody", {}, rows));
  if (data.environments.length < 3) frame.classList.add("short");
  return frame;
}

export const gridNote = (absolute) =>
  absolute
    ? `Normalised regret, and below it cumulative regret, as mean ± standard error over realizations; normalised ${COMPARED}`
    : `Mean ± standard error over realizations; ${COMPARED}`;

// Shown while an agent is hidden.
export function showAllButton() {
  const button = element("button", { type: "button", onclick: showAllAgents }, "Show all agents");
  const follow = () => (button.hidden = hiddenAgents().length === 0);
  onVisibilityChange(follow);
  follow();
  return button;
}

export function regretTable(data) {
  return element(
    "section",
    { id: "regret", class: tableClass(data.environments) },
    element("h2", {}, "Normalised regret"),
    regretGrid(data),
    element("p", { class: "note" }, `${gridNote(false)} Click an agent to hide or show it in every figure.`),
    element("p", { class: "buttons" }, summaryButton("pits-regret", data.summary), showAllButton()),
  );
}
