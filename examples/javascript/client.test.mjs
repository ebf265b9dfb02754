// node --test client.test.mjs
import assert from "node:assert/strict";
import { createServer } from "node:http";
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
