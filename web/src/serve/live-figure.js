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

// Calls move(place) with a place among stops(), or null, as the pointer or the keys say.
function followCursor(drawing, stops, move) {
  let stop = null;
  const go = (to) => {
    const last = stops().length - 1;
    stop = to === null || last < 0 ? null : Math.max(0, Math.min(last, to));
    move(stop);
  };
  drawing.addEventListener("pointermove", (event) => {
    const x = event.clientX - drawing.getBoundingClientRect().left;
    const distances = stops().map((one) => Math.abs(one.x - x));
    go(distances.indexOf(Math.min(...distances)));
  });
  drawing.addEventListener("pointerleave", () => go(null));
  drawing.addEventListener("blur", () => go(null));
  drawing.addEventListener("keydown", (event) => {
    const last = stops().length - 1;
    const steps = { ArrowLeft: (stop ?? last + 1) - 1, ArrowRight: (stop ?? last - 1) + 1, Home: 0, End: last };
    if (!(event.key in steps)) return;
    event.preventDefault();
    go(steps[event.key]);
  });
}

// draw(width) gives {height, summary, parts, top, bottom, stops, columns, rows}: stops are [{x, text}], places of the
// cursor.
export function liveFigure(id, title, note) {
  const drawing = svg("svg", { role: "img", tabindex: "0", class: "drawing" });
  const output = element("output", { class: "readout" }), tableBody = element("div", {});
  const table = element("details", { class: "numbers" }, element("summary", {}, "Numbers"), tableBody);
  const explanation = element("p", {}, note), legend = element("div", { class: "legend" });
  const node = element("figure", { id }, element("figcaption", {}, element("h3", {}, title), explanation), legend, drawing, output, table);
  let draw = null, model = { stops: [], columns: [], rows: [] }, stop = null, width = 0;

  const showStop = () => {
    drawing.querySelector(".cursor")?.remove();
    const at = stop === null ? undefined : model.stops[Math.min(stop, model.stops.length - 1)];
    output.textContent = at?.text ?? "";
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
  followCursor(drawing, () => model.stops, (to) => ((stop = to), showStop()));
  table.addEventListener("toggle", fillTable);
  new ResizeObserver(() => node.clientWidth !== width && redraw()).observe(node);
  return { node, legend, explanation, update: (how) => ((draw = how), redraw()) };
}
