// The agents hidden from the figures, one set for the whole page.
const hidden = new Set();
const listeners = [];

const announce = () => listeners.forEach((listener) => listener());

export const hiddenAgents = () => [...hidden];
export const isHidden = (agent) => hidden.has(agent);
export const onVisibilityChange = (listener) => listeners.push(listener);

export function toggleAgent(agent) {
  if (!hidden.delete(agent)) hidden.add(agent);
  announce();
}

export function showAllAgents() {
  hidden.clear();
  announce();
}

// What a figure's specification needs to follow the set.
export const hiddenParameter = () => ({ name: "hidden", value: hiddenAgents() });
export const visibleOnly = { filter: "indexof(hidden, datum.agent) < 0" };
