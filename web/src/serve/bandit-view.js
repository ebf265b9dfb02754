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

function timeSwitch(onChange) {
  const choice = (value, text, checked) => {
    const input = element("input", { type: "radio", name: "range", value, onchange: () => onChange(value) });
    input.checked = checked;
    return element("label", {}, input, text);
  };
  const hint = element("span", { class: "hint" }, "Point at a picture, or use the arrow keys on it, to read a value.");
  return element("fieldset", { class: "switch" }, element("legend", {}, "Time"), choice("all", "all", true), choice("recent", "last hour", false), hint);
}

const sections = () => ({
  values: section("values", "What other policies would have earned", "Estimated from this bandit’s own decisions, each weighed by how much more or less likely the policy was to take that action. The vertical line is what this bandit earned."),
  propensities: section("propensities", "Propensities of the actions taken", "How likely each action was when it was taken."),
  calibration: section("calibration", "Are the propensities true?", "Among all actions that had a propensity in this range: how often they should be taken, and how often they were. This checks the logged propensities, on which the estimates above stand. It does not check predictions of rewards."),
  models: section("models", "Versions of the model", ""),
});

function fillSections({ values, propensities, calibration, models }, state, statistics) {
  const nothing = element("p", { class: "note" }, "Nothing to judge by yet: it begins with the first outcome of a decision that was left to chance.");
  refill(values.body, ...(isNumber(statistics.values.logged.ips) ? valuesTable(statistics, state.actions) : [nothing]));
  refill(propensities.body, ...propensityTable(statistics.propensities));
  refill(calibration.body, ...calibrationTable(statistics.calibration));
  refill(models.body, ...modelTables(statistics.models, statistics.utc));
}

function rewardNote(window, standIn) {
  return window
    ? `Mean over the decisions of each time, with its 95 % band. Dashed: some of them still wait for their reward, and count with the default, ${standIn}, until it comes or their window closes.`
    : "Mean of the outcomes that came, by the time of their decision, with its 95 % band. This bandit has no window: decisions without a reward do not count.";
}

function drawFigures({ reward, shares, rates }, series, state, { utc: now, window }) {
  const time = spanOf(series, now), standIn = Number(state.config?.default_reward ?? 0);
  reward.explanation.textContent = rewardNote(window, standIn);
  reward.update(rewardDrawing(rewardPoints(series, now, window ? series.waiting : null, standIn), time));
  const lines = [{ name: "decisions", points: ratePoints(series, series.decisions, now) }, { name: "rewards", points: ratePoints(series, series.rewards, now), dashed: true }];
  rates.legend.replaceChildren(legendItem("line-swatch series-0", "decisions"), legendItem("line-swatch dashed series-1", "rewards"));
  rates.update(rateDrawing(lines, time));
  const actions = drawnActions(series, state.actions);
  const total = actions.reduce((sum, one) => sum + one.decisions, 0);
  shares.node.hidden = actions.length === 0;
  shares.legend.replaceChildren(...actions.map((one, i) => legendItem(`series-${i}`, one.name, `${fixed((100 * one.decisions) / total, 1)} %`)));
  shares.update(shareDrawing(shareSpans(series, now), actions, time));
}

function settingsList(state) {
  const pairs = [["agent", state.agent], ["context size", state.context_size], ["engine", state.engine], ...Object.entries(state.config ?? {})];
  const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  const words = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  return element("dl", { class: "list" }, known.map(([name, value]) => element("div", {}, element("dt", {}, name.replaceAll("_", " ")), element("dd", {}, words(value)))));
}

// What the numbers leave out.
function partsLeftOut({ from, one_in: oneIn }) {
  const texts = [];
  if (from > 1) texts.push(`Counts and pictures are of the log from event ${integer(from)} on: older events are not read when the service starts.`);
  if (oneIn > 1) texts.push(`Very many decisions wait: rewards per decision are those of a sample, one decision in ${integer(oneIn)}.`);
  return texts.join(" ");
}

function nextStep(state, { decisions, rewards, settled }) {
  if (decisions === 0) return decideFirst(state);
  return rewards === 0 && settled.reward + settled.expired === 0 ? rewardFirst(state, 1) : null;
}

export function banditView() {
  const title = element("h2", {}), agent = element("p", { class: "agent" }), facts = element("dl", { class: "tiles" });
  const leftOut = element("p", { class: "note" }), next = element("div", {}), settings = element("div", {});
  const figures = {
    reward: liveFigure("reward", "Reward per decision", ""),
    shares: liveFigure("shares", "Share of each action", "Of the decisions made in each span of time."),
    rates: liveFigure("rates", "Decisions and rewards per second", ""),
  };
  const parts = sections();
  let range = "all", draw = () => {};
  const started = [
    timeSwitch((value) => ((range = value), draw())),
    element("div", { class: "figures" }, Object.values(figures).map((one) => one.node)),
    element("div", { class: "sections" }, Object.values(parts).map((one) => one.node)),
  ];
  const details = element("details", { class: "settings" }, element("summary", {}, "Settings"), settings);
  const node = element("article", {}, title, agent, facts, leftOut, next, started, details);
  const update = (state, statistics) => {
    const actions = state.actions.filter((one) => !one.retired).length;
    title.textContent = state.name;
    agent.textContent = `${state.agent.split(",")[0]} · ${state.actions.length ? counted(actions, "action") : "candidates come with each decision"}`;
    facts.replaceChildren(...tiles(state, statistics));
    leftOut.textContent = partsLeftOut(statistics);
    const hint = nextStep(state, statistics);
    if ((hint?.textContent ?? "") !== next.textContent) next.replaceChildren(...(hint ? [hint] : []));
    settings.replaceChildren(settingsList(state));
    for (const part of started) part.hidden = statistics.decisions === 0;
    draw = () => drawFigures(figures, statistics.series[range], state, statistics);
    if (statistics.decisions === 0) return;
    draw();
    fillSections(parts, state, statistics);
  };
  return { node, update };
}
