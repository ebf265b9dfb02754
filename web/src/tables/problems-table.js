import { element, framedTable } from "../base/dom.js";
import { csvButton, records } from "../base/download.js";
import { integer, isNumber } from "../base/format.js";

const COLUMNS = {
  environment: (p) => p.env,
  label: (p) => p.label,
  contexts: (p) => p.contexts,
  actions: (p) => p.actions,
  paper_contexts: (p) => p.paper_contexts,
  paper_actions: (p) => p.paper_actions,
  note: (p) => p.note,
};

const number = (value) => element("td", {}, isNumber(value) ? integer(value) : "–");

function paperNumber(ours, paper) {
  const cell = number(paper);
  if (isNumber(ours) && isNumber(paper) && ours !== paper) cell.className = "differs";
  return cell;
}

function row(problem) {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, problem.label),
    number(problem.contexts),
    paperNumber(problem.contexts, problem.paper_contexts),
    number(problem.actions),
    paperNumber(problem.actions, problem.paper_actions),
    element("td", { class: "text" }, problem.note ?? ""),
  );
}

export function problemsTable(problems) {
  const column = (name, attributes = {}) => element("th", { scope: "col", ...attributes }, name);
  const groups = element("tr", { class: "groups" }, column("", { scope: null }), column("Context dimension", { scope: "colgroup", colspan: 2 }), column("Actions", { scope: "colgroup", colspan: 2 }), element("td", {}));
  const names = element("tr", {}, column("Problem"), ["ours", "paper", "ours", "paper"].map((name) => column(name)), column("", { class: "text", "aria-label": "Note" }));
  return [
    framedTable("Table 1", element("thead", {}, groups, names), element("tbody", {}, problems.map(row))),
    element("p", { class: "buttons" }, csvButton("table-1", () => records(COLUMNS, problems))),
  ];
}
