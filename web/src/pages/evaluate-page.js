import { calibrationChart, growthChart, rewardPoints, supportBars, weightBars } from "../charts/evaluation-charts.js";
import { element, framedTable, header, tableClass } from "../base/dom.js";
import { csvButton, records } from "../base/download.js";
import { counted, fixed, integer, isNumber, significant } from "../base/format.js";
import { figure } from "../figure/figure.js";
import { commandSection } from "./command.js";
import { verdict } from "./findings.js";

const COUNTS = {
  cold_start: "certain decisions at the start left out",
  certain: "certain decisions kept",
  expired: "without a reward in time, by default",
  estimated: "with estimated propensities",
  cancelled: "cancelled, left out",
  waiting: "without a reward yet, left out",
  erased: "with erased contexts, left out",
  dangling: "rewards without a decision, left out",
};

const interval = (pair) => (pair && pair.every(isNumber) ? `${fixed(pair[0], 4)} to ${fixed(pair[1], 4)}` : "–");

// The chosen interval of an estimate or of a difference.
const chosen = (data, estimate, sequence) => (data.interval === "sequence" ? sequence : estimate?.[data.interval]);

const COLUMNS = {
  Policy: ({ policy }) => policy,
  Value: ({ estimate }) => fixed(estimate?.value, 4),
  Interval: ({ range }) => interval(range),
  Difference: ({ difference }) => fixed(difference?.value, 4),
  "Its interval": ({ apart }) => interval(apart),
  "Effective rounds": ({ weights }) => integer(Math.round(weights.effective_rounds)),
  "Largest weight": ({ weights }) => significant(weights.largest),
  "Mean weight": ({ weights }) => fixed(weights.mean, 3),
  "No support": ({ weights }) => (isNumber(weights.unsupported) ? `${fixed(100 * weights.unsupported, 1)} %` : "unknown"),
};

function rowsOf(data) {
  const { logged } = data;
  const mean = { value: logged.value, asymptotic: logged.asymptotic, bootstrap: logged.bootstrap };
  const base = { policy: "logged", estimate: mean, range: data.interval === "sequence" ? logged.sequence : mean[data.interval], truth: logged.truth, weights: { effective_rounds: logged.rounds, largest: 1, mean: 1, unsupported: 0 } };
  const judged = data.policies.map((policy) => {
    const estimate = policy.estimates[data.estimator];
    const difference = policy.differences[data.estimator];
    return { ...policy, estimate, difference, range: chosen(data, estimate, policy.sequence), apart: chosen(data, difference, policy.sequence_difference) };
  });
  return [base, ...judged];
}

function valueTable(data) {
  const rows = rowsOf(data);
  const columns = { ...COLUMNS, ...(rows.some(({ truth }) => isNumber(truth)) ? { Truth: ({ truth }) => fixed(truth, 4) } : {}) };
  const names = Object.keys(columns);
  const head = element("thead", {}, element("tr", {}, names.map((name) => element("th", { scope: "col" }, name))));
  const line = (row) => element("tr", {}, names.map((name, i) => element(i ? "td" : "th", i ? {} : { scope: "row" }, String(columns[name](row)))));
  return element("div", { class: tableClass(names) }, framedTable("Values of the policies", head, element("tbody", {}, rows.map(line))), csvButton("pits evaluation values", () => records(columns, rows)));
}

function doubts(data) {
  const found = data.policies.flatMap((p) => p.warnings.map((text) => element("p", { class: "warning" }, element("strong", {}, `Do not trust ${p.policy}. `), text)));
  const remarks = data.policies.filter(({ remark }) => remark).map(({ policy, remark }) => element("p", { class: "note" }, `${policy}: ${remark}.`));
  const range = data.reward_range ? null : element("p", { class: "note" }, "No reward range was given, so there is no interval that holds at every look and for a logger that learns.");
  return [...found, ...remarks, range];
}

function lead(data) {
  const counts = Object.entries(COUNTS).flatMap(([key, text]) => (data.logged.counts[key] ? [`${integer(data.logged.counts[key])} ${text}`] : []));
  return [`${counted(data.logged.rounds, "round")} of a log judge ${counted(data.policies.length, "policy").replace("policys", "policies")}.`, ...counts.map((text) => `${text}.`)].join(" ");
}

function finding(data) {
  const trusted = rowsOf(data).filter(({ policy, warnings }) => policy !== "logged" && !warnings.length);
  return verdict(trusted.map(({ policy, estimate, apart }) => ({ policy, value: estimate?.value, apart })), data.against);
}

function growthRows(data) {
  const key = ["ips", "snips", "dr"].includes(data.estimator) ? data.estimator : data.policies[0]?.curve[0]?.dr === undefined ? "ips" : "dr";
  const rows = data.policies.flatMap(({ policy, curve }) => curve.map((p) => ({ policy, rounds: p.rounds, value: p[key], low: p.sequence?.[0], high: p.sequence?.[1] })));
  return rows.filter(({ value }) => isNumber(value));
}

function weightRows(data) {
  const label = ({ low, high }) => (low === 0 && high === 0 ? "0" : `${significant(low)} to ${significant(high)}`);
  return data.policies.flatMap(({ policy, histogram }) => histogram.map((bar) => ({ policy, weight: label(bar), low: bar.low, share: bar.share })));
}

function supportRows(data) {
  const actions = data.logged.actions;
  const rows = (policy, shares) => shares.map((share, a) => ({ policy, action: actions[a], share }));
  return [...rows("logged", data.logged_shares), ...data.policies.flatMap(({ policy, action_shares: shares }) => rows(policy, shares))];
}

const chart = (title, note, file, rows, spec) => figure({ title, note, file: `pits evaluation ${file}`, spec, rows: () => records(Object.fromEntries(Object.keys(rows[0] ?? {}).map((key) => [key, (row) => row[key]])), rows), height: 240 });

export function evaluatePage(data) {
  const names = data.policies.map(({ policy }) => policy);
  const level = `${Number((100 * data.level).toPrecision(4))} %`;
  const groups = data.feature?.groups ?? [];
  return [
    header(data.title, lead(data), [["Estimator", data.estimator], ["Interval", `${level} ${data.interval}`], ["Differences to", data.against], ["Reward model", data.model], ["Seed", data.seed], ["Version", data.version]], finding(data)),
    element("section", { id: "values" }, element("h2", {}, "Values"), valueTable(data), ...doubts(data)),
    element(
      "section",
      { id: "growth" },
      chart("Values as the log grows", data.reward_range ? `The bands are ${level} confidence sequences: they hold at every round at once. Dashed: what was logged.` : "Dashed: what was logged.", "growth", growthRows(data), () => growthChart(growthRows(data), names, data.logged.value)),
    ),
    element(
      "section",
      { id: "support", class: "pair" },
      chart("Weights", "Few rounds with large weights carry an estimate alone.", "weights", weightRows(data), () => weightBars(weightRows(data), names)),
      chart("Support", "An action that the logger never takes says nothing of a policy that does.", "support", supportRows(data), () => supportBars(supportRows(data), names, data.logged.actions)),
    ),
    element(
      "section",
      { id: "rewards", class: "pair" },
      chart("Reward by action", "Mean of what was logged, ± 2 standard errors.", "by action", data.by_action.filter(({ rounds }) => rounds > 0), () => rewardPoints(data.by_action.filter(({ rounds }) => rounds > 0), "action", "Action", true)),
      groups.length ? chart(`Reward by ${data.feature.name}`, "Mean of what was logged in groups of like size, ± 2 standard errors.", "by feature", groups, () => rewardPoints(groups, "at", data.feature.name, false)) : "",
      data.calibration ? chart("Calibration of the reward model", "Rounds in groups by the reward that the model predicted without having seen them.", "calibration", data.calibration, () => calibrationChart(data.calibration)) : "",
    ),
    commandSection(data.command),
  ];
}
