import { agentFigures, environmentFigures, families } from "../charts/against.js";
import { pageLegend } from "../figure/agent-legend.js";
import { element } from "../base/dom.js";
import { summaryButton } from "../base/download.js";
import { isNumber } from "../base/format.js";
import { environmentName } from "../base/labels.js";
import { gridNote, regretGrid, showAllButton } from "../tables/regret-table.js";
import { NOTES, boxFigure, curveFigure, pullsFigure } from "./run-figures.js";
import { scaleSwitch } from "../figure/scale-switch.js";

const FACET_HEIGHT = 240;

function block(section, key, title, ...children) {
  const id = `${section.id}-${key}`;
  return { id, title, node: element("div", { class: "block", id }, element("h3", {}, title), ...children) };
}

const note = (text) => element("p", { class: "note" }, text);
const facets = (figures) => element("div", { class: "facets" }, figures);
const thirds = (figures) => element("div", { class: "facets thirds" }, figures);

function tableBlock(section) {
  const absolute = section.id !== "benchmark";
  return block(section, "table", "Summary", regretGrid(section, absolute), note(gridNote(absolute)), element("p", { class: "buttons" }, summaryButton(`pits-${section.id}`, section.summary), showAllButton()));
}

function againstAgents(section) {
  return block(section, "against", `Against ${section.x.name}`, note("Mean over realizations, bars of one standard error."), pageLegend(families(section), scaleSwitch()), thirds(agentFigures(section, environmentName)));
}

function againstEnvironments(section) {
  return block(section, "against", `Against ${section.env_x.name}`, note("Mean over realizations, bars of one standard error."), pageLegend(section.agents, scaleSwitch()), facets(environmentFigures(section)));
}

// One figure for each environment that the list holds.
function perEnvironment(section, list, key, title, make) {
  const here = section.environments.map((env) => ({ env, entries: (list ?? []).filter((entry) => entry.env === env) }));
  return here
    .filter(({ entries }) => entries.length)
    .map(({ env, entries }) => make(entries, { title: environmentName(env), fullTitle: `${title}: ${environmentName(env)}`, file: `${section.id} ${key} ${env}` }));
}

function boxBlock(section) {
  const figures = perEnvironment(section, section.finals, "box", "Normalised regret", (finals, text) => boxFigure(section.agents, finals, text));
  return figures.length ? block(section, "box", "Normalised regret, every realization", note(NOTES.box), facets(figures)) : null;
}

function curveBlock(section) {
  const options = { legend: false, height: FACET_HEIGHT };
  const figures = perEnvironment(section, section.curves, "regret", "Cumulative regret", (curves, text) => curveFigure(section.agents, curves, text, options));
  return figures.length ? block(section, "regret", "Cumulative regret", note(NOTES.curves), pageLegend(section.agents, scaleSwitch()), facets(figures)) : null;
}

function pullsBlock(section) {
  const figures = perEnvironment(section, section.pulls, "pulls", "Pulls of each action", (pulls, text) => pullsFigure(section.agents, pulls, text));
  return figures.length ? block(section, "pulls", "Pulls of each action", note(NOTES.pulls), facets(figures)) : null;
}

const places = (axis) => Object.values(axis?.values ?? {}).some(isNumber);

// A section may name the figures it wants of "box" and "curves"; none named: all.
const wants = ({ figures }, name) => !figures?.length || figures.includes(name);

// known: agents whose results another table shows already
export function sectionBlocks(section, known = []) {
  const shownElsewhere = section.id === "benchmark" && section.agents.every((agent) => known.includes(agent));
  return [
    places(section.x) ? againstAgents(section) : null,
    places(section.env_x) ? againstEnvironments(section) : null,
    section.summary?.length && !shownElsewhere ? tableBlock(section) : null,
    wants(section, "box") ? boxBlock(section) : null,
    wants(section, "curves") ? curveBlock(section) : null,
    wants(section, "curves") ? pullsBlock(section) : null,
  ].filter(Boolean);
}
