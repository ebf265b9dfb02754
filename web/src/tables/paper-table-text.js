import { csv, records } from "../base/download.js";
import { isNumber } from "../base/format.js";
import { leaders } from "../base/leaders.js";

const DECIMALS = 2;
const plain = (value) => value.toFixed(DECIMALS);
const signed = (value) => `${Number(value.toFixed(1)) < 0 ? "-" : "+"}${Math.abs(value).toFixed(1)}`;

export const cellOf = (table, agent, env) => table.cells.find((cell) => cell.agent === agent && cell.env === env);
export const bestOf = (table, env) => leaders(table.cells.filter((cell) => cell.env === env)).best;

export function tableCsv(table) {
  const labels = new Map(table.agents.map(({ agent, label }) => [agent, label]));
  const numbers = ["mean", "std", "se", "median", "realizations", "paper_mean", "paper_spread", "difference", "difference_se"];
  const columns = { agent: (c) => c.agent, label: (c) => labels.get(c.agent), environment: (c) => c.env };
  for (const name of numbers) columns[name] = (c) => c[name];
  return csv(records(columns, table.cells));
}

function markdownCell(table, agent, env) {
  const cell = cellOf(table, agent, env);
  if (!isNumber(cell?.mean)) return "–";
  const mean = cell === bestOf(table, env) ? `**${plain(cell.mean)}**` : plain(cell.mean);
  const ours = [mean, isNumber(cell.std) ? ` ± ${plain(cell.std)}` : "", isNumber(cell.se) ? ` (se ${plain(cell.se)})` : ""].join("");
  if (!isNumber(cell.paper_mean)) return ours;
  const spread = isNumber(cell.paper_spread) ? ` ± ${plain(cell.paper_spread)}` : "";
  return `${ours}; paper ${plain(cell.paper_mean)}${spread}${isNumber(cell.difference_se) ? `, ${signed(cell.difference_se)} se` : ""}`;
}

const escapeMarkdown = (text) => text.replace(/[|*_\\]/g, "\\$&");

export function tableMarkdown(table) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const head = ["", ...table.environments.map(({ label }) => escapeMarkdown(label))];
  const rows = table.agents.map(({ agent, label }) => line([escapeMarkdown(label), ...table.environments.map(({ env }) => markdownCell(table, agent, env))]));
  const remarks = table.environments.filter(({ remark }) => remark).map(({ label, remark }) => `\n${escapeMarkdown(label)}: ${remark}.`);
  return [line(head), line(head.map((_, i) => (i ? "---:" : "---"))), ...rows, ...remarks].join("\n") + "\n";
}

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", π: "$\\pi$", δ: "$\\delta$", ε: "$\\epsilon$", σ: "$\\sigma$", "²": "$^2$", "–": "--" };
const latex = (text) => text.replace(/[\\~^πδεσ²–]|[&%$#_{}]/g, (c) => LATEX[c] ?? `\\${c}`);

const withSpread = (mean, spread) => `$${mean}${isNumber(spread) ? ` \\pm ${plain(spread)}` : ""}$`;

function latexRows(table, { agent, label, variant_of }) {
  const cells = table.environments.map(({ env }) => ({ cell: cellOf(table, agent, env), best: bestOf(table, env) }));
  const row = (head, show) => `${head} & ${cells.map(show).join(" & ")} \\\\`;
  const ours = ({ cell, best }) => (isNumber(cell?.mean) ? withSpread(cell === best ? `\\mathbf{${plain(cell.mean)}}` : plain(cell.mean), cell.std) : "--");
  const error = ({ cell }) => (isNumber(cell?.se) ? `$${plain(cell.se)}$` : "--");
  const paper = ({ cell }) => (isNumber(cell?.paper_mean) ? withSpread(plain(cell.paper_mean), cell.paper_spread) : "--");
  const difference = ({ cell }) => (isNumber(cell?.difference_se) ? `$${signed(cell.difference_se)}$` : "--");
  const rows = [row(`${variant_of ? "\\quad " : ""}${latex(label)}`, ours), row("\\quad standard error", error)];
  if (cells.some(({ cell }) => isNumber(cell?.paper_mean))) rows.push(row("\\quad paper", paper), row("\\quad difference (se)", difference));
  return rows;
}

export function tableLatex(table) {
  const remarks = table.environments.filter(({ remark }) => remark).map(({ label, remark }) => `% ${label}: ${remark}`);
  return [
    ...remarks,
    `\\begin{tabular}{l${"c".repeat(table.environments.length)}}`,
    "\\toprule",
    `& ${table.environments.map(({ label }) => latex(label)).join(" & ")} \\\\`,
    "\\midrule",
    ...table.agents.flatMap((agent) => latexRows(table, agent)),
    "\\bottomrule",
    "\\end{tabular}",
  ].join("\n") + "\n";
}
