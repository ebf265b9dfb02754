// The sentence that a page opens with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { headline, reached, verdict } from "../src/pages/findings.js";
import { example, withPage } from "./browser.mjs";

const named = (agent) => agent;
const cell = (agent, mean, se, values) => ({ agent, mean, se, values });

test("differences are paired where realizations are known", () => {
  // Realizations differ much more from each other than agents do: 2 ± 0.5 paired (deviations ±0.5·√2), 2 ± 14 unpaired.
  const best = cell("a", 20, 10, [10, 30]);
  const next = cell("b", 22, 10, [11.5, 32.5]);
  assert.equal(headline([[next, best]], named), "a has the lowest mean normalised regret, 20.0 ± 10.0; b comes next, 2.0 ± 0.5 higher.");
  const unpaired = headline([[cell("a", 20, 10), cell("b", 22, 10)]], named);
  assert.equal(unpaired, "a has the lowest mean normalised regret, 20.0 ± 10.0; b comes next, 2.0 ± 14.1 higher. That is less than two standard errors: chance may explain it.");
});

test("many problems are counted, with those that are clear", () => {
  const clear = [cell("a", 10, 1), cell("b", 20, 1)];
  const unclear = [cell("a", 10, 1), cell("b", 9, 1)];
  assert.equal(
    headline([clear, clear, unclear], named),
    "a has the lowest mean normalised regret in 2 of 3 problems, b in 1. The best is more than two standard errors ahead of the next in 2 of 3.",
  );
});

test("one realization says nothing of chance, and one agent has nobody to lead", () => {
  assert.match(headline([[cell("a", 1, null, [1]), cell("b", 2, null, [2])]], named), /1\.00; b comes next, 1\.00 higher\. One realization does not say/);
  assert.match(headline([[cell("a", 1, 0, [1]), cell("b", 2, 0, [2])], [cell("a", 1, 0), cell("b", 3, 0)]], named), /in 2 of 2 problems\. One realization/);
  assert.equal(headline([[cell("a", 1, 1)], []], named), null);
});

test("a run page opens with it", () =>
  withPage("run", { drawings: false }, async (page) => {
    const { summary, environments } = await example("run");
    const best = environments.map((env) => summary.filter((s) => s.env === env).reduce((a, b) => (b.normalized_regret.mean < a.normalized_regret.mean ? b : a)).agent);
    const text = await page.locator("header > p").first().textContent();
    for (const agent of best) assert.ok(text.includes(agent), text);
    assert.match(text, /in \d of 2\.$/);
  }));

test("an evaluation says whether a policy would have earned more, and where nobody can tell", async () => {
  const one = (policy, value, low, high) => ({ policy, value, apart: [low, high] });
  const unsure = one("b", 0.9, -0.1, 0.6);
  assert.equal(verdict([one("a", 0.7, 0.1, 0.3), unsure], "logged"), "a would have earned more than what was logged: the interval of the difference, 0.1000 to 0.3000 per decision, excludes 0.");
  assert.equal(verdict([unsure, one("c", 0.2, -0.5, -0.1)], "logged"), "No policy is found to earn more than what was logged: of the best, b, the interval of the difference, −0.1000 to 0.6000 per decision, contains 0.");
  assert.match(verdict([one("c", 0.2, -0.5, -0.1)], "b"), /^No policy is found to earn more than b; c, the best, would have earned less: .* excludes 0\.$/);
  assert.equal(verdict([{ policy: "a", value: 1 }, one("b", 1, 0.5, 1)], "b"), null);
  await withPage("evaluate", { drawings: false }, async (page) => assert.match(await page.locator("header .finding").textContent(), /^agent:pi-ts:fast would have earned more than what was logged: .* 0\.0653 to 0\.2386/));
});

test("particles: how far from the density, at the end, at the start, and beside exact samples", () => {
  const metrics = [{ iteration: 0, w2: 4, ksd: 9 }, { iteration: 50, w2: 0.3, ksd: 8 }, { iteration: 1000, w2: 0.25, ksd: 0.5 }];
  const told = (more) => reached({ flow: "svgd", target: "ring", metrics, ...more });
  const line = "After 1,000 iterations of svgd the Wasserstein distance to ring is 0.250; it was 4.000 at the start.";
  assert.equal(told({ floor: { w2: 0.1 } }), `${line} As many exact samples have 0.100 on average: the particles are 2.5 times as far.`);
  assert.equal(told({ floor: { w2: 0.3 } }), `${line} As many exact samples have 0.300 on average: the particles are as near as these.`);
  assert.equal(told({}), line);
  assert.equal(told({ floor: { w2: null } }), line);
  // Without exact samples of the target there is no W2.
  assert.match(told({ metrics: metrics.map((row) => ({ ...row, w2: null })) }), /^After 1,000 iterations of svgd the kernel Stein discrepancy to ring is 0\.500; it was 9\.000/);
  assert.equal(told({ metrics: [] }), null);
  assert.equal(told({ metrics: metrics.slice(0, 1) }), null);
});

test("a sample page opens with it", () =>
  withPage("sample", { drawings: false }, async (page) => {
    const { metrics, floor } = await example("sample");
    const text = await page.locator("header > p").first().textContent();
    assert.ok(text.includes(`is ${metrics.at(-1).w2.toFixed(3)}; it was ${metrics[0].w2.toFixed(3)}`), text);
    assert.ok(text.endsWith(metrics.at(-1).w2 <= floor.w2 ? "as near as these." : "times as far."), text);
  }));
