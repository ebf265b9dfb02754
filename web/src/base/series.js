import { RAMP_COLOURS, SERIES_COLOURS, colour } from "./theme.js";

// Ten colours times four dashes keep up to 40 agents apart.
const DASHES = [[1, 0], [7, 3], [2, 2.5], [9, 3, 2, 3]];

// agent -> { name of its colour, dash }, one for the whole page
const styles = new Map();
let ordered = 0;

export function orderSeries(agents) {
  for (const agent of agents.filter((name) => !styles.has(name))) {
    styles.set(agent, { name: `series-${ordered % SERIES_COLOURS}`, dash: DASHES[Math.floor(ordered / SERIES_COLOURS) % DASHES.length] });
    ordered += 1;
  }
}

// Agents that differ by one number take the steps of a sequential scale.
export function rampSeries(agents) {
  const step = (RAMP_COLOURS - 1) / Math.max(1, agents.length - 1);
  agents.forEach((agent, i) => styles.has(agent) || styles.set(agent, { name: `ramp-${Math.round(i * step)}`, dash: DASHES[0] }));
}

export const colourScale = (agents) => ({ domain: agents, range: agents.map((agent) => colour(styles.get(agent).name)) });
export const dashScale = (agents) => ({ domain: agents, range: agents.map((agent) => styles.get(agent).dash) });

export function swatch(agent) {
  const { name, dash } = styles.get(agent);
  const line = `<line x1="1" x2="25" y1="5" y2="5" stroke="var(--${name})" stroke-width="2.5" stroke-dasharray="${dash.join(" ")}"/>`;
  return `<svg class="swatch" viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">${line}</svg>`;
}
