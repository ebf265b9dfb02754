import { commandSection } from "./command.js";
import { element, header } from "./dom.js";
import { figure } from "./figure.js";
import { counted, integer, slug } from "./format.js";
import { pullsBars } from "./pulls-bars.js";
import { regretBox } from "./regret-box.js";
import { regretCurve } from "./regret-curve.js";
import { regretTable } from "./regret-table.js";
import { scaleSwitch } from "./scale-switch.js";
import { timeTable } from "./time-table.js";

function runHeader(data) {
  const line =
    `Regret of ${counted(data.agents.length, "agent")} on ${counted(data.environments.length, "contextual bandit environment")} ` +
    `over ${counted(data.steps, "round")}, averaged over ${counted(data.realizations, "independent realization")}. Lower is better.`;
  return header(data.title, line, [
    ["Rounds T", integer(data.steps)],
    ["Realizations", integer(data.realizations)],
    ["Seed", data.seed],
    ["Version", data.version],
    ["Machine", data.machine],
  ]);
}

const sectionId = (env) => `env-${slug(env)}`;

function contents(environments) {
  if (environments.length < 2) return null;
  const links = environments.map((env) => element("a", { href: `#${sectionId(env)}` }, env));
  return element("nav", { "aria-label": "Environments" }, links);
}

function curveFigure(data, env, curves) {
  return figure({
    title: "Cumulative regret",
    note: "Mean over realizations, with a band of one standard deviation. Click a legend entry to hide or show that agent.",
    file: `pits ${env} regret`,
    agents: true,
    agentLegend: true,
    spec: () => regretCurve(data.agents, curves),
  });
}

function boxFigure(data, env, finals) {
  return figure({
    title: "Normalised regret after the last round",
    note: "One point a realization; box: quartiles, whiskers: extremes.",
    file: `pits ${env} normalised regret`,
    agents: true,
    spec: () => regretBox(data.agents, finals),
  });
}

function pullsFigure(data, env, pulls) {
  return figure({
    title: "Pulls of each action",
    note: "Mean number of rounds in which the agent chose the action.",
    file: `pits ${env} pulls`,
    agents: true,
    spec: () => pullsBars(data.agents, pulls),
  });
}

function environmentSection(data, env) {
  const here = (list) => (list ?? []).filter((entry) => entry.env === env);
  const [curves, finals, pulls] = [here(data.curves), here(data.finals), here(data.pulls)];
  return element(
    "section",
    { id: sectionId(env), class: "environment" },
    element("h2", {}, env),
    curves.length ? curveFigure(data, env, curves) : null,
    element(
      "div",
      { class: "pair" },
      finals.length ? boxFigure(data, env, finals) : null,
      pulls.length ? pullsFigure(data, env, pulls) : null,
    ),
  );
}

export function runPage(data) {
  return [
    runHeader(data),
    regretTable(data),
    element("div", { class: "toolbar" }, contents(data.environments) ?? "", scaleSwitch(data.summary)),
    ...data.environments.map((env) => environmentSection(data, env)),
    timeTable(data) ?? "",
    commandSection(data.command),
  ];
}
