import { commandSection } from "./command.js";
import { costSection } from "./cost.js";
import { element, header } from "../base/dom.js";
import { counted, integer, slug } from "../base/format.js";
import { headline } from "./findings.js";
import { healthParts } from "./health.js";
import { regretTable } from "../tables/regret-table.js";
import { NOTES, boxFigure, curveFigure, pullsFigure } from "./run-figures.js";
import { scaleSwitch, startScale } from "../figure/scale-switch.js";
import { orderSeries } from "../base/series.js";
import { timeTable } from "../tables/time-table.js";

// For each problem, what every agent scored, with its realizations.
function problems({ agents, environments, summary, finals }) {
  return environments.map((env) =>
    agents.flatMap((agent) => {
      const here = (list) => (list ?? []).find((entry) => entry.agent === agent && entry.env === env);
      const regret = here(summary)?.normalized_regret;
      return regret ? [{ agent, mean: regret.mean, se: regret.se, values: here(finals)?.values }] : [];
    }),
  );
}

function runHeader(data) {
  const line =
    `Regret of ${counted(data.agents.length, "agent")} on ${counted(data.environments.length, "contextual bandit environment")} ` +
    `over ${counted(data.steps, "round")}, averaged over ${counted(data.realizations, "independent realization")}. Lower is better.` +
    (data.feedback === "all" ? " Full information: after every round agents learned the rewards of all actions." : "");
  const facts = [
    ["Rounds T", integer(data.steps)],
    ["Realizations", integer(data.realizations)],
    ["Seed", data.seed],
    ["Version", data.version],
    ["Machine", data.machine],
  ];
  return header(data.title, line, facts, headline(problems(data), (agent) => agent));
}

const sectionId = (env) => `env-${slug(env)}`;

function contents(environments) {
  if (environments.length < 2) return null;
  const links = environments.map((env) => element("a", { href: `#${sectionId(env)}` }, env));
  return element("nav", { "aria-label": "Environments" }, links);
}

function environmentSection(data, env) {
  const here = (list) => (list ?? []).filter((entry) => entry.env === env);
  const [curves, finals, pulls] = [here(data.curves), here(data.finals), here(data.pulls)];
  const text = (title, note, file) => ({ title, fullTitle: `${title}: ${env}`, note, file: `pits ${env} ${file}` });
  const legendNote = `${NOTES.curves} Click a legend entry to hide or show that agent.`;
  return element(
    "section",
    { id: sectionId(env), class: "environment" },
    element("h2", {}, env),
    curves.length ? curveFigure(data.agents, curves, text("Cumulative regret", legendNote, "regret")) : null,
    element(
      "div",
      { class: "pair" },
      finals.length ? boxFigure(data.agents, finals, text("Normalised regret after the last round", NOTES.box, "normalised regret")) : null,
      pulls.length ? pullsFigure(data.agents, pulls, text("Pulls of each action", NOTES.pulls, "pulls")) : null,
    ),
    healthParts(data, env),
  );
}

export function runPage(data) {
  orderSeries(data.agents);
  startScale(data.summary);
  return [
    runHeader(data),
    regretTable(data),
    element("div", { class: "toolbar" }, contents(data.environments) ?? "", scaleSwitch()),
    ...data.environments.map((env) => environmentSection(data, env)),
    costSection(data) ?? "",
    timeTable(data) ?? "",
    commandSection(data.command),
  ];
}
