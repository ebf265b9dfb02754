const CONTAINER = "isFinite(containerSize()[0]) ? containerSize()[0] : 400";

const fit = ({ width, ...spec }, signals) => ({ ...spec, autosize: { type: "fit-x", contains: "padding" }, signals: [...signals, ...(spec.signals ?? [])] });

// Patches a Vega specification: the figure takes its container's width and
// follows it. Vega-Lite's own "container" width warns over stepped rows.
// "container" keeps that width, while "width" becomes what the axes leave of it.
export function fitWidth(spec) {
  const follow = (name) => ({ name, init: CONTAINER, on: [{ events: "window:resize", update: CONTAINER }] });
  return fit(spec, [follow("width"), follow("container")]);
}

// The same for a figure outside the page.
export const fixWidth = (spec, width) => fit(spec, [{ name: "width", value: width }, { name: "container", value: width }]);
