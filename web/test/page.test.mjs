import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const DESKTOP = { width: 1200, height: 900 };
const PHONE = { width: 390, height: 844 };

const read = (path) => readFile(new URL(`../${path}`, import.meta.url), "utf8");
const readTemplate = () => (process.env.PITS_PAGE ? readFile(process.env.PITS_PAGE, "utf8") : read("dist/page.html"));
let browser, folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "pits-page-"));
  const template = await readTemplate();
  for (const kind of ["run", "sample"]) {
    const data = await read(`examples/${kind}.json`);
    await writeFile(join(folder, `${kind}.html`), template.replace("__PITS_DATA__", () => data));
  }
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
});

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true });
});

// Opens a filled page, waits for its figures, and afterwards holds it to silence:
// nothing on the console, nothing over the network.
async function withPage(kind, options, check) {
  const page = await browser.newPage({ viewport: DESKTOP, ...options });
  page.setDefaultTimeout(10000);
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || complaints.push(request.url()));
  await page.goto(pathToFileURL(join(folder, `${kind}.html`)).href);
  await drawn(page);
  await check(page);
  await page.close();
  assert.deepEqual(complaints, []);
}

const drawn = (page) => page.waitForFunction(() => [...document.querySelectorAll("figure")].every((f) => f.dataset.state !== "waiting"));
const states = (page) => page.$$eval("figure", (all) => all.map((f) => f.dataset.state));
const lines = (page) => page.locator("figure").first().locator(".mark-line path").count();

async function settles(measure, value) {
  for (let i = 0; i < 60 && (await measure()) !== value; i += 1) await new Promise((done) => setTimeout(done, 50));
  assert.equal(await measure(), value);
}

test("the template holds the marker once", async () => {
  const template = await readTemplate();
  assert.equal(template.split("__PITS_DATA__").length, 2);
  assert.ok(template.includes('<script type="application/json" id="pits-data">__PITS_DATA__</script>'));
});

test("a run page draws every figure", () =>
  withPage("run", {}, async (page) => {
    assert.deepEqual(await states(page), Array(6).fill("drawn"));
    assert.equal(await page.locator("figure svg.marks").count(), 6);
    assert.equal(await lines(page), 5);
    assert.equal(await page.locator("figure").nth(1).locator(".mark-symbol.role-mark path").count(), 50);
    assert.equal(await page.locator("figure").nth(2).locator(".mark-rect.role-mark path").count(), 25);
    assert.match(await page.locator("footer").textContent(), /^pits 0\.1\.0$/);
  }));

test("the regret table marks the best mean of each column and its ties", () =>
  withPage("run", {}, async (page) => {
    const { agents, environments, summary } = JSON.parse(await read("examples/run.json"));
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
    await page.locator("#regret button.agent").last().click();
    await settles(() => lines(page), 4);
    await settles(() => page.locator("figure").nth(2).locator(".mark-rect.role-mark path").count(), 20);
    await page.getByRole("button", { name: "Show all agents" }).click();
    await settles(() => lines(page), 5);
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

test("the table is saved as CSV and a figure as SVG", () =>
  withPage("run", {}, async (page) => {
    const [table] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download CSV" }).click()]);
    const rows = (await readFile(await table.path(), "utf8")).trim().split("\n");
    assert.equal(rows.length, 1 + 10);
    assert.match(rows[0], /^agent,environment,normalized_regret_mean,/);
    await page.locator("figure summary").first().click();
    const [image] = await Promise.all([page.waitForEvent("download"), page.locator("figure").first().getByText("Save as SVG").click()]);
    assert.equal(image.suggestedFilename(), "pits-wheel-regret.svg");
    assert.match(await readFile(await image.path(), "utf8"), /^<svg[^]*neural-linear/);
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
  test(`a ${kind} page fits a phone`, () =>
    withPage(kind, { viewport: PHONE }, async (page) => {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= PHONE.width, `the page is ${width} px wide`);
      for (const svg of await page.locator("svg.marks").all()) assert.ok((await svg.boundingBox()).width <= PHONE.width);
    }));

  test(`a ${kind} page follows the dark colour scheme`, () =>
    withPage(kind, { colorScheme: "dark" }, async (page) => {
      const background = (selector) => page.$eval(selector, (node) => getComputedStyle(node).backgroundColor);
      assert.equal(await background("body"), "rgb(20, 22, 26)");
      assert.equal(await background("figure svg.marks"), "rgb(20, 22, 26)");
      await page.emulateMedia({ colorScheme: "light" });
      await page.waitForFunction(() => {
        const all = [...document.querySelectorAll("figure")].map((figure) => figure.querySelector("svg.marks"));
        return all.every((svg) => svg?.style.backgroundColor === "rgb(255, 255, 255)");
      });
    }));
}
