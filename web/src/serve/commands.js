// What to do next, as a line for a shell.
import { element } from "../base/dom.js";
import { copyButton, selectText } from "../base/clipboard.js";
import { hasKey } from "./api.js";

const quoted = (value) => `'${JSON.stringify(value).replaceAll("'", "'\\''")}'`;

function curl(method, path, body) {
  const key = hasKey() ? " -H \"Authorization: Bearer $PITS_KEY\"" : "";
  return `curl${method === "POST" ? "" : ` -X ${method}`}${key} ${new URL(path, location.href)} -d ${quoted(body)}`;
}

function command(text) {
  const code = element("code", {}, text);
  return element("div", { class: "command" }, element("pre", { tabindex: "0" }, code), copyButton("Copy", () => text, () => selectText(code)));
}

const emptyState = (title, text, line) => element("section", { class: "empty" }, element("h2", {}, title), element("p", {}, text), command(line));

export const createFirst = () =>
  emptyState("There is no bandit yet", "Create one: a name, the size of its contexts, and the actions to choose from. This page shows it a moment later.",
    curl("PUT", "v1/bandits/shop", { context_size: 2, actions: ["tea", "milk"], reward_range: [0, 1] }));

// A context that the bandit takes: zeros and first levels.
const examples = {
  number: () => 0,
  boolean: () => false,
  category: ({ levels }) => levels?.[0] ?? "a",
  time_of_day: () => "2027-01-31T12:00:00Z",
  time_of_week: () => "2027-01-31T12:00:00Z",
};
function context({ schema, context_size: size }) {
  if (!schema) return Array(size ?? 0).fill(0);
  return Object.fromEntries(schema.features.map((feature) => [feature.name, examples[feature.kind](feature)]));
}

export const decideFirst = (state) =>
  emptyState("No decision has been made yet", "Ask for one, with the context of a person or a situation. The answer has the action to take and an id.",
    curl("POST", `v1/bandits/${encodeURIComponent(state.name)}/decide`, { context: context(state) }));

export const rewardFirst = (state, id) =>
  emptyState("No reward has come yet", "Tell the bandit how a decision turned out, by the decision's id. It learns from that, and the pictures of rewards begin.",
    curl("POST", `v1/bandits/${encodeURIComponent(state.name)}/rewards`, { id, value: 1 }));
