import { agentLabel } from "../figure/agent-label.js";
import { copyButton } from "../base/clipboard.js";
import { element, framedTable } from "../base/dom.js";
import { save } from "../base/download.js";
import { fixed, integer, isNumber } from "../base/format.js";
import { bestOf, cellOf, tableCsv, tableLatex, tableMarkdown } from "./paper-table-text.js";

const DECIMALS = 2;
// The colour of a difference is full at this many standard errors.
const STRONG = 6;

const spread = (value) => (isNumber(value) ? element("span", { class: "error" }, ` ± ${fixed(value, DECIMALS)}`) : null);

function difference({ difference: points, difference_se: errors }) {
  if (!isNumber(errors)) return null;
  const strength = Math.min(1, Math.abs(errors) / STRONG).toFixed(3);
  const title = isNumber(points) ? `${fixed(points, DECIMALS)} points of normalised regret` : null;
  return element("span", { class: `difference ${errors < 0 ? "lower" : "higher"}`, style: `--strength: ${strength}`, title }, `${fixed(errors, 1).startsWith("−") ? "" : "+"}${fixed(errors, 1)} se`);
}

function paperLine(cell) {
  if (!isNumber(cell.paper_mean)) return element("div", { class: "theirs" }, "not in the paper");
  return element("div", { class: "theirs" }, `paper ${fixed(cell.paper_mean, DECIMALS)}`, spread(cell.paper_spread), " ", difference(cell));
}

function resultCell(table, agent, env) {
  const cell = cellOf(table, agent, env);
  if (!isNumber(cell?.mean)) return element("td", {}, "–");
  const title = `${integer(cell.realizations)} realizations${isNumber(cell.median) ? `, median ${fixed(cell.median, DECIMALS)}` : ""}`;
  const error = isNumber(cell.se) ? element("span", { class: "se" }, `se ${fixed(cell.se, DECIMALS)}`) : null;
  const ours = element("div", { class: "ours", title }, element("span", { class: "mean" }, fixed(cell.mean, DECIMALS)), spread(cell.std), error);
  return element("td", { class: cell === bestOf(table, env) ? "best" : undefined }, ours, paperLine(cell));
}

// Remarks on environments, numbered in the table's order.
const remarked = (table) => table.environments.filter(({ remark }) => remark);

function head(table) {
  const mark = (environment) => (environment.remark ? element("sup", {}, String(remarked(table).indexOf(environment) + 1)) : null);
  return element("tr", {}, element("th", { scope: "col" }, "Method"), table.environments.map((environment) => element("th", { scope: "col" }, environment.label, mark(environment))));
}

function row(table, { agent, variant_of }) {
  const label = agentLabel(agent);
  if (variant_of) label.classList.add("variant");
  return element("tr", {}, label, table.environments.map(({ env }) => resultCell(table, agent, env)));
}

function copyButtons(table) {
  const shown = element("textarea", { class: "copied", readonly: "", rows: 8, "aria-label": "The table as text", hidden: "" });
  const select = (text) => {
    shown.hidden = false;
    shown.value = text;
    shown.select();
  };
  const copies = { Markdown: tableMarkdown, LaTeX: tableLatex, CSV: tableCsv };
  const buttons = Object.entries(copies).map(([name, text]) => copyButton(`Copy ${name}`, () => text(table), select));
  const download = element("button", { type: "button", onclick: () => save("table-2.csv", tableCsv(table), "text/csv") }, "Download CSV");
  return [element("p", { class: "buttons" }, buttons, download), shown];
}

export function paperTable(table, steps) {
  const note =
    `Normalised regret after ${integer(steps)} rounds: our mean ± standard deviation over realizations and the mean's standard error (se); ` +
    "below, the paper's mean ± the figure it gives with it, and our difference from it in standard errors. " +
    "Lower is better; the lowest of our means in each column is bold.";
  return [
    framedTable("Table 2", element("thead", {}, head(table)), element("tbody", {}, table.agents.map((agent) => row(table, agent)))),
    remarked(table).length ? element("ol", { class: "remarks" }, remarked(table).map(({ label, remark }) => element("li", {}, `${label}: ${remark}.`))) : null,
    element("p", { class: "note" }, note),
    table.comparable === false ? element("p", { class: "note" }, element("strong", {}, "The paper's figures are for another number of rounds: they do not compare with ours.")) : null,
    ...copyButtons(table),
  ];
}
