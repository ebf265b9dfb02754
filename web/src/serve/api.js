// Requests to the service that this page came from.
const KEY = "pits-api-key";

export const setKey = (key) => sessionStorage.setItem(KEY, key);
export const hasKey = () => Boolean(sessionStorage.getItem(KEY));

export class StatusError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// The JSON of a path. A StatusError is what the service answered; any other error means that it did not answer.
export async function get(path) {
  const key = sessionStorage.getItem(KEY);
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const reply = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(10000) });
  const text = await reply.text();
  if (reply.ok) return JSON.parse(text);
  let message = `status ${reply.status}`;
  try {
    message = JSON.parse(text).error ?? message;
  } catch {
    // not from the service itself
  }
  throw new StatusError(reply.status, message);
}

export const banditPath = (name, what) => `v1/bandits/${encodeURIComponent(name)}/${what}`;
