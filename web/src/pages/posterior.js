import { pageLegend } from "../figure/agent-legend.js";
import { figure } from "../figure/figure.js";
import { isNumber } from "../base/format.js";
import { seriesChart } from "../charts/series-chart.js";

const Y_TITLE = "W₂ of the marginals to the exact posterior";

const points = (rounds, { mean, se }) => rounds.map((x, i) => ({ x, mean: mean[i], se: se?.[i] })).filter(({ mean: value }) => isNumber(value));

export function posteriorParts(posterior) {
  const series = posterior.series.map((entry) => ({ agent: entry.agent, points: points(posterior.rounds, entry) }));
  const floor = posterior.floor ? { agent: posterior.floor.label, label: posterior.floor.label, points: points(posterior.rounds, posterior.floor) } : null;
  const rows = [...series, ...(floor ? [floor] : [])];
  const drawing = (standalone = false) => seriesChart(series, { xTitle: "Round", yTitle: Y_TITLE, log: true, floor, legend: standalone, height: 380 });
  const setting = isNumber(posterior.dimension) ? `Linear problem, d = ${posterior.dimension}. ` : "";
  return [
    pageLegend(series.map(({ agent }) => agent)),
    figure({
      title: "Distance to the exact posterior",
      note: `${setting}Mean over realizations, bars of one standard error; lower is better.${floor ? ` Dashed: ${floor.label}, which no method can be expected to beat.` : ""}`,
      file: "posterior w2",
      agents: true,
      height: 380,
      spec: drawing,
      rows: () => [["agent", "round", "mean", "se"], ...rows.flatMap(({ agent, points: list }) => list.map(({ x, mean, se }) => [agent, x, mean, se]))],
    }),
  ];
}
