// A figure that is drawn again with every answer of the service. The cursor (pointer, or arrow keys once it has the
// focus) reads a point; the numbers are also there as a table.
import { element, framedTable } from "../base/dom.js";
import { svg } from "./svg.js";

export function tableOf(label, columns, rows) {
  const head = element("thead", {}, element("tr", {}, columns.map((name) => element("th", { scope: "col" }, name))));
  const line = ([first, ...cells]) => element("tr", {}, element("th", { scope: "row" }, first), cells.map((cell) => element("td", {}, cell)));
  return framedTable(label, head, element("tbody", {}, rows.map(line)));
}

// Puts new children in place of the old ones. Tables keep their scroll position and the focus.
export function refill(node, ...children) {
  const frames = () => [...node.querySelectorAll(".table-frame")];
  const before = frames().map((frame) => [frame.scrollLeft, frame.scrollTop, frame === document.activeElement]);
  node.replaceChildren(...children);
  frames().forEach((frame, i) => {
    if (!before[i]) return;
    [frame.scrollLeft, frame.scrollTop] = before[i];
    if (before[i][2]) frame.focus({ preventScroll: true });
  });
}

// draw(width) gives {height, summary, parts, stops, columns, rows}: stops are [{x, text}], places of the cursor.
export function liveFigure(id, title, note) {
  const drawing = svg("svg", { role: "img", tabindex: "0", class: "drawing" });
  const output = element("output", { class: "readout" });
  const tableBody = element("div", {});
  const table = element("details", { class: "numbers" }, element("summary", {}, "Numbers"), tableBody);
  const explanation = element("p", {}, note);
  const legend = element("div", { class: "legend" });
  const node = element("figure", { id }, element("figcaption", {}, element("h3", {}, title), explanation), legend, drawing, output, table);
  let draw = null, model = null, stop = null, width = 0;

  const showStop = () => {
    drawing.querySelector(".cursor")?.remove();
    const at = stop === null ? null : model.stops[Math.min(stop, model.stops.length - 1)];
    output.textContent = at ? at.text : "";
    if (at) drawing.append(svg("line", { class: "cursor", x1: at.x, x2: at.x, y1: model.top, y2: model.bottom }));
  };
  const fillTable = () => refill(tableBody, ...(table.open ? [tableOf(title, model.columns, model.rows)] : []));
  const redraw = () => {
    if (!draw || !node.clientWidth) return;
    width = node.clientWidth;
    model = draw(width);
    drawing.setAttribute("viewBox", `0 0 ${width} ${model.height}`);
    drawing.setAttribute("height", model.height);
    drawing.setAttribute("aria-label", `${title}. ${model.summary}`);
    drawing.replaceChildren(...model.parts);
    showStop();
    fillTable();
  };
  const move = (to) => {
    if (!model?.stops.length) return;
    stop = Math.max(0, Math.min(model.stops.length - 1, to));
    showStop();
  };
  drawing.addEventListener("pointermove", (event) => {
    if (!model?.stops.length) return;
    const x = event.clientX - drawing.getBoundingClientRect().left;
    const distance = (one) => Math.abs(one.x - x);
    move(model.stops.reduce((best, one, i) => (distance(one) < distance(model.stops[best]) ? i : best), 0));
  });
  const leave = () => ((stop = null), model && showStop());
  drawing.addEventListener("pointerleave", leave);
  drawing.addEventListener("blur", leave);
  drawing.addEventListener("keydown", (event) => {
    const last = (model?.stops.length ?? 0) - 1;
    const steps = { ArrowLeft: (stop ?? last + 1) - 1, ArrowRight: (stop ?? last - 1) + 1, Home: 0, End: last };
    if (!(event.key in steps)) return;
    event.preventDefault();
    move(steps[event.key]);
  });
  table.addEventListener("toggle", () => model && fillTable());
  new ResizeObserver(() => node.clientWidth !== width && redraw()).observe(node);
  return { node, legend, explanation, update: (how) => ((draw = how), redraw()) };
}
