// Drawings over time: lines with bands, and shares that fill the height.
import { counted, fixed, integer, significant } from "../base/format.js";
import { clock, day, scale, svg, tickLabel, ticks, timeTicks } from "./svg.js";

const TOP = 10, BOTTOM = 26;
const percent = (share) => `${fixed(100 * share, 1)} %`;
const moment = (time, length) => (length > 86400 ? `${day(time)} ${clock(time, false)}` : clock(time));

function frame(width, height, { start, end }, low, high, format, right = 10) {
  const marks = ticks(low, high);
  const left = 14 + 7 * Math.max(...marks.map((mark) => format(mark).length));
  const x = scale(start, end, left, width - right), y = scale(low, high, height - BOTTOM, TOP);
  const { step, times } = timeTicks(start, end, Math.max(2, Math.floor((width - left) / 84)));
  const parts = [
    ...marks.flatMap((mark) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y(mark), y2: y(mark) }),
      svg("text", { class: "tick", x: left - 7, y: y(mark) + 4, "text-anchor": "end" }, format(mark)),
    ]),
    ...times.map((time) => svg("text", { class: "tick", x: Math.max(left + 14, Math.min(width - right - 22, x(time))), y: height - 8, "text-anchor": "middle" }, tickLabel(time, step))),
  ];
  return { x, y, parts, top: TOP, bottom: height - BOTTOM, left };
}

const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

const heightFor = (width) => (width < 480 ? 190 : 230);

// Reward per decision: points of rewardPoints(). What is not final is dashed, with open dots.
export function rewardDrawing(points, time) {
  return (width) => {
    const height = heightFor(width);
    const low = Math.min(0, ...points.map((p) => p.value - (p.half ?? 0)));
    const high = Math.max(...points.map((p) => p.value + (p.half ?? 0)), low + 1e-9);
    const { x, y, parts, top, bottom } = frame(width, height, time, low, high * 1.05, (v) => significant(v, 3));
    const place = (p) => [x(p.time), y(p.value)];
    const band = points.filter((p) => p.half !== null);
    const edge = (sign) => band.map((p) => [x(p.time), y(p.value + sign * p.half)]);
    if (band.length > 1) parts.push(svg("path", { class: "band", d: `${path([...edge(1), ...edge(-1).reverse()])}Z` }));
    else parts.push(...band.map((p) => svg("line", { class: "whisker", x1: x(p.time), x2: x(p.time), y1: y(p.value - p.half), y2: y(p.value + p.half) })));
    const settled = points.filter((p) => !p.settling);
    const moving = points.filter((p, i) => p.settling || points[i + 1]?.settling);
    if (settled.length > 1) parts.push(svg("path", { class: "line series-0", d: path(settled.map(place)) }));
    if (moving.length > 1) parts.push(svg("path", { class: "line dashed series-0", d: path(moving.map(place)) }));
    if (points.length <= 30) {
      parts.push(...points.map((p) => svg("circle", { class: p.settling ? "dot open" : "dot", cx: x(p.time), cy: y(p.value), r: 3 })));
    }
    const interval = (p) => (p.half === null ? "" : `${significant(p.value - p.half)} to ${significant(p.value + p.half)}`);
    const late = (p) => (p.awaited ? `, ${integer(p.awaited)} still awaited` : "");
    const text = (p) => `${moment(p.time, time.end - time.start)}: ${significant(p.value)}${p.half === null ? "" : ` (${interval(p)})`}, ${counted(p.outcomes, "outcome")}${late(p)}`;
    return {
      height, parts, top, bottom,
      summary: points.length ? `Latest: ${text(points.at(-1))}.` : "No outcomes yet.",
      stops: points.map((p) => ({ x: x(p.time), text: text(p) })),
      columns: ["time (UTC)", "reward per decision", "95 % band", "outcomes", "awaited"],
      rows: points.map((p) => [moment(p.time, time.end - time.start), significant(p.value), interval(p), integer(p.outcomes), integer(p.awaited)]),
    };
  };
}

// Lines from 0: [{name, points, dashed}], all with the same times.
export function rateDrawing(lines, time) {
  return (width) => {
    const height = heightFor(width);
    const high = Math.max(...lines.flatMap(({ points }) => points.map((p) => p.value)), 1e-9);
    const { x, y, parts, top, bottom } = frame(width, height, time, 0, high * 1.05, (v) => significant(v, 3));
    lines.forEach(({ points, dashed }, i) => parts.push(svg("path", { class: `line series-${i}${dashed ? " dashed" : ""}`, d: path(points.map((p) => [x(p.time), y(p.value)])) })));
    const at = (i) => lines.map(({ name, points }) => `${significant(points[i].value)} ${name}`).join(", ");
    const first = lines[0].points;
    return {
      height, parts, top, bottom,
      summary: first.length ? `Latest: ${at(first.length - 1)} per second.` : "",
      stops: first.map((p, i) => ({ x: x(p.time), text: `${moment(p.time, time.end - time.start)}: ${at(i)} per second` })),
      columns: ["time (UTC)", ...lines.map(({ name }) => `${name} per second`)],
      rows: first.map((p, i) => [moment(p.time, time.end - time.start), ...lines.map(({ points }) => significant(points[i].value))]),
    };
  };
}

// Shares of actions, stacked: spans of shareSpans(), actions of drawnActions().
export function shareDrawing(spans, actions, time) {
  return (width) => {
    const height = heightFor(width) + 20, right = width < 480 ? 10 : 130;
    const { x, y, parts, top, bottom } = frame(width, height, time, 0, 1, (v) => `${100 * v} %`, right);
    const of = (action, one) => action.places.reduce((total, place) => total + one.shares[place], 0);
    const floors = spans.map(() => 0);
    actions.forEach((action, i) => {
      let area = "", edge = "";
      spans.forEach((one, k) => {
        const share = of(action, one);
        const [x0, x1, y0, y1] = [x(one.start), Math.max(x(one.end), x(one.start) + 1), y(floors[k]), y(floors[k] + share)].map((v) => v.toFixed(1));
        if (share > 0) area += `M${x0} ${y0}V${y1}H${x1}V${y0}Z`;
        edge += `M${x0} ${y1}H${x1}`;
        floors[k] += share;
      });
      parts.push(svg("path", { class: `area series-${i}`, d: area }), svg("path", { class: "edge", d: edge }));
      const last = spans.at(-1), share = last ? of(action, last) : 0;
      if (right > 10 && share * (bottom - top) > 15) {
        const name = action.name.length > 17 ? `${action.name.slice(0, 16)}…` : action.name;
        parts.push(svg("text", { class: "beside", x: width - right + 8, y: y(floors.at(-1) - share / 2) + 4 }, name));
      }
    });
    const text = (one) => `${moment(one.start, time.end - time.start)}: ${actions.map((action) => `${action.name} ${percent(of(action, one))}`).join(", ")}`;
    return {
      height, parts, top, bottom,
      summary: spans.length ? `Latest: ${text(spans.at(-1))}.` : "",
      stops: spans.map((one) => ({ x: (x(one.start) + x(one.end)) / 2, text: text(one) })),
      columns: ["from (UTC)", ...actions.map(({ name }) => name), "decisions"],
      rows: spans.map((one) => [moment(one.start, time.end - time.start), ...actions.map((action) => percent(of(action, one))), integer(one.decisions)]),
    };
  };
}
