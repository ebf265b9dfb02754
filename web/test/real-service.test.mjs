// The page in Chromium as `pits serve` gives it, with the numbers of that service. PITS_PROGRAM names the program.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { significant } from "../src/base/format.js";
import { newPage } from "./browser.mjs";

const program = process.env.PITS_PROGRAM;
const SETUP = { agent: "uniform", context_size: 2, actions: ["tea", "milk"], window: 0, reward_range: [0, 1], seed: 7 };

async function started(store) {
  const service = spawn(program, ["serve", "--store", store, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface({ input: service.stderr })) {
    const [, url] = line.match(/serving .* at (\S+)/) ?? [];
    if (url) return { service, url };
  }
  throw new Error("the service has not started");
}

async function call(url, method, body) {
  const reply = await fetch(url, { method, body: JSON.stringify(body) });
  assert.ok(reply.ok, `${url}: ${reply.status}`);
  return reply.json();
}

test("the page shows what the service has done", { skip: program ? false : "PITS_PROGRAM is not set" }, async () => {
  const store = await mkdtemp(join(tmpdir(), "pits-real-"));
  const { service, url } = await started(store);
  const shop = `${url}/v1/bandits/shop`;
  try {
    await call(shop, "PUT", SETUP);
    const { decisions } = await call(`${shop}/decide`, "POST", { decisions: Array(100).fill({ context: [0, 1] }) });
    const rewards = decisions.map(({ id, action }) => ({ id, value: action === "tea" ? 1 : 0 }));
    await call(`${shop}/rewards`, "POST", { rewards: rewards.slice(0, 60) });
    const teas = rewards.slice(0, 60).filter(({ value }) => value === 1).length;
    const page = await newPage();
    const complaints = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(url);
    const shows = (selector, pattern) => page.locator(selector).filter({ hasText: pattern }).first().waitFor();
    await shows("article h2", /^shop$/);
    await shows(".agent", /uniform · 2 actions/);
    await shows(".tiles", new RegExp(`reward per decision${significant(teas / 60).replace(".", "\\.")}`));
    await shows("#values tbody", /always tea.*always milk/s);
    await page.waitForFunction(() => document.querySelectorAll("#values .whisker").length === 4); // this bandit, uniform, each action
    await shows(".settings", /reward range\[0(\.0)?,1(\.0)?\]/);
    await page.close();
    assert.deepEqual(complaints, []);
  } finally {
    service.kill();
    await rm(store, { recursive: true });
  }
});
