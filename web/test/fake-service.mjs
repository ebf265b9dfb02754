// A service with answers made up, for its page: node's own server, and Chromium with the page.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { example, newPage, readService } from "./browser.mjs";

// `answers` may be changed while the page looks; a number is a status without numbers.
export class FakeService {
  constructor(answers) {
    this.answers = answers;
    this.asked = [];
    this.key = null; // that requests need
  }

  async start() {
    const page = await readService();
    this.server = createServer((request, reply) => this.answer(page, request, reply));
    await new Promise((done) => this.server.listen(this.port ?? 0, "127.0.0.1", done));
    this.port = this.server.address().port;
    return `http://127.0.0.1:${this.port}/`;
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(done));
  }

  body(path) {
    const { bandits, server, states, statistics } = this.answers;
    const [, name, what] = path.match(/^\/v1\/bandits\/([^/]+)\/(state|statistics)$/) ?? [];
    if (name) return (what === "state" ? states : statistics)[decodeURIComponent(name)] ?? 404;
    return { "/v1/bandits": bandits, "/v1/server": server }[path] ?? 404;
  }

  answer(page, request, reply) {
    this.asked.push(request.url);
    if (request.url === "/") {
      return reply.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "frame-ancestors 'none'" }).end(page);
    }
    const allowed = !this.key || request.headers.authorization === `Bearer ${this.key}`;
    const body = allowed ? this.body(request.url) : 401;
    const status = typeof body === "number" ? body : 200;
    return reply.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(status === 200 ? body : { error: `no numbers here (${status})` }));
  }
}

const copy = (value) => JSON.parse(JSON.stringify(value));

export async function answers() {
  const { bandits, server, state, statistics } = await example("service");
  const other = { ...copy(state), name: "newsletter" };
  return { bandits, server, states: { "tea-shop": state, newsletter: other }, statistics: { "tea-shop": statistics, newsletter: copy(statistics) } };
}

// Statistics of a bandit that was created a moment ago.
export function emptied(statistics) {
  const empty = copy(statistics);
  const none = { start: statistics.utc, seconds: 1, decisions: [], rewards: [], settled: [], waiting: [], outcomes: [], sum: [], squares: [], actions: [] };
  const value = { ips: null, error: null, snips: null, effective: null, interval: null };
  Object.assign(empty, { decisions: 0, rewards: 0, waiting: 0, settled: { reward: 0, expired: 0, cancelled: 0, lost: 0 }, series: { all: none, recent: none } });
  Object.assign(empty.values, { rounds: 0, logged: value, uniform: value, actions: [] });
  empty.propensities.counts.fill(0);
  empty.propensities.least = null;
  empty.calibration = empty.calibration.map(() => ({ pairs: 0 }));
  empty.models = { versions: 0, last: [], adopted: 0, skipped: 0, trainings: [] };
  return empty;
}

// Opens the page of a fake service. Afterwards nothing but requests to it must have happened, and the console must be
// empty, but for failed requests where `failures` are part of the test.
export async function withService({ failures = false, prepare = () => {}, ...options }, check) {
  const service = new FakeService(await answers());
  await prepare(service);
  const origin = await service.start();
  const page = await newPage(options);
  page.setDefaultTimeout(30000);
  const complaints = [];
  page.on("console", (message) => (failures && /Failed to load resource/.test(message.text())) || complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => request.url().startsWith(origin) || request.url().startsWith("data:") || complaints.push(request.url()));
  await page.goto(origin);
  await check(page, service);
  await page.close();
  await service.stop();
  assert.deepEqual(complaints, []);
}
