import assert from "node:assert/strict";
import { test } from "node:test";
import { downloaded, example, fits, followsScheme, settles, states, withData, withPage } from "./browser.mjs";

const PHONE = { width: 360, height: 740 };
const FIGURES = 47;

const data = await example("reproduce");
const section = (id) => data.sections.find((entry) => entry.id === id);
const figure = (page, id) => page.locator(`figure[data-figure="${id}"]`);
const lines = (page, id) => figure(page, id).locator(".mark-line path").count();
const changed = (change) => {
  const copy = structuredClone(data);
  change(copy);
  return copy;
};

test("every figure is drawn, with marks in it", () =>
  withPage("reproduce", {}, async (page) => {
    assert.deepEqual(await states(page), Array(FIGURES).fill("drawn"));
    const marks = (kind) => page.$$eval("figure", (all, selector) => all.map((f) => f.querySelectorAll(selector).length), `.role-mark.${kind} path`);
    const [lineMarks, rects, symbols] = await Promise.all(["mark-line", "mark-rect", "mark-symbol"].map(marks));
    lineMarks.forEach((count, i) => assert.ok(count + rects[i] + symbols[i] > 0, `figure ${i} is empty`));
    const { agents, environments, finals, pulls } = section("benchmark");
    for (const env of environments) {
      const here = (list, key) => list.filter((entry) => entry.env === env).flatMap((entry) => entry[key]).length;
      assert.equal(await lines(page, `benchmark-regret-${env}`), agents.length);
      assert.equal(await figure(page, `benchmark-box-${env}`).locator(".mark-symbol.role-mark path").count(), here(finals, "values"));
      assert.equal(await figure(page, `benchmark-pulls-${env}`).locator(".mark-rect.role-mark path").count(), here(pulls, "counts"));
    }
    assert.equal(await lines(page, "posterior-w2"), data.posterior.series.length + 1);
    assert.equal(await lines(page, "wheel-against-regret"), section("wheel").agents.length);
    assert.equal(await figure(page, "ablation-linear-against-time").locator(".mark-symbol.role-mark path").count(), 4);
  }));

test("the parts stand in the paper's order, and the contents lead to each", () =>
  withPage("reproduce", { drawings: false }, async (page) => {
    const order = ["problems", "table", "section-benchmark", "section-ablation", "section-linear", "posterior", "section-wheel"];
    assert.deepEqual(await page.$$eval("section", (all) => all.map(({ id }) => id)), order);
    const top = await page.$$eval(".contents > ol > li > a", (all) => all.map(({ hash }) => hash.slice(1)));
    assert.deepEqual(top, order);
    const dead = await page.$$eval(".contents a", (all) => all.filter(({ hash }) => !document.getElementById(hash.slice(1))).length);
    assert.equal(dead, 0);
    await page.evaluate(() => scrollTo(0, document.getElementById("posterior").offsetTop));
    await page.waitForFunction(() => document.querySelector(".contents a[aria-current]")?.hash === "#posterior");
    assert.ok((await page.locator(".contents").boundingBox()).y >= 0);
  }));

test("the headline counts the problems that each method leads", () =>
  withPage("reproduce", { drawings: false }, async (page) => {
    const text = await page.locator(".finding").textContent();
    for (const { agent, label } of data.table.agents) {
      const column = (env) => data.table.cells.filter((cell) => cell.env === env);
      const wins = data.table.environments.filter(({ env }) => Math.min(...column(env).map(({ mean }) => mean)) === column(env).find((cell) => cell.agent === agent).mean).length;
      if (wins) assert.ok(text.includes(`${label} in ${wins}`) || text.includes(`${label} has the lowest mean normalised regret in ${wins} of 6`), `${label}: ${wins}`);
    }
    assert.match(await page.locator("header").textContent(), /2,000.*made-up machine.*pits reproduce --out/);
  }));

test("a legend entry switches its series in every figure, by pointer and by keyboard", () =>
  withPage("reproduce", {}, async (page) => {
    const entry = page.locator('#benchmark-regret .legend button[data-agent="pi-ts:released"]');
    await entry.click();
    await settles(() => lines(page, "benchmark-regret-statlog"), 6);
    await settles(() => lines(page, "wheel-against-regret"), 6);
    await settles(() => lines(page, "posterior-w2"), 5);
    assert.deepEqual(await page.$$eval('button[data-agent="pi-ts:released"]', (all) => [...new Set(all.map((b) => b.getAttribute("aria-pressed")))]), ["false"]);
    await entry.focus();
    await page.keyboard.press("Enter");
    await settles(() => lines(page, "benchmark-regret-statlog"), 7);
  }));

test("an agent has the same colour in every figure", () =>
  withPage("reproduce", { drawings: false }, async (page) => {
    const svg = (id) => page.evaluate((name) => window.pitsFigures.svg(name), id);
    const strokes = async (id) => [...(await svg(id)).matchAll(/aria-label="[^"]*agent: ([^";]+)[^"]*"[^>]*stroke="(#\w+)"/g)].map(([, agent, colour]) => `${agent} ${colour}`);
    const seen = new Map();
    for (const id of ["benchmark-regret-statlog", "linear-regret-linear", "wheel-against-regret", "posterior-w2"]) {
      const here = await strokes(id);
      assert.ok(here.length, id);
      for (const [agent, colour] of here.map((pair) => pair.split(" #"))) {
        assert.equal(seen.get(agent) ?? colour, colour, `${agent} in ${id}`);
        seen.set(agent, colour);
      }
    }
    assert.equal(new Set(seen.values()).size, seen.size);
  }));

test("the switches of the regret axis move together", () =>
  withPage("reproduce", {}, async (page) => {
    const ticks = (id) => figure(page, id).locator(".role-axis-label").last().locator("text").allTextContents();
    await page.locator("#benchmark-regret").getByLabel("log", { exact: true }).check();
    assert.ok(await page.locator("#linear-regret").getByLabel("log", { exact: true }).isChecked());
    await settles(async () => (await ticks("linear-regret-linear"))[0], "1");
    await page.locator("#linear-regret").getByLabel("linear", { exact: true }).check();
    await settles(async () => (await ticks("benchmark-regret-statlog"))[0], "0");
  }));

test("a page without posterior, table, sections or problems still shows the rest", async () => {
  await withData(changed((d) => ((d.posterior = null), (d.missing = []))), {}, async (page) => {
    assert.equal(await page.locator("#posterior, .contents a[href='#posterior'], .missing").count(), 0);
    assert.equal(await page.locator("figure").count(), FIGURES - 1);
  });
  await withData(changed((d) => ((d.sections = []), (d.posterior = null))), {}, async (page) => {
    assert.deepEqual(await page.$$eval("section", (all) => all.map(({ id }) => id)), ["problems", "table"]);
  });
  await withData(changed((d) => ((d.table = null), (d.problems = []), (d.sections = d.sections.slice(1, 2)))), {}, async (page) => {
    assert.deepEqual(await page.$$eval("section", (all) => all.map(({ id }) => id)), ["section-ablation", "posterior"]);
    assert.deepEqual([...new Set(await states(page))], ["drawn"]);
  });
});

test("what is missing is said, without markup from the data", () =>
  withData(changed((d) => d.missing.push({ section: "curves", env: "census", reason: "data not found: <b>census</b>" })), { drawings: false }, async (page) => {
    const items = page.locator(".missing li");
    assert.deepEqual(await items.allTextContents(), [`Table 2, Jester: ${data.missing[0].reason}`, "curves, Census: data not found: <b>census</b>"]);
    assert.ok(await items.first().isVisible());
  }));

// Twenty agents, the names of some long, on the phone and on the desk.
function crowded(copy) {
  const bench = copy.sections[0];
  for (let i = 0; bench.agents.length < 20; i += 1) {
    const agent = `extra-${i}:preset,hidden=100,learning_rate=0.001,particles=20`;
    bench.labels[agent] = i % 2 ? `Extra ${i}` : `An agent whose name is long enough to be in the way, number ${i}`;
    bench.agents.push(agent);
    for (const list of [bench.summary, bench.curves, bench.finals, bench.pulls]) list.push(...list.filter((e) => e.agent === "pi-ts:released").map((e) => ({ ...e, agent })));
  }
}

for (const viewport of [PHONE, { width: 1440, height: 900 }]) {
  test(`a page with twenty agents fits ${viewport.width} px`, () =>
    withData(changed(crowded), { viewport }, async (page) => {
      assert.equal(await lines(page, "benchmark-regret-statlog"), 20);
      await fits(page, viewport);
    }));
}

test("a page fits a phone, its tables scroll in their frames", () =>
  withPage("reproduce", { viewport: PHONE }, async (page) => {
    await fits(page, PHONE);
    const frame = await page.$eval("#table .table-frame", (node) => ({ inner: node.scrollWidth, outer: node.clientWidth }));
    assert.ok(frame.inner > frame.outer && frame.outer <= PHONE.width);
  }));

test("a page follows the dark colour scheme", () => withPage("reproduce", { colorScheme: "dark" }, followsScheme));

test("a figure is saved as SVG, PNG and CSV", () =>
  withPage("reproduce", { drawings: false }, async (page) => {
    const save = (format) => downloaded(page, figure(page, "wheel-against-regret").getByRole("button", { name: `as ${format}` }));
    const svg = await save("SVG");
    assert.equal(svg.name, "wheel-against-regret.svg");
    assert.match(String(svg.content), /^<svg[^]*π-TS-DGF[^]*Cumulative regret against δ/);
    assert.equal((await save("PNG")).content.subarray(1, 4).toString(), "PNG");
    const { summary, env_x } = section("wheel");
    const expected = summary.filter(({ env }) => env in env_x.values).map(({ agent, env, regret }) => `${agent.includes(",") ? `"${agent}"` : agent},${env_x.values[env]},${regret.mean},${regret.se}`);
    const [head, ...rows] = String((await save("CSV")).content).trim().split("\n");
    assert.equal(head, "agent,δ,mean,se");
    assert.deepEqual(rows.sort(), expected.sort());
  }));
