import { SERIES_COLOURS, colour } from "./theme.js";

// Eight colours times four dashes keep up to 32 agents apart.
const DASHES = [[1, 0], [7, 3], [2, 2.5], [9, 3, 2, 3]];

const colourName = (index) => `series-${index % SERIES_COLOURS}`;
const dash = (index) => DASHES[Math.floor(index / SERIES_COLOURS) % DASHES.length];

export const colourScale = (agents) => ({ domain: agents, range: agents.map((_, i) => colour(colourName(i))) });
export const dashScale = (agents) => ({ domain: agents, range: agents.map((_, i) => dash(i)) });

export function swatch(index) {
  const line = `<line x1="1" x2="25" y1="5" y2="5" stroke="var(--${colourName(index)})" stroke-width="2.5" stroke-dasharray="${dash(index).join(" ")}"/>`;
  return `<svg class="swatch" viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">${line}</svg>`;
}
