// The built site in a real browser, from disk: search, light and dark, narrow and wide. Started by python/tests/test_docs_site.py:
//   SITE=FOLDER NODE_PACKAGES=FOLDER CHROMIUM=PROGRAM node --test browser.test.mjs
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(join(process.env.NODE_PACKAGES, "package.json"))("playwright-core");
const address = (page) => pathToFileURL(join(process.env.SITE, page)).href;
const PAGES = ["index.html", "tutorial.html", "gallery.html", "agents.html", "reference/python.html", "reference/http.html"];
let browser;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser?.close());

// Afterwards: nothing on the console, nothing over the network.
async function on(page, options, check) {
  const tab = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  tab.setDefaultTimeout(20000);
  const complaints = [];
  tab.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  tab.on("pageerror", (error) => complaints.push(error.message));
  tab.on("request", (request) => /^(file|data|blob):/.test(request.url()) || complaints.push(request.url()));
  await tab.goto(address(page));
  await check(tab);
  await tab.close();
  assert.deepEqual(complaints, []);
}

// Waits until the page's background, which fades, is dark (below a third of white) or light.
const becomes = (tab, wanted) => tab.waitForFunction((dark) => {
  const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
  return dark ? r + g + b < 250 : r + g + b > 600;
}, wanted === "dark");

for (const [words, wanted] of [["propensity", "evaluation.html"], ["LiveBandit", "reference/python.html"], ["checksum", "data.html"]]) {
  test(`a search for ${words} leads to ${wanted}, which opens`, () =>
    on("index.html", {}, async (tab) => {
      await tab.locator("input.sidebar-search").fill(words);
      await tab.keyboard.press("Enter");
      const found = tab.locator(`#search-results li > a[href^="${wanted}"]`).first();
      await found.waitFor();
      await found.click();
      await tab.waitForURL((url) => url.pathname.endsWith(wanted));
      const name = words.toLowerCase();
      assert.ok((await tab.locator("article").textContent()).toLowerCase().includes(name));
    }));
}

test("a search without result says so", () =>
  on("index.html", {}, async (tab) => {
    await tab.locator("input.sidebar-search").fill("qqqqzzzz");
    await tab.keyboard.press("Enter");
    await tab.getByText("did not match any documents").waitFor();
  }));

test("light and dark follow the system, and the button switches them, also on the next page", () =>
  on("index.html", { colorScheme: "dark" }, async (tab) => {
    await becomes(tab, "dark");
    await tab.emulateMedia({ colorScheme: "light" });
    await becomes(tab, "light");
    const theme = () => tab.evaluate(() => document.body.dataset.theme);
    for (const wanted of ["light", "dark"]) {
      for (let i = 0; i < 3 && (await theme()) !== wanted; i += 1) await tab.locator(".theme-toggle:visible").first().click();
      await becomes(tab, wanted);
    }
    await tab.goto(address("tutorial.html"));
    await becomes(tab, "dark");
  }));

for (const page of PAGES) {
  for (const width of [390, 1200]) {
    test(`${page} fits ${width} pixels and shows all its pictures`, () =>
      on(page, { viewport: { width, height: 800 } }, async (tab) => {
        assert.ok((await tab.evaluate(() => document.documentElement.scrollWidth)) <= width);
        const broken = await tab.$$eval("article img", (all) => all.filter((one) => !one.complete || !one.naturalWidth).map((one) => one.src));
        assert.deepEqual(broken, []);
        assert.ok((await tab.locator("h1").first().textContent()).length > 3);
      }));
  }
}

test("on a phone the list of pages opens by its button, and leads on", () =>
  on("index.html", { viewport: { width: 390, height: 800 } }, async (tab) => {
    const link = tab.locator('.sidebar-tree a[href="tutorial.html"]');
    const inView = async () => (await link.boundingBox()).x >= 0;
    assert.equal(await inView(), false);
    await tab.locator(".mobile-header .nav-overlay-icon").click();
    while (!(await inView())) await tab.waitForTimeout(50);
    await link.click();
    await tab.waitForURL(/tutorial\.html$/);
  }));
