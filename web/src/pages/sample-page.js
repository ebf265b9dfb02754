import { commandSection } from "./command.js";
import { densityPlot } from "../charts/density-plot.js";
import { element, framedTable, header } from "../base/dom.js";
import { records } from "../base/download.js";
import { figure } from "../figure/figure.js";
import { integer, isNumber } from "../base/format.js";
import { metricChart } from "../charts/metric-chart.js";
import { player } from "../figure/player.js";
import { reached } from "./findings.js";

const METRICS = [
  { key: "w2", title: "Wasserstein distance", axis: "W₂" },
  { key: "mmd", title: "Maximum mean discrepancy", axis: "MMD" },
  { key: "ksd", title: "Kernel Stein discrepancy", axis: "KSD" },
];

function sampleHeader(data) {
  const line = `${integer(data.particles)} particles move from their start towards the ${data.target} density by the ${data.flow} flow.`;
  return header(data.title, line, [
    ["Target", data.target],
    ["Flow", data.flow],
    ["Particles", integer(data.particles)],
    ["Iterations", integer(data.iterations)],
    ["Seed", data.seed],
    ["Version", data.version],
  ], reached(data));
}

function particlesFigure(data, controls) {
  const node = figure({
    title: "Particles over the target's contours",
    file: `pits ${data.target} ${data.flow} particles`,
    mode: "vega",
    spec: () => densityPlot(data.density, controls.frame()),
    rows: () => [["theta_1", "theta_2"], ...controls.frame().particles],
    onDrawn: (view) => controls.follow((frame) => view.data("particles", frame.particles).runAsync()),
  });
  node.append(controls.node);
  return node;
}

function metricFigure(data, metric, controls) {
  return figure({
    title: metric.title,
    file: `pits ${data.target} ${data.flow} ${metric.key}`,
    spec: () => metricChart(data.metrics, metric, data.floor?.[metric.key], controls.frame().iteration),
    rows: () => records({ iteration: (row) => row.iteration, [metric.key]: (row) => row[metric.key] }, data.metrics),
    onDrawn: (view) => controls.follow((frame) => view.signal("now", frame.iteration).runAsync()),
  });
}

function about(data) {
  const rows = Object.entries(data.settings ?? {}).map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, String(value))));
  return element(
    "div",
    { class: "about" },
    element("h3", {}, `Target: ${data.target}`),
    element("p", {}, data.target_summary),
    element("h3", {}, `Flow: ${data.flow}`),
    element("p", {}, data.flow_summary),
    rows.length ? element("h3", {}, "Settings") : null,
    rows.length ? framedTable("Settings", element("tbody", {}, rows)) : null,
  );
}

function metricsSection(data, controls) {
  const measured = METRICS.filter(({ key }) => (data.metrics ?? []).some((row) => isNumber(row[key])));
  if (!measured.length) return "";
  const note = "Lower is better. The dashed line is what as many exact samples of the target score, the vertical line is the iteration shown above.";
  return element(
    "section",
    { id: "metrics" },
    element("h2", {}, "Distance to the target"),
    element("p", { class: "note" }, note),
    element("div", { class: "triple" }, measured.map((metric) => metricFigure(data, metric, controls))),
  );
}

export function samplePage(data) {
  const controls = player(data.frames);
  return [
    sampleHeader(data),
    element("section", { id: "particles", class: "stage" }, particlesFigure(data, controls), about(data)),
    metricsSection(data, controls),
    commandSection(data.command),
  ];
}
