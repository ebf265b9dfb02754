// Tables with a drawing in each row: values of policies, propensities, calibration; and those of models and trainings.
import { element, framedTable } from "../base/dom.js";
import { counted, decimalsFor, fixed, integer, isNumber, significant } from "../base/format.js";
import { tableOf } from "./live-figure.js";
import { clock, day, scale, svg } from "./svg.js";

const percent = (share) => `${fixed(100 * share, 1)} %`;
const at = (value) => `${Math.max(0, Math.min(100, value)).toFixed(2)}%`;
const plot = (...parts) => element("td", { class: "plot" }, svg("svg", { "aria-hidden": "true", height: 22, class: "row-plot" }, ...parts));
const row = (name, ...cells) => element("tr", {}, element("th", { scope: "row" }, name), ...cells);
const cell = (text, kind) => element("td", kind ? { class: kind } : {}, text);
const table = (label, columns, rows) =>
  framedTable(label, element("thead", {}, element("tr", {}, columns.map(([name, kind]) => element("th", { scope: "col", class: kind }, name)))), element("tbody", {}, ...rows));

const note = (text) => element("p", { class: "note" }, text);
const moment = (utc, now) => (day(utc) === day(now) ? clock(utc) : `${day(utc)} ${clock(utc)}`);

// Why there are no intervals, or what to know of them.
function remarks({ range, outside, level, rounds, left_out: leftOut, interval_rounds: intervalRounds }, statistics) {
  const texts = [];
  if (outside > 0) texts.push(`No intervals: ${counted(outside, "reward")} outside of the range ${range[0]} to ${range[1]}.`);
  else if (!range) texts.push("No intervals: they need to know the least and the largest reward that there can be. Give the bandit a reward_range, e.g. [0, 1].");
  else texts.push(`The intervals hold with probability ${100 * level} % at every time that you look, together. They are of the first ${counted(intervalRounds, "decision")}.`);
  texts.push(`Judged on ${counted(rounds, "decision")}${statistics.window ? ", up to the oldest one that still waits for its reward" : ", as their rewards came"}.`);
  if (leftOut > 0) texts.push(`Left out: ${counted(leftOut, "decision")} at the start that left nothing to chance.`);
  if (statistics.one_in > 1) texts.push(`Very many decisions wait, so that this is a sample: one decision in ${statistics.one_in}.`);
  return note(texts.join(" "));
}

export function valuesTable(statistics, actions) {
  const { values } = statistics;
  const fixedRows = values.actions.map((value, i) => [`always ${actions[i]?.name ?? `action ${i}`}${actions[i]?.retired ? " (retired)" : ""}`, value]);
  const shown = [["this bandit", values.logged, "was earned"], ["uniform choice", values.uniform], ...fixedRows].filter(([, value]) => isNumber(value.ips));
  const ends = shown.flatMap(([, { ips, interval }]) => interval ?? [ips]);
  const low = Math.min(...ends), high = Math.max(...ends);
  const place = scale(low - 0.04 * (high - low || 1), high + 0.04 * (high - low || 1), 0, 100);
  const decimals = Math.max(2, decimalsFor(ends));
  const line = ([name, { ips, interval, effective }], i) => {
    const own = shown[0][1].ips;
    const parts = [svg("line", { class: "own", x1: at(place(own)), x2: at(place(own)), y1: 0, y2: 22 })];
    if (interval) parts.push(svg("line", { class: "whisker", x1: at(place(interval[0])), x2: at(place(interval[1])), y1: 11, y2: 11 }));
    parts.push(svg("circle", { class: i ? "dot" : "dot own-dot", cx: at(place(ips)), cy: 11, r: 4.5 }));
    const range = interval ? `${fixed(interval[0], decimals)} to ${fixed(interval[1], decimals)}` : "–";
    return row(name, element("td", {}, element("span", { class: "mean" }, fixed(ips, decimals)), element("small", { class: "narrow-only" }, range)), cell(range, "wide-only"), plot(...parts), cell(i ? integer(Math.round(effective)) : integer(values.rounds), "minor"));
  };
  return [table("What policies would have earned", [["policy"], ["reward per decision"], ["95 % interval", "wide-only"], [""], ["effective decisions", "minor"]], shown.map(line)), remarks(values, statistics)];
}

export function propensityTable({ edges, counts, certain, least, estimated }) {
  const total = counts.reduce((a, b) => a + b, 0);
  const most = Math.max(...counts, 1);
  const label = (i) => (i ? `${100 * edges[i - 1]} to ${100 * edges[i]} %` : `up to ${100 * edges[0]} %`);
  const first = counts.findIndex((count) => count > 0);
  const line = (i) => row(label(i), cell(percent(counts[i] / total)), plot(svg("rect", { class: "bar", x: 0, y: 4, height: 14, width: at((100 * counts[i]) / most) })), cell(integer(counts[i]), "minor"));
  const texts = [`The least likely action that was taken had ${significant(100 * least, 2)} %. The smaller it is, the more one decision weighs above.`];
  if (certain > 0) texts.push(`${counted(certain, "decision")} left nothing to chance.`);
  if (estimated > 0) texts.push(`Of ${counted(estimated, "decision")} the propensities were estimated by simulation, not exact.`);
  const places = counts.map((_, i) => i).filter((i) => i >= first);
  return [table("Propensities of the actions that were taken", [["propensity"], ["share"], [""], ["decisions", "minor"]], places.map(line)), note(texts.join(" "))];
}

// The difference in standard errors, on −4..4 with the middle ±2 shaded.
export function calibrationTable(deciles) {
  const place = scale(-4, 4, 0, 100);
  const line = (decile, i) => {
    if (!decile.pairs) return null;
    const z = decile.error > 0 ? (decile.observed - decile.expected) / decile.error : 0;
    const drawing = plot(
      svg("rect", { class: "within", x: at(place(-2)), width: "50%", y: 2, height: 18 }),
      svg("line", { class: "own", x1: "50%", x2: "50%", y1: 0, y2: 22 }),
      svg("circle", { class: Math.abs(z) > 3 ? "dot off" : "dot", cx: at(place(z)), cy: 11, r: 4.5 }),
    );
    const words = `${fixed(z, 1)}${Math.abs(z) > 3 ? " !" : ""}`;
    return row(`${10 * i} to ${10 * (i + 1)} %`, cell(percent(decile.expected)), cell(percent(decile.observed)), drawing, cell(words), cell(integer(decile.pairs), "minor"));
  };
  const rows = deciles.map(line).filter(Boolean);
  const far = deciles.some(({ pairs, observed, expected, error }) => pairs && error > 0 && Math.abs(observed - expected) > 3 * error);
  const verdict = far
    ? "A difference of more than 3 standard errors (!) is rare by chance: the propensities may not be those that decisions were made by, and what stands above may be wrong."
    : "All differences are of the size that chance gives.";
  return [table("Propensities against choices", [["propensity"], ["should be"], ["was taken"], [""], ["standard errors"], ["pairs", "minor"]], rows), note(verdict)];
}

export function modelTables({ versions, last, adopted, skipped, trainings }, now) {
  const newest = [...last].reverse().slice(0, 6).map((one) => [integer(one.model), integer(one.decisions), moment(one.first_used, now)]);
  const latest = [...trainings].reverse().slice(0, 6).map((one) => [moment(one.utc, now), integer(one.began), one.problem || "adopted"]);
  const trained = adopted || skipped ? `${counted(adopted, "training")} adopted${skipped ? `, ${integer(skipped)} skipped` : ""}.` : "No training has been adopted yet.";
  return [
    element("div", {}, note(`${counted(versions, "version")} of the model have decided. A version is named by the last event that it had learned.`),
      tableOf("Versions of the model", ["version", "decisions", "first used (UTC)"], newest)),
    element("div", {}, note(trained), latest.length ? tableOf("Trainings", ["time (UTC)", "of events up to", "result"], latest) : null),
  ];
}
