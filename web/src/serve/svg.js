// Elements and axes of drawings. Colours and strokes are classes of page.css: the page allows no style attributes.

export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) node.setAttribute(name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// Round numbers that cover low..high.
export function ticks(low, high, count = 4) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000];

export function timeTicks(start, end, count) {
  const step = STEPS.find((one) => (end - start) / one <= count) ?? STEPS.at(-1);
  const found = [];
  for (let t = Math.ceil(start / step) * step; t <= end; t += step) found.push(t);
  return { step, times: found };
}

const two = (value) => String(value).padStart(2, "0");
export const day = (time) => new Date(time * 1000).toISOString().slice(0, 10);
export function clock(time, withSeconds = true) {
  const date = new Date(time * 1000);
  const text = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
  return withSeconds ? `${text}:${two(date.getUTCSeconds())}` : text;
}
export const tickLabel = (time, step) => (step >= 86400 ? day(time).slice(5) : clock(time, step < 60));

export const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);
