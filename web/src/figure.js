import embed from "vega-embed";
import { element } from "./dom.js";
import { fitWidth } from "./fit-width.js";
import { slug } from "./format.js";
import { clickableLegend, listenToLegend } from "./legend.js";
import { onThemeChange, vegaConfig } from "./theme.js";
import { tooltipHtml } from "./tooltip.js";
import { hiddenAgents, onVisibilityChange } from "./visibility.js";

const figures = [];
let drawing = Promise.resolve();

const options = (figure) => ({
  mode: figure.mode ?? "vega-lite",
  renderer: "svg",
  actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
  config: vegaConfig(),
  downloadFileName: slug(figure.file),
  scaleFactor: { png: 3 },
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

// One figure after another, in page order, so that the top of the page is ready first.
export function drawAll() {
  for (const figure of figures) drawing = drawing.then(() => draw(figure));
  return drawing;
}

// description: { title, note, file, spec: () => specification, mode, agents, agentLegend, onDrawn }
export function figure(description) {
  const canvas = element("div", { class: "canvas" });
  const caption = element("figcaption", {}, element("h3", {}, description.title), description.note ? element("p", {}, description.note) : null);
  const node = element("figure", { "data-state": "waiting" }, caption, canvas);
  figures.push({ ...description, canvas, node });
  return node;
}

onThemeChange(drawAll);
onVisibilityChange(() => {
  const live = figures.filter(({ agents, result }) => agents && result);
  for (const { result } of live) result.view.signal("hidden", hiddenAgents()).runAsync();
});
