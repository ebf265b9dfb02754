import assert from "node:assert/strict";
import { test } from "node:test";
import { logTicks } from "../src/charts/log-ticks.js";
import { example, settles, withData } from "./browser.mjs";

test("the ticks of a log axis are powers of ten, digits, or equal steps, as the range has room", () => {
  assert.deepEqual(logTicks(0.9, 1200), [1, 10, 100, 1000]);
  assert.deepEqual(logTicks(1.1, 60), [2, 5, 10, 20, 50]);
  assert.deepEqual(logTicks(0.25, 0.95), [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
  assert.deepEqual(logTicks(93, 97), [93, 94, 95, 96, 97]);
  assert.deepEqual(logTicks(52, 58), [52, 54, 56, 58]);
  assert.deepEqual(logTicks(0.0521, 0.0525), [0.0521, 0.0522, 0.0523, 0.0524, 0.0525]);
  assert.deepEqual(logTicks(42, 42), [42]);
});

// Ranges at every ratio from 1.0001 to 10^4, starting anywhere in a decade.
test("a log axis has from two to a dozen ticks, inside its range and in order", () => {
  for (let start = 1; start < 10; start *= 1.013) {
    for (let ratio = 1.0001; ratio < 1e4; ratio = 1 + (ratio - 1) * 1.17) {
      const [low, high] = [start * 1e-2, start * 1e-2 * ratio];
      const ticks = logTicks(low, high);
      assert.ok(ticks.length >= 2 && ticks.length <= 12, `${ticks.length} ticks from ${low} to ${high}`);
      if (ratio < 5) assert.ok(ticks.length >= 3, `${ticks.length} ticks from ${low} to ${high}`);
      assert.ok(ticks.every((tick, i) => tick >= low * (1 - 1e-12) && tick <= high * (1 + 1e-12) && (i === 0 || tick > ticks[i - 1])), `${ticks} from ${low} to ${high}`);
    }
  }
});

// Of three agents two are close; the axis of what is left must still have numbers when the third is hidden.
test("regret against cost has numbers on its axis, however near agents are", async () => {
  const data = await example("run");
  const regret = { "pi-ts": 96.1, uniform: 5, "lin-ts": 94.2 };
  const summary = Object.entries(regret).map(([agent, mean], i) => ({ agent, env: "wheel", normalized_regret: { mean, std: 1, se: 0.5, median: mean }, regret: { mean, std: 1, se: 0.5 }, seconds: 1 + i }));
  await withData({ ...data, agents: Object.keys(regret), environments: ["wheel"], summary, curves: [], finals: [], pulls: [] }, {}, async (page) => {
    const labels = async () => (await page.locator('figure[data-figure="pits-wheel-cost"] .role-axis-label').last().locator("text").allTextContents()).join(" ");
    assert.equal(await labels(), "5 10 20 50 100");
    await page.locator("#regret button.agent").nth(1).click();
    await settles(labels, "94 95 96");
  });
});
