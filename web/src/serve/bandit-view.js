// One bandit: what it does, earns and knows.
import { element } from "../base/dom.js";
import { counted, fixed, integer, isNumber, significant } from "../base/format.js";
import { decideFirst, rewardFirst } from "./commands.js";
import { liveFigure, refill } from "./live-figure.js";
import { drawnActions, ratePoints, rewardPoints, shareSpans } from "./series.js";
import { rateDrawing, rewardDrawing, shareDrawing } from "./time-charts.js";
import { calibrationTable, modelTables, propensityTable, valuesTable } from "./tables.js";

export const tile = (name, value, more) => element("div", { class: "tile" }, element("dt", {}, name), element("dd", {}, value, more ? element("small", {}, more) : null));

function section(id, title, note) {
  const body = element("div", { class: "body" });
  const about = note ? element("p", { class: "about" }, note) : null;
  return { node: element("section", { id }, element("h3", {}, title), about, body), body };
}

function tiles(state, statistics) {
  const { last_10_s: now, last_60_s: minute } = statistics.rates;
  const rate = (of) => [`${significant(now[of])}/s`, `${significant(minute[of])}/s in the last minute`];
  const { logged, rounds } = statistics.values;
  const lag = Math.max(0, state.events.committed - state.events.learned);
  const list = [
    tile("decisions", ...rate("decisions")),
    tile("rewards", ...rate("rewards")),
    tile("reward per decision", rounds ? significant(logged.ips) : "–", rounds > 1 ? `± ${significant(1.96 * logged.error, 2)}, ${counted(rounds, "decision")}` : "none final yet"),
    tile("rewards awaited", integer(statistics.waiting), `of ${counted(statistics.decisions, "decision")}`),
    tile("learner lag", integer(lag), lag ? `events of ${integer(state.events.committed)}` : "all events are learned"),
    tile("training", state.training ? "running" : "idle", `${integer(state.trainings ?? 0)} adopted since the start`),
  ];
  const rare = [["unlogged", "decisions not logged", "overload or a failing disk"], ["restored", "restored by token", "records lost in a crash"], ["refused", "outcomes refused", "the agent could not learn them"], ["queued", "waiting for the disk", "decisions"]];
  for (const [field, name, more] of rare) if (state[field] > 0) list.push(tile(name, integer(state[field]), more));
  return list;
}

const legendItem = (kind, name, more) => element("span", { class: "item" }, element("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), name, more ? element("small", {}, more) : null);

function spanOf(series, now) {
  const length = Math.max(now - series.start, series.seconds);
  return { start: now - length, end: now };
}

export function banditView() {
  const title = element("h2", {}), agent = element("p", { class: "agent" }), facts = element("dl", { class: "tiles" });
  const next = element("div", {});
  const reward = liveFigure("reward", "Reward per decision", "");
  const shares = liveFigure("shares", "Share of each action", "Of the decisions made in each span of time.");
  const rates = liveFigure("rates", "Decisions and rewards per second", "");
  const values = section("values", "What other policies would have earned", "Estimated from this bandit’s own decisions, each weighed by how much more or less likely the policy was to take that action. The vertical line is what this bandit earned.");
  const propensities = section("propensities", "Propensities of the actions taken", "How likely each action was when it was taken.");
  const calibration = section("calibration", "Are the propensities true?", "Among all actions that had a propensity in this range: how often they should be taken, and how often they were. This checks the logged propensities, on which the estimates above stand. It does not check predictions of rewards.");
  const models = section("models", "Versions of the model", "");
  const settings = element("details", { class: "settings" }, element("summary", {}, "Settings"));
  let range = "all", show = () => {};
  const choice = (value, text) => {
    const input = element("input", { type: "radio", name: "range", value, onchange: () => ((range = value), show()) });
    input.checked = value === range;
    return element("label", {}, input, text);
  };
  const span = element("fieldset", { class: "switch" }, element("legend", {}, "Time"), choice("all", "all"), choice("recent", "last hour"), element("span", { class: "hint" }, "Point at a picture, or use the arrow keys on it, to read a value."));
  const drawings = element("div", { class: "figures" }, reward.node, shares.node, rates.node);
  const rest = element("div", { class: "sections" }, values.node, propensities.node, calibration.node, models.node);
  const node = element("article", {}, title, agent, facts, next, span, drawings, rest, settings);

  const drawTime = (state, statistics) => {
    const series = statistics.series[range], now = statistics.utc, time = spanOf(series, now);
    const wait = Number(state.config?.default_reward ?? 0);
    reward.explanation.textContent = statistics.window
      ? `Mean over the decisions of each time, with its 95 % band. Dashed: some of them still wait for their reward, and count with the default, ${wait}, until it comes or their window closes.`
      : "Mean of the outcomes that came, by the time of their decision, with its 95 % band. This bandit has no window: decisions without a reward do not count.";
    reward.update(rewardDrawing(rewardPoints(series, now, statistics.window ? series.waiting : null, wait), time));
    const lines = [{ name: "decisions", points: ratePoints(series, series.decisions, now) }, { name: "rewards", points: ratePoints(series, series.rewards, now), dashed: true }];
    rates.legend.replaceChildren(legendItem("line-swatch series-0", "decisions"), legendItem("line-swatch dashed series-1", "rewards"));
    rates.update(rateDrawing(lines, time));
    const actions = drawnActions(series, state.actions);
    shares.node.hidden = actions.length === 0;
    const total = actions.reduce((sum, one) => sum + one.decisions, 0);
    shares.legend.replaceChildren(...actions.map((one, i) => legendItem(`series-${i}`, one.name, `${fixed((100 * one.decisions) / total, 1)} %`)));
    shares.update(shareDrawing(shareSpans(series, now), actions, time));
  };
  const showSettings = (state) => {
    if (settings.querySelector("dl")) settings.querySelector("dl").remove();
    const pairs = [["agent", state.agent], ["context size", state.context_size], ["engine", state.engine], ["created", state.created], ...Object.entries(state.config ?? {})];
    const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
    settings.append(element("dl", { class: "list" }, known.map(([name, value]) => element("div", {}, element("dt", {}, name.replaceAll("_", " ")), element("dd", {}, typeof value === "string" ? value : JSON.stringify(value))))));
  };
  const update = (state, statistics) => {
    title.textContent = state.name;
    agent.textContent = state.actions.length ? `${state.agent} · ${counted(state.actions.filter((one) => !one.retired).length, "action")}` : `${state.agent} · candidates come with each decision`;
    facts.replaceChildren(...tiles(state, statistics));
    const started = statistics.decisions > 0;
    const outcomes = statistics.settled.reward + statistics.settled.expired > 0;
    const hint = !started ? decideFirst(state) : !outcomes && statistics.rewards === 0 ? rewardFirst(state, 1) : null;
    if (hint?.textContent !== next.textContent) next.replaceChildren(...(hint ? [hint] : []));
    for (const part of [span, drawings, rest]) part.hidden = !started;
    showSettings(state);
    if (!started) return;
    show = () => drawTime(state, statistics);
    show();
    refill(values.body, ...(isNumber(statistics.values.logged.ips) ? valuesTable(statistics, state.actions) : [element("p", { class: "note" }, "Nothing to judge by yet: it begins with the first outcome of a decision that was left to chance.")]));
    refill(propensities.body, ...propensityTable(statistics.propensities));
    refill(calibration.body, ...calibrationTable(statistics.calibration));
    refill(models.body, ...modelTables(statistics.models, statistics.utc));
  };
  return { node, update };
}
