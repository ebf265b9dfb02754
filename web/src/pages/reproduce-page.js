import { families } from "../charts/against.js";
import { commandBox } from "./command.js";
import { contents } from "./contents.js";
import { element, header } from "../base/dom.js";
import { findings } from "./findings.js";
import { counted, integer } from "../base/format.js";
import { environmentName, labelAgents, labelEnvironments } from "../base/labels.js";
import { paperTable } from "../tables/paper-table.js";
import { posteriorParts } from "./posterior.js";
import { problemsTable } from "../tables/problems-table.js";
import { sectionBlocks } from "./reproduce-section.js";
import { startScale } from "../figure/scale-switch.js";
import { orderSeries, rampSeries } from "../base/series.js";

const pairs = (list, key) => Object.fromEntries((list ?? []).map((entry) => [entry[key], entry.label]));

function label(data) {
  labelAgents(pairs(data.table?.agents, "agent"));
  labelAgents(pairs(data.posterior?.series, "agent"));
  labelEnvironments(pairs(data.table?.environments, "env"));
  labelEnvironments(pairs(data.problems, "env"));
  for (const { labels, env_x, environments } of data.sections) {
    labelAgents(labels ?? {});
    labelEnvironments(Object.fromEntries(environments.map((env) => [env, labels?.[env]])));
    labelEnvironments(Object.fromEntries(Object.entries(env_x?.values ?? {}).map(([env, value]) => [env, `${env_x.name} = ${value}`])));
  }
}

// An agent has one colour on the whole page; those along an axis take a sequential scale.
function colourAgents(data) {
  const placed = (section) => section.agents.filter((agent) => section.x?.values?.[agent] !== undefined);
  orderSeries((data.table?.agents ?? []).map(({ agent }) => agent));
  for (const section of data.sections) orderSeries(section.agents.filter((agent) => !placed(section).includes(agent)));
  for (const section of data.sections.filter(({ x }) => x)) orderSeries(families(section));
  orderSeries((data.posterior?.series ?? []).map(({ agent }) => agent));
  for (const section of data.sections) rampSeries(placed(section).sort((a, b) => section.x.values[a] - section.x.values[b]));
}

function missingNote({ missing, sections }) {
  if (!missing?.length) return null;
  const titles = { problems: "Table 1", table: "Table 2", ...Object.fromEntries(sections.map(({ id, title }) => [id, title])) };
  const place = ({ section, env }) => [titles[section] ?? section, env ? environmentName(env) : null].filter(Boolean).join(", ");
  const items = missing.map((entry) => element("li", {}, element("strong", {}, place(entry)), `: ${entry.reason}`));
  return element("aside", { class: "missing", "aria-label": "Not on this page" }, element("p", {}, "Not on this page:"), element("ul", {}, items));
}

function pageHeader(data) {
  const line = `Tables and figures of the paper's benchmark over ${counted(data.steps, "round")}, averaged over ${counted(data.realizations, "independent realization")}, beside the paper's own numbers.`;
  const facts = [
    ["Rounds T", integer(data.steps)],
    ["Realizations", integer(data.realizations)],
    ["Seed", data.seed],
    ["Version", data.version],
    ["Machine", data.machine],
  ];
  const node = header(data.title, line, facts, data.table ? findings(data.table) : null);
  node.append(commandBox(data.command));
  return node;
}

const part = (id, title, text, nodes, parts) => ({
  id,
  title,
  parts,
  node: element("section", { id, class: "part" }, element("h2", {}, title), text ? element("p", { class: "lead" }, text) : null, nodes),
});

function pageParts(data) {
  const known = (data.table?.agents ?? []).map(({ agent }) => agent);
  const section = (entry) => {
    const blocks = sectionBlocks(entry, known);
    return part(`section-${entry.id}`, entry.title, entry.text, blocks.map(({ node }) => node), blocks);
  };
  const before = data.sections.filter(({ id }) => id !== "wheel").map(section);
  const posterior = data.posterior ? part("posterior", data.posterior.title, data.posterior.text, posteriorParts(data.posterior)) : null;
  const wheel = data.sections.filter(({ id }) => id === "wheel").map(section);
  return [
    data.problems?.length ? part("problems", "Table 1: the problems", null, problemsTable(data.problems)) : null,
    data.table?.cells?.length ? part("table", "Table 2: normalised regret", null, paperTable(data.table, data.steps)) : null,
    ...before,
    posterior,
    ...wheel,
  ].filter(Boolean);
}

export function reproducePage(given) {
  const data = { ...given, sections: given.sections ?? [] };
  label(data);
  colourAgents(data);
  startScale(data.sections.flatMap(({ summary }) => summary ?? []));
  const parts = pageParts(data);
  const content = element("div", { class: "content" }, pageHeader(data), missingNote(data), parts.map(({ node }) => node));
  return [element("div", { class: "layout" }, contents(parts), content)];
}
