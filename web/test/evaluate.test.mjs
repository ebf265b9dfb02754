import assert from "node:assert/strict";
import { test } from "node:test";
import { example, fits, states, withData, withPage } from "./browser.mjs";

const PHONE = { width: 390, height: 844 };

test("an evaluation page draws every figure", () =>
  withPage("evaluate", {}, async (page) => {
    assert.deepEqual(await states(page), Array(6).fill("drawn"));
    const { policies } = await example("evaluate");
    assert.equal(await page.locator("#values tbody tr").count(), policies.length + 1);
    assert.equal(await page.locator("#growth .mark-line path").count(), policies.length);
    assert.equal(await page.locator("#growth .mark-area path").count(), policies.length);
  }));

test("the table shows the chosen estimate and interval", () =>
  withPage("evaluate", { drawings: false }, async (page) => {
    const { policies, estimator } = await example("evaluate");
    const cells = page.locator("#values tbody tr").nth(1);
    assert.equal(await cells.locator("th").textContent(), policies[0].policy);
    const value = policies[0].estimates[estimator].value.toFixed(4).replace("-", "−");
    assert.equal(await cells.locator("td").first().textContent(), value);
  }));

test("reasons for doubt stand beside the table", async () => {
  const data = await example("evaluate");
  data.policies[0].warnings = ["One round has <all> of the weight."];
  await withData(data, { drawings: false }, async (page) => assert.match(await page.locator("#values .warning").first().textContent(), /Do not trust .* <all> of the weight/));
});

test("without a model, contexts and a range the page leaves their parts out", async () => {
  const data = await example("evaluate");
  delete data.reward_range;
  Object.assign(data, { feature: null, calibration: null, interval: "asymptotic" });
  for (const policy of data.policies) {
    delete policy.sequence;
    for (const point of policy.curve) delete point.sequence;
  }
  await withData(data, {}, async (page) => {
    assert.deepEqual(await states(page), Array(4).fill("drawn"));
    assert.match(await page.locator("#values").textContent(), /No reward range was given/);
  });
});

test("an evaluation page fits a phone", () =>
  withPage("evaluate", { viewport: PHONE }, async (page) => fits(page, PHONE)));
