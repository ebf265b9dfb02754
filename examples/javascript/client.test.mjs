// node --test client.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Client, ServiceError } from "./client.mjs";

// Answers with what `replies` has next: [status, object, headers], or "lost".
async function withService(replies, work) {
  const seen = [];
  const server = createServer(async (request, reply) => {
    let text = "";
    for await (const part of request) text += part;
    seen.push({ method: request.method, path: request.url, headers: request.headers, body: JSON.parse(text) });
    const next = replies.shift();
    if (next === "lost") return request.socket.destroy();
    reply.writeHead(next[0], { "Content-Type": "application/json", ...next[2] }).end(JSON.stringify(next[1]));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const waited = [];
  const options = { sleep: async (ms) => waited.push(ms) };
  try {
    return await work(`http://127.0.0.1:${server.address().port}`, seen, waited, options);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const decided = { id: 7, action: "tea", propensity: 0.5, model: 1, token: "t7" };

test("a decision and its reward", () =>
  withService([[200, decided], [200, { answer: "accepted" }], [404, { answer: "unknown" }]], async (url, seen, waited, options) => {
    const client = new Client(`${url}/`, { key: "secret", ...options });
    const decision = await client.decide("my shop", { age: 31 }, { key: "visit", allowed: ["tea"] });
    assert.equal(decision.action, "tea");
    assert.equal(await client.reward("my shop", decision, 1, "click"), "accepted");
    assert.equal(await client.reward("my shop", "visit-9", 0.5, "click"), "unknown");
    assert.deepEqual(seen.map((one) => [one.method, one.path]), [["POST", "/v1/bandits/my%20shop/decide"], ...Array(2).fill(["POST", "/v1/bandits/my%20shop/rewards"])]);
    assert.deepEqual(seen.map((one) => one.body), [{ context: { age: 31 }, key: "visit", allowed: ["tea"] }, { id: 7, token: "t7", value: 1, key: "click" }, { decision: "visit-9", value: 0.5, key: "click" }]);
    assert.equal(seen[0].headers.authorization, "Bearer secret");
  }));

test("a reward that is repeated has one key, and waits as it is told", () =>
  withService(["lost", [503, { error: "busy" }, { "Retry-After": "7" }], [200, { answer: "duplicate" }]], async (url, seen, waited, options) => {
    assert.equal(await new Client(url, options).reward("shop", 7, 1), "duplicate");
    assert.equal(new Set(seen.map((one) => one.body.key)).size, 1);
    assert.ok(waited[0] >= 50 && waited[0] <= 100);
    assert.equal(waited[1], 7000);
  }));

test("no wait is longer than the client's patience", () =>
  withService([[429, { error: "slower" }, { "Retry-After": "3600" }], [200, { answer: "accepted" }]], async (url, seen, waited, options) => {
    assert.equal(await new Client(url, { patience: 500, ...options }).reward("shop", 7, 1), "accepted");
    assert.deepEqual(waited, [500]);
  }));

test("a refusal has the service's sentence", () =>
  withService([[400, { error: "'age' is missing" }], ...Array(4).fill([503, { error: "the disk is full" }])], async (url, seen, waited, options) => {
    const client = new Client(url, options);
    await assert.rejects(client.decide("shop", {}), (error) => error instanceof ServiceError && error.status === 400 && error.message === "'age' is missing");
    await assert.rejects(client.reward("shop", 7, 1), /the disk is full/);
    assert.equal(seen.length, 5);
  }));

test("no service", async () => {
  const url = await withService([], async (gone) => gone);
  await assert.rejects(new Client(url, { retries: 0 }).decide("shop", {}), (error) => error.status === 0 && /no answer/.test(error.message));
});

test("rewardLater uses sendBeacon where there is one and no key", async () => {
  const sent = [];
  Object.defineProperty(globalThis, "navigator", { value: { sendBeacon: (...words) => sent.push(words) > 0 }, configurable: true });
  assert.equal(new Client("http://shop").rewardLater("shop", decided, 1, "click"), true);
  assert.deepEqual(sent, [["http://shop/v1/bandits/shop/rewards", '{"id":7,"token":"t7","value":1,"key":"click"}']]);
});

const program = process.env.PITS_PROGRAM;

test("pits serve itself", { skip: program ? false : "PITS_PROGRAM is not set" }, async () => {
  const store = await mkdtemp(join(tmpdir(), "pits-client-"));
  const service = spawn(program, ["serve", "--store", store, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  try {
    let url;
    for await (const line of createInterface({ input: service.stderr })) if ((url = line.match(/serving .* at (\S+)/)?.[1])) break;
    const setup = { agent: "uniform", context_size: 1, actions: ["tea", "milk"], activation: true, window: 600 };
    assert.equal((await fetch(`${url}/v1/bandits/shop`, { method: "PUT", body: JSON.stringify(setup) })).status, 201);
    const client = new Client(url);
    const decision = await client.decide("shop", [1]);
    assert.ok(setup.actions.includes(decision.action));
    const { ranking } = await client.rank("shop", [1], { key: "visit" });
    assert.deepEqual(ranking.map((one) => one.action).sort(), ["milk", "tea"]);
    assert.equal(await client.activate("shop", decision), "accepted");
    assert.equal(await client.reward("shop", decision, 1, "click"), "accepted");
    assert.equal(await client.reward("shop", decision, 1, "click"), "duplicate");
    assert.equal(await client.cancel("shop", "visit"), "accepted");
    assert.equal(await client.reward("shop", "visit", 1), "expired");
    assert.equal(await client.reward("shop", 7, 1), "unknown");
  } finally {
    service.kill();
    await rm(store, { recursive: true });
  }
});
