// A client of `pits serve` for browsers and Node, with fetch.
//
//   const client = new Client("http://127.0.0.1:8080");
//   const decision = await client.decide("shop", { age: 31, country: "de" });
//   show(decision.action);
//   await client.reward("shop", decision, 1);       // waits for the service's disk
//   client.rewardLater("shop", decision, 1);        // on click or pagehide: the browser sends it, even when the page closes
//
// In a browser, page and service have the same origin (both behind one proxy), or the service allows the page's:
// pits serve --allow-origin https://shop.example
// A page that anybody can open must not have a key that may do more than reward: let your own server decide, and hand the
// decision's id and token to the page.

export class ServiceError extends Error {
  // status: of HTTP; 0: there was no answer
  constructor(status, message) {
    super(message);
    this.name = "ServiceError";
    this.status = status;
  }
}

const repeatable = new Set([429, 503]);

export class Client {
  // timeout: milliseconds per try; retries: after no answer, a 429 or a 503; patience: milliseconds that a wait between two
  // tries takes at most
  constructor(url, { key = "", timeout = 5000, retries = 3, patience = 10000, sleep = (ms) => new Promise((done) => setTimeout(done, ms)) } = {}) {
    this.url = url.replace(/\/+$/, "");
    this.timeout = timeout;
    this.retries = retries;
    this.patience = patience;
    this.sleep = sleep;
    this.headers = { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  }

  // options: key (the same key again is the same decision), allowed (names). A decide without a key that is repeated after
  // a lost answer may leave a decision that nobody uses.
  decide(bandit, context, options = {}) {
    return this.ask(bandit, "decide", { context, ...options });
  }

  // The same, and all allowed actions in order: ranking [{ action, probability }].
  rank(bandit, context, options = {}) {
    return this.ask(bandit, "rank", { context, ...options });
  }

  // What was decided was never shown; it has been shown (bandits with `activation`). The answers of reward().
  async cancel(bandit, decision) {
    return (await this.ask(bandit, "cancel", named(decision))).answer;
  }

  async activate(bandit, decision) {
    return (await this.ask(bandit, "activate", named(decision))).answer;
  }

  // decision: what decide returned, its id, or the caller's key of it. Returns accepted, duplicate, expired, unknown or full.
  // The key is made once, so that a repeated reward counts once.
  async reward(bandit, decision, value, key = newKey()) {
    return (await this.ask(bandit, "rewards", rewardBody(decision, value, key))).answer;
  }

  // Hands the reward to the browser and does not wait. sendBeacon has no headers: a service that asks for a key gets a
  // fetch with keepalive instead. False: the browser refused it.
  rewardLater(bandit, decision, value, key = newKey()) {
    const body = JSON.stringify(rewardBody(decision, value, key));
    const route = this.route(bandit, "rewards");
    if (!this.headers.Authorization && globalThis.navigator?.sendBeacon) return navigator.sendBeacon(route, body);
    fetch(route, { method: "POST", headers: this.headers, body, keepalive: true }).catch(() => {});
    return true;
  }

  route(bandit, verb) {
    return `${this.url}/v1/bandits/${encodeURIComponent(bandit)}/${verb}`;
  }

  async ask(bandit, verb, body) {
    const options = { method: "POST", headers: this.headers, body: JSON.stringify(body) };
    for (let attempt = 0; ; ++attempt) {
      const last = attempt === this.retries;
      const reply = await fetch(this.route(bandit, verb), { ...options, signal: AbortSignal.timeout(this.timeout) }).catch((error) => error);
      if (reply instanceof Error) {
        if (last) throw new ServiceError(0, `no answer from ${this.url}: ${reply.cause?.message ?? reply.message}`);
      } else if (!repeatable.has(reply.status) || last) {
        return await found(reply);
      }
      const asked = 1000 * Number(reply.headers?.get("Retry-After") ?? 0);
      await this.sleep(Math.min(asked || 100 * 2 ** attempt * (0.5 + Math.random() / 2), this.patience));
    }
  }
}

// Different for every reward. (crypto.randomUUID is not there on pages without https.)
function newKey() {
  return [0, 0].map(() => Math.random().toString(36).slice(2)).join("");
}

function named(decision) {
  if (typeof decision === "string") return { decision };
  if (typeof decision === "number") return { id: decision };
  return { id: decision.id, ...(decision.token ? { token: decision.token } : {}) };
}

const rewardBody = (decision, value, key) => ({ ...named(decision), value, key });

async function found(reply) {
  const object = await reply.json().catch(() => ({}));
  if (reply.ok || object.answer) return object;
  throw new ServiceError(reply.status, object.error ?? `the service answered ${reply.status}`);
}
