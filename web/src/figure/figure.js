import embed from "vega-embed";
import { element } from "../base/dom.js";
import { fitWidth } from "./fit-width.js";
import { slug } from "../base/format.js";
import { clickableLegend, listenToLegend } from "./legend.js";
import { saveButtons } from "./save-figure.js";
import { onThemeChange, vegaConfig } from "../base/theme.js";
import { tooltipHtml } from "./tooltip.js";
import { hiddenAgents, onVisibilityChange } from "../base/visibility.js";

export const figures = [];
const stale = new Set();
let drawing = null;

const options = (figure) => ({
  mode: figure.mode ?? "vega-lite",
  renderer: "svg",
  actions: false,
  config: vegaConfig(),
  tooltip: { formatTooltip: tooltipHtml },
  patch: (spec) => (figure.agentLegend ? clickableLegend(fitWidth(spec)) : fitWidth(spec)),
});

async function draw(figure) {
  figure.result?.finalize();
  try {
    figure.result = await embed(figure.canvas, figure.spec(), options(figure));
    if (figure.agentLegend) listenToLegend(figure.result.view);
    figure.onDrawn?.(figure.result.view);
    figure.node.dataset.state = "drawn";
  } catch (error) {
    figure.node.dataset.state = "failed";
    figure.canvas.textContent = `This figure cannot be drawn: ${error.message}`;
  }
}

function distance({ node }) {
  const { top, bottom } = node.getBoundingClientRect();
  return Math.max(0, top - window.innerHeight, -bottom);
}

const nearest = (list) => list.map((figure) => ({ figure, away: distance(figure) })).reduce((a, b) => (b.away < a.away ? b : a)).figure;

async function drawStale() {
  while (stale.size) {
    const figure = nearest([...stale]);
    stale.delete(figure);
    await draw(figure);
    // Leaves the page to its reader between two figures.
    await new Promise((resume) => setTimeout(resume));
  }
  drawing = null;
}

// One figure after another, what the reader sees first.
export function drawAll(which = figures) {
  which.forEach((figure) => stale.add(figure));
  return (drawing ??= drawStale());
}

export const drawScaled = () => drawAll(figures.filter(({ scaled }) => scaled));

function uniqueId(name) {
  const taken = (id) => figures.some((figure) => figure.id === id);
  let id = slug(name);
  for (let i = 2; taken(id); i += 1) id = `${slug(name)}-${i}`;
  return id;
}

// description: { title, note, file: its name when saved, spec: (standalone) => specification,
//   rows: () => its data as a table, height: of the drawing, about, in pixels,
//   mode, agents: follows the hidden agents, agentLegend, scaled: follows the scale switch, onDrawn }
export function figure(description) {
  const canvas = element("div", { class: "canvas", style: description.height ? `min-height: ${description.height}px` : null });
  const entry = { ...description, id: uniqueId(description.file), canvas };
  const text = element("div", {}, element("h3", {}, description.title), description.note ? element("p", {}, description.note) : null);
  entry.node = element("figure", { "data-figure": entry.id, "data-state": "waiting" }, element("figcaption", {}, text, saveButtons(entry)), canvas);
  figures.push(entry);
  return entry.node;
}

onThemeChange(() => drawAll());
onVisibilityChange(() => {
  const live = figures.filter(({ agents, result }) => agents && result);
  for (const { result } of live) result.view.signal("hidden", hiddenAgents()).runAsync();
});
