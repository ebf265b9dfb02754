const CONTAINER = "isFinite(containerSize()[0]) ? containerSize()[0] : 400";

// Patches a Vega specification: the figure takes its container's width and
// follows it. Vega-Lite's own "container" width warns over stepped rows.
// "container" keeps that width, while "width" becomes what the axes leave of it.
export function fitWidth({ width, ...spec }) {
  const follow = (name) => ({ name, init: CONTAINER, on: [{ events: "window:resize", update: CONTAINER }] });
  return { ...spec, autosize: { type: "fit-x", contains: "padding" }, signals: [follow("width"), follow("container"), ...(spec.signals ?? [])] };
}
