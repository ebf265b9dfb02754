import assert from "node:assert/strict";
import { test } from "node:test";
import { downloaded, example, fits, followsScheme, readTemplate, settles, states, withData, withPage } from "./browser.mjs";

const PHONE = { width: 390, height: 844 };

const lines = (page) => page.locator("figure").first().locator(".mark-line path").count();

test("the template holds the marker once", async () => {
  const template = await readTemplate();
  assert.equal(template.split("__PITS_DATA__").length, 2);
  assert.ok(template.includes('<script type="application/json" id="pits-data">__PITS_DATA__</script>'));
});

test("a run page draws every figure", () =>
  withPage("run", {}, async (page) => {
    assert.deepEqual(await states(page), Array(14).fill("drawn"));
    assert.equal(await page.locator("figure svg.marks").count(), 14);
    assert.equal(await lines(page), 5);
    assert.equal(await page.locator("figure").nth(1).locator(".mark-symbol.role-mark path").count(), 50);
    assert.equal(await page.locator("figure").nth(2).locator(".mark-rect.role-mark path").count(), 25);
    assert.match(await page.locator("footer").textContent(), /^pits 0\.1\.0$/);
  }));

test("a run page says where information was full", async () => {
  const data = await example("run");
  const lead = (page) => page.locator("header .lead").textContent();
  await withData(data, { drawings: false }, async (page) => assert.doesNotMatch(await lead(page), /information/));
  await withData({ ...data, feedback: "all" }, { drawings: false }, async (page) =>
    assert.match(await lead(page), /Full information: after every round agents learned the rewards of all actions\.$/),
  );
});

test("the regret table marks the best mean of each column and its ties", () =>
  withPage("run", {}, async (page) => {
    const { agents, environments, summary } = await example("run");
    const rows = page.locator("#regret tbody tr");
    assert.equal(await rows.count(), agents.length);
    for (const [column, env] of environments.entries()) {
      const here = summary.filter((s) => s.env === env).map((s) => s.normalized_regret);
      const best = here.reduce((a, b) => (b.mean < a.mean ? b : a));
      for (const [i, { mean, se }] of here.entries()) {
        const near = mean - best.mean <= Math.sqrt(se ** 2 + best.se ** 2);
        const expected = mean === best.mean ? "best" : near ? "tie" : null;
        assert.equal(await rows.nth(i).locator("td").nth(column).getAttribute("class"), expected);
      }
    }
  }));

test("a click on a legend entry hides its series and a second one brings it back", () =>
  withPage("run", {}, async (page) => {
    const label = page.locator("figure").first().locator(".role-legend-label text").first();
    await label.click();
    await settles(() => lines(page), 4);
    assert.equal(await page.locator("#regret button.agent").first().getAttribute("aria-pressed"), "false");
    await label.click();
    await settles(() => lines(page), 5);
  }));

test("a click on an agent of the table hides it in every figure", () =>
  withPage("run", {}, async (page) => {
    const all = page.locator("#regret .buttons button").last();
    assert.deepEqual([await all.textContent(), await all.isVisible()], ["Show all agents", false]);
    await page.locator("#regret button.agent").last().click();
    await settles(() => lines(page), 4);
    await settles(() => page.locator("figure").nth(2).locator(".mark-rect.role-mark path").count(), 20);
    await page.getByRole("button", { name: "Show all agents" }).click();
    await settles(() => lines(page), 5);
    assert.equal(await all.isVisible(), false);
  }));

test("actions are numbered from 0, as the agents number them", () =>
  withPage("run", {}, async (page) => {
    const { pulls } = await example("run");
    const drawing = page.locator("figure").nth(2);
    const shown = await drawing.locator(".role-legend-label text").allTextContents();
    assert.deepEqual(shown, pulls[0].counts.map((_, i) => String(i)));
    const rows = String((await downloaded(page, drawing.getByRole("button", { name: "as CSV" }))).content).trim().split("\n");
    assert.equal(rows[0], "agent,environment,action,pulls_mean");
    assert.equal(rows[1], `${pulls[0].agent},${pulls[0].env},0,${pulls[0].counts[0]}`);
  }));

// On mushroom uniform play pays more than ten times the median regret, so the page starts on the log axis.
test("the regret axis starts logarithmic where one agent dwarfs the rest, and can be switched", () =>
  withPage("run", {}, async (page) => {
    const ticks = () => page.locator("figure").first().locator(".role-axis-label").last().locator("text").allTextContents();
    assert.deepEqual(await ticks(), ["1", "10", "100", "1,000"]);
    await page.getByLabel("linear", { exact: true }).check();
    await settles(async () => (await ticks()).join(" "), "0 500 1,000 1,500 2,000");
    assert.equal(await lines(page), 5);
  }));

test("the pointer reads every agent's regret at a round", () =>
  withPage("run", {}, async (page) => {
    await page.locator("figure").first().locator("svg.marks").hover();
    const tooltip = page.locator("#vg-tooltip-element.visible");
    await tooltip.waitFor();
    assert.match(await tooltip.textContent(), /^Round [\d,]+/);
    assert.equal(await tooltip.locator("tr").count(), 5);
  }));

const figure = (page, id) => page.locator(`figure[data-figure="${id}"]`);

test("regret stands against cost, a point and a label an agent, and a line along the best", () =>
  withPage("run", {}, async (page) => {
    const drawing = figure(page, "pits-wheel-cost");
    const { summary } = await example("run");
    const timed = summary.filter(({ env, seconds }) => env === "wheel" && seconds !== null).map(({ agent }) => agent);
    assert.equal(timed.length, 4);
    assert.equal(await drawing.locator(".mark-symbol.role-mark path").count(), 4);
    assert.deepEqual((await drawing.locator(".mark-text.role-mark text").allTextContents()).sort(), timed.sort());
    const rows = String((await downloaded(page, drawing.getByRole("button", { name: "as CSV" }))).content).trim().split("\n");
    const { seconds, normalized_regret } = summary.find((s) => s.agent === "pi-ts" && s.env === "wheel");
    assert.equal(rows[1], `pi-ts,wheel,${(1e6 * (seconds / 20000))},${normalized_regret.mean},${normalized_regret.se}`);
    await page.locator("#regret button.agent").first().click();
    await settles(() => drawing.locator(".mark-symbol.role-mark path").count(), 3);
  }));

test("one agent alone has no figure of its cost", async () => {
  const data = await example("run");
  const only = (list) => list.filter(({ agent }) => agent === "pi-ts");
  const alone = { ...data, agents: ["pi-ts"], summary: only(data.summary), curves: only(data.curves), finals: only(data.finals), pulls: only(data.pulls) };
  await withData(alone, {}, async (page) => assert.equal(await page.locator("#cost").count(), 0));
});

test("particles show their health where it was looked at, and a warning where they have collapsed", () =>
  withPage("run", {}, async (page) => {
    const names = ["disagreement", "spread", "effective", "repulsion", "covered50", "pit"];
    const count = (name) => figure(page, `pits-wheel-${name}`).locator(".mark-line path").count();
    // Two agents; a second, pale line each beside spread and coverage; an ensemble has no repulsion.
    assert.deepEqual(await Promise.all(names.map(count)), [2, 4, 2, 1, 4, 2]);
    assert.equal(await page.locator("figure[data-figure^=pits-mushroom-spread]").count(), 0);
    assert.deepEqual(await page.locator(".warning").allTextContents(), ["bootstrap: the particles have collapsed in 4 of 10 realizations, from round 300 on."]);
  }));

test("the table is saved as CSV, and a figure as SVG, PNG and CSV", () =>
  withPage("run", {}, async (page) => {
    const table = await downloaded(page, page.getByRole("button", { name: "Download CSV" }));
    const rows = String(table.content).trim().split("\n");
    assert.equal(rows.length, 1 + 10);
    assert.match(rows[0], /^agent,environment,normalized_regret_mean,/);
    const save = (format) => downloaded(page, page.locator("figure").first().getByRole("button", { name: `as ${format}` }));
    const svg = await save("SVG");
    assert.equal(svg.name, "pits-wheel-regret.svg");
    assert.match(String(svg.content), /^<svg[^]*neural-linear/);
    assert.equal((await save("PNG")).content.subarray(1, 4).toString(), "PNG");
    const { curves } = await example("run");
    const points = curves.filter(({ env }) => env === "wheel").flatMap(({ t, mean, std, agent }) => t.map((round, k) => `${agent},wheel,${round},${mean[k]},${std[k]}`));
    assert.equal(String((await save("CSV")).content), `agent,environment,round,regret_mean,regret_std\n${points.join("\n")}\n`);
  }));

test("a sample page draws its figures, and the slider moves the particles", () =>
  withPage("sample", {}, async (page) => {
    assert.deepEqual(await states(page), Array(4).fill("drawn"));
    const points = page.locator("figure").first().locator(".mark-symbol path");
    assert.equal(await points.count(), 60);
    assert.equal(await page.locator("figure").first().locator(".mark-path path").count(), 6);
    const end = await points.first().getAttribute("transform");
    await page.locator(".player input").fill("0");
    assert.equal(await page.locator(".player output").textContent(), "Iteration 0");
    await page.waitForFunction((old) => document.querySelector("figure .mark-symbol path").getAttribute("transform") !== old, end);
  }));

test("the play button runs through the frames", () =>
  withPage("sample", {}, async (page) => {
    await page.getByRole("button", { name: "Play" }).click();
    await page.waitForFunction(() => /Iteration (45|60|75)$/.test(document.querySelector(".player output").textContent));
    await page.getByRole("button", { name: "Pause" }).click();
    assert.equal(await page.getByRole("button", { name: "Play" }).count(), 1);
  }));

for (const kind of ["run", "sample"]) {
  test(`a ${kind} page fits a phone`, () => withPage(kind, { viewport: PHONE }, (page) => fits(page, PHONE)));

  test(`a ${kind} page follows the dark colour scheme`, () => withPage(kind, { colorScheme: "dark" }, followsScheme));
}
