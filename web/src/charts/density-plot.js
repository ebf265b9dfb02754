import { colour } from "../base/theme.js";

// The log density below the peak at these radii of a unit Gaussian: -r²/2.
// Contours of the log density are smooth where those of the density are ragged.
const LEVELS = [3, 2.5, 2, 1.5, 1, 0.5].map((radius) => -(radius ** 2) / 2);
const LOWEST = 1e-8;

function logDensity(values) {
  const peak = values.reduce((high, value) => Math.max(high, value), LOWEST);
  return values.map((value) => Math.log(Math.max(value / peak, LOWEST)));
}

// Node (i, j) of the grid is drawn by isocontour at (i + 1/2, j + 1/2); here the
// first and last nodes come to lie on the plot's edges, row 0 at the bottom.
function contourTransform({ nx, ny }) {
  const step = { x: `width / ${nx - 1}`, y: `height / ${ny - 1}` };
  return {
    type: "isocontour",
    thresholds: LEVELS,
    smooth: true,
    scale: { signal: `[${step.x}, -${step.y}]` },
    translate: { signal: `[-0.5 * ${step.x}, height + 0.5 * ${step.y}]` },
  };
}

const axis = (scale, orient, title) => ({ scale, orient, title, grid: false, tickCount: 6, domain: true, ticks: true, tickSize: 4, titleFontSize: 15, titlePadding: 6 });

function marks() {
  const point = { x: { scale: "x", field: "0" }, y: { scale: "y", field: "1" } };
  return [
    {
      type: "path",
      clip: true,
      from: { data: "contours" },
      encode: { update: { fill: { scale: "shade", field: "contour.value" }, stroke: { value: colour("contour") }, strokeWidth: { value: 0.8 } } },
      transform: [{ type: "geopath", field: "datum.contour" }],
    },
    {
      type: "symbol",
      clip: true,
      from: { data: "particles" },
      encode: { update: { ...point, size: { value: 32 }, fill: { value: colour("particle") }, fillOpacity: { value: 0.9 }, stroke: { value: colour("surface") }, strokeWidth: { value: 0.7 } } },
    },
  ];
}

// frame: { iteration, particles: [[x, y], ...] }
export function densityPlot(density, frame) {
  const { x, y, nx, ny, values } = density;
  const aspect = Math.min(1, Math.max(0.55, (y[1] - y[0]) / (x[1] - x[0])));
  return {
    padding: 2,
    signals: [{ name: "height", update: `${aspect} * width` }],
    data: [
      { name: "density", values: [{ width: nx, height: ny, values: logDensity(values) }] },
      { name: "contours", source: "density", transform: [contourTransform(density)] },
      { name: "particles", values: frame.particles },
    ],
    scales: [
      { name: "x", type: "linear", domain: x, range: "width", zero: false },
      { name: "y", type: "linear", domain: y, range: "height", zero: false },
      { name: "shade", type: "linear", domain: { data: "contours", field: "contour.value" }, range: [colour("density-low"), colour("density-high")], zero: false },
    ],
    axes: [axis("x", "bottom", "θ₁"), axis("y", "left", "θ₂")],
    marks: marks(),
  };
}
