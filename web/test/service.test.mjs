// The service's page in Chromium, against a service with made-up answers. Waits are for what the page shows, never for
// a time to pass.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readService } from "./browser.mjs";
import { emptied, withService } from "./fake-service.mjs";

const text = (page, selector) => page.locator(selector).textContent();
const ready = (page) => page.waitForSelector("#values tbody tr");
const shows = (page, selector, pattern) => page.locator(selector).filter({ hasText: pattern }).first().waitFor();

test("a bandit is shown with its numbers", () =>
  withService({}, async (page, service) => {
    await ready(page);
    const { "tea-shop": statistics } = service.answers.statistics;
    assert.equal(await text(page, "article h2"), "tea-shop");
    assert.equal(await text(page, ".agent"), "pi-ts:auto · 4 actions");
    assert.match(await text(page, ".settings"), /agentpi-ts:auto,particles=5,flow=blob.*reward range\[0,1\]/);
    const tiles = await text(page, ".tiles");
    for (const expected of [`decisions${statistics.rates.last_10_s.decisions}/s`, "rewards awaited2,476", "learner lag12", "training" + "running", "reward per decision0.149"]) {
      assert.ok(tiles.includes(expected), `${expected} in ${tiles}`);
    }
    assert.match(await text(page, ".server"), /latency p5084 µs.*p99190 µs.*p99.91.2 ms.*connections7.*2 h 16 min/);
    assert.equal(await page.title(), "tea-shop – pits");
    assert.equal(await page.locator(".banner").count(), 0);
  }));

test("every policy has its value and interval", () =>
  withService({}, async (page, service) => {
    await ready(page);
    const { values } = service.answers.statistics["tea-shop"];
    const rows = page.locator("#values tbody tr");
    assert.equal(await rows.count(), 2 + values.actions.length);
    assert.match(await rows.nth(0).textContent(), /this bandit0\.149/);
    assert.match(await rows.nth(5).textContent(), /always cocoa \(retired\)0\.087/);
    assert.match(await rows.nth(6).textContent(), /0\.145 to 0\.171/);
    assert.equal(await page.locator("#values .whisker").count(), 2 + values.actions.length);
  }));

test("without a range, or with a reward outside of it, the page says why there are no intervals", async () => {
  for (const [change, reason] of [[(values) => (values.range = null), /No intervals: they need .* reward_range/], [(values) => (values.outside = 2), /No intervals: 2 rewards outside/]]) {
    const prepare = ({ answers }) => {
      const { values } = answers.statistics["tea-shop"];
      for (const one of [values.logged, values.uniform, ...values.actions]) one.interval = null;
      change(values);
    };
    await withService({ prepare }, async (page) => {
      await ready(page);
      assert.match(await text(page, "#values"), reason);
      assert.equal(await page.locator("#values .whisker").count(), 0);
    });
  }
});

test("figures are drawn, read by keys, and given as tables", () =>
  withService({}, async (page) => {
    await ready(page);
    assert.equal(await page.locator("#shares .area").count(), 5);
    assert.equal(await page.locator("#rates .line").count(), 2);
    assert.equal(await page.locator("#reward .dashed").count(), 1);
    await page.locator("#reward svg").focus();
    await page.keyboard.press("Home");
    assert.match(await text(page, "#reward .readout"), /^\d\d:\d\d:\d\d: 0\.\d+ \(0\.\d+ to 0\.\d+\), \d+ outcomes$/);
    await page.keyboard.press("End");
    assert.match(await text(page, "#reward .readout"), /still awaited$/);
    await page.locator("#shares summary").click();
    await shows(page, "#shares thead", "seasonal offer");
  }));

test("the time of the figures can be the last hour", () =>
  withService({}, async (page, service) => {
    await ready(page);
    const points = async () => (await page.locator("#rates svg .line").first().getAttribute("d")).split("L").length;
    const { all, recent } = service.answers.statistics["tea-shop"].series;
    assert.ok(Math.abs((await points()) - all.decisions.length) <= 1); // the last one may be left out
    await page.locator('input[value="recent"]').check();
    assert.ok(Math.abs((await points()) - recent.decisions.length) <= 1);
  }));

test("propensities and calibration are those of the log", () =>
  withService({}, async (page, service) => {
    await ready(page);
    const { propensities, calibration } = service.answers.statistics["tea-shop"];
    assert.equal(await page.locator("#propensities tbody tr").count(), propensities.counts.filter((n) => n > 0).length);
    assert.equal(await page.locator("#calibration tbody tr").count(), calibration.length);
    assert.match(await text(page, "#calibration"), /All differences are of the size that chance gives/);
    assert.match(await text(page, "#models"), /10 trainings adopted/);
  }));

test("propensities that are not true are named", () =>
  withService({ prepare: ({ answers }) => (answers.statistics["tea-shop"].calibration[2].observed = 0.9) }, async (page) => {
    await ready(page);
    assert.match(await text(page, "#calibration"), /more than 3 standard errors/);
    assert.equal(await page.locator("#calibration .off").count(), 1);
  }));

test("the page follows the service", () =>
  withService({}, async (page, service) => {
    await ready(page);
    service.answers.statistics["tea-shop"].waiting = 4711;
    service.answers.states["tea-shop"].events.learned = service.answers.states["tea-shop"].events.committed;
    await shows(page, ".tiles", "rewards awaited4,711");
    await shows(page, ".tiles", "learner lag0all events are learned");
  }));

test("another bandit is one link away, and stays after a reload", () =>
  withService({}, async (page) => {
    await ready(page);
    await page.getByRole("link", { name: "newsletter" }).click();
    await shows(page, "article h2", "newsletter");
    await page.reload();
    await shows(page, "article h2", "newsletter");
    assert.equal(await page.locator(".bandits a[aria-current]").textContent(), "newsletter");
  }));

test("problems of the store stand on top", () =>
  withService({}, async (page, service) => {
    await ready(page);
    service.answers.server.problems = ["tea-shop: cannot write 'events.db': No space left on device <b>"];
    service.answers.states["tea-shop"].problem = "cannot write 'events.db': No space left on device <b>";
    await shows(page, ".banner.problem", /Problem: tea-shop: cannot write .* <b>/);
    assert.equal(await page.locator(".banner").count(), 1);
    service.answers.server.problems = [];
    service.answers.states["tea-shop"].problem = "";
    await page.locator(".banner").waitFor({ state: "detached" });
  }));

test("a lost connection is said, and forgotten when it is back", () =>
  withService({ failures: true }, async (page, service) => {
    await ready(page);
    await service.stop();
    await shows(page, ".banner.lost", /No connection since \d\d:\d\d:\d\d UTC/);
    assert.equal(await page.locator("body.stale").count(), 1);
    await service.start();
    await page.locator(".banner").waitFor({ state: "detached" });
    assert.equal(await page.locator("body.stale").count(), 0);
  }));

test("an answer that is no number is shown", () =>
  withService({ failures: true, prepare: ({ answers }) => (answers.server = 503) }, async (page, service) => {
    await shows(page, ".banner.problem", /503.*no numbers here/);
    service.answers.server = { version: "1", uptime_s: 1, requests_per_second: 0, latency_us: { p50: 0, p99: 0, p999: 0 }, open_connections: 1, draining: true, problems: [] };
    await shows(page, ".banner.note", "The service is stopping");
  }));

test("a key is asked for where the service wants one, and kept in the tab only", () =>
  withService({ failures: true, prepare: (service) => (service.key = "secret") }, async (page, service) => {
    await page.getByLabel("Key").fill("wrong");
    await page.keyboard.press("Enter");
    await shows(page, "form.key", "does not take this key");
    await page.getByLabel("Key").fill("secret");
    await page.keyboard.press("Enter");
    await ready(page);
    assert.deepEqual(await page.evaluate(() => [Object.values(sessionStorage), localStorage.length, document.cookie]), [["secret"], 0, ""]);
    assert.ok(service.asked.every((url) => !url.includes("secret")));
  }));

test("without a bandit the page says how to make one", () =>
  withService({ prepare: ({ answers }) => (answers.bandits = { bandits: [] }) }, async (page, service) => {
    await shows(page, ".empty", "There is no bandit yet");
    assert.equal(await text(page, ".empty code"), `curl -X PUT http://127.0.0.1:${service.port}/v1/bandits/shop -d '{"context_size":2,"actions":["tea","milk"],"reward_range":[0,1]}'`);
  }));

test("a new bandit says how to decide, then how to reward", () => {
  const prepare = ({ answers }) => {
    answers.full = answers.statistics["tea-shop"];
    answers.statistics["tea-shop"] = emptied(answers.full);
    answers.states["tea-shop"].schema = { features: [{ name: "age", kind: "number" }, { name: "country", kind: "category", levels: ["de"] }] };
  };
  return withService({ prepare }, async (page, service) => {
    await shows(page, ".empty", "No decision has been made yet");
    assert.match(await text(page, ".empty code"), /\/v1\/bandits\/tea-shop\/decide -d '\{"context":\{"age":0,"country":"de"\}\}'$/);
    assert.ok(!(await page.locator(".figures").isVisible()));
    const { answers } = service;
    answers.statistics["tea-shop"] = { ...emptied(answers.full), decisions: 3, series: answers.full.series };
    await shows(page, ".empty", "No reward has come yet");
    assert.match(await text(page, "#values"), /Nothing to judge by yet/);
    answers.statistics["tea-shop"] = answers.full;
    await ready(page);
    await page.locator(".empty").waitFor({ state: "detached" });
  });
});

test("candidates that come with decisions have no shares", () => {
  const prepare = ({ answers }) => {
    const statistics = answers.statistics["tea-shop"];
    answers.states["tea-shop"].actions = [];
    for (const series of Object.values(statistics.series)) series.actions = [];
    statistics.values.actions = [];
  };
  return withService({ prepare }, async (page) => {
    await ready(page);
    assert.ok(!(await page.locator("#shares").isVisible()));
    assert.equal(await page.locator("#values tbody tr").count(), 2);
  });
});

test("statistics of a part of the log say so", () =>
  withService({ prepare: ({ answers }) => Object.assign(answers.statistics["tea-shop"], { from: 1234567, one_in: 4 }) }, async (page) => {
    await ready(page);
    assert.match(await text(page, "article"), /from event 1,234,567 on.*one decision in 4\./);
  }));

test("names are text, not markup", () => {
  const name = "<img src=x onerror=alert(1)>";
  const prepare = ({ answers }) => (answers.states["tea-shop"].actions[4].name = name);
  return withService({ prepare }, async (page) => {
    await ready(page);
    assert.match(await text(page, "#values"), /always <img src=x/);
    assert.equal(await page.locator("main img").count(), 0);
  });
});

for (const width of [360, 768, 1600]) {
  test(`the page fits ${width} px`, () =>
    withService({ viewport: { width, height: 800 } }, async (page) => {
      await ready(page);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
      const ends = await page.$$eval("svg.drawing", (all) => all.map((one) => one.getBoundingClientRect().right));
      assert.ok(Math.max(...ends) <= width);
    }));
}

test("the page is dark where the reader's screen is", () =>
  withService({ colorScheme: "dark" }, async (page) => {
    await ready(page);
    assert.equal(await page.$eval("body", (node) => getComputedStyle(node).backgroundColor), "rgb(20, 22, 26)");
  }));

test("the page is small, and may only ask its own service", async () => {
  const html = await readService();
  assert.ok(Buffer.byteLength(html) < 200_000);
  assert.match(html, /http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-[^ ]+'; connect-src 'self'/);
  assert.doesNotMatch(html, /https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
});
