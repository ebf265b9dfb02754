// The service's page: asks for the numbers every two seconds and shows them.
import { element } from "../base/dom.js";
import { integer, significant } from "../base/format.js";
import { banditPath, get, hasKey, setKey, StatusError } from "./api.js";
import { banditView, tile } from "./bandit-view.js";
import { createFirst } from "./commands.js";
import { clock } from "./svg.js";

const EVERY = 2000;
const place = (id) => document.getElementById(id);
const utcNow = () => `${clock(Date.now() / 1000)} UTC`;

const serverFacts = element("dl", { class: "server" });
const bandits = element("nav", { class: "bandits", "aria-label": "Bandits" });
place("top").append(element("h1", {}, "pits"), serverFacts, bandits);

let view = null, lastAnswer = null, lostSince = null, timer = null, round = 0;

const chosen = () => decodeURIComponent(location.hash.slice(1));

function duration(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = Math.max(0, units.findIndex(([, size]) => seconds >= size));
  const [unit, size] = units[first];
  const smaller = units[first + 1];
  const left = smaller ? Math.floor((seconds % size) / smaller[1]) : 0;
  return `${Math.floor(seconds / size)} ${unit}${left ? ` ${left} ${smaller[0]}` : ""}`;
}

function latency(micros) {
  return micros >= 1000 ? `${significant(micros / 1000)} ms` : `${significant(micros)} µs`;
}

function showServer(server) {
  const { p50, p99, p999 } = server.latency_us;
  serverFacts.replaceChildren(
    tile("requests", `${significant(server.requests_per_second)}/s`),
    tile("latency p50", latency(p50)),
    tile("p99", latency(p99)),
    tile("p99.9", latency(p999)),
    tile("connections", integer(server.open_connections)),
    tile("up for", duration(Math.floor(server.uptime_s))),
  );
  place("footer").textContent = `pits ${server.version}. Times are UTC. Asked every ${EVERY / 1000} seconds, last at ${utcNow()}.`;
}

// Banners: [{kind, text}]; the same ones are left alone, so that they are read out once.
function showBanners(list) {
  const box = place("banners");
  const words = list.map(({ kind, text }) => `${kind}:${text}`).join("\n");
  if (box.dataset.words === words) return;
  box.dataset.words = words;
  const signs = { problem: "⚠ Problem: ", lost: "✕ ", note: "ℹ " };
  box.replaceChildren(...list.map(({ kind, text }) => element("p", { class: `banner ${kind}` }, element("strong", {}, signs[kind]), text)));
}

function problemsOf(server, list, state) {
  const texts = [...server.problems];
  for (const bandit of list) if (bandit.problem) texts.push(bandit.problem);
  if (state?.problem) texts.push(`${state.name}: ${state.problem}`);
  const found = [...new Set(texts)].filter((text) => !texts.some((other) => other !== text && other.endsWith(`: ${text}`)));
  const banners = found.map((text) => ({ kind: "problem", text }));
  if (server.draining && !found.length) banners.push({ kind: "note", text: "The service is stopping: it finishes what it has begun and takes nothing new." });
  return banners;
}

function showBandits(list, name) {
  const known = [...bandits.children].map((link) => link.textContent).join("\n");
  if (known !== list.map((one) => one.name).join("\n")) {
    bandits.replaceChildren(...list.map((one) => element("a", { href: `#${encodeURIComponent(one.name)}` }, one.name)));
  }
  for (const link of bandits.children) {
    if (link.textContent === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = name ? `${name} – pits` : "pits";
}

function show(...nodes) {
  view = null;
  place("page").replaceChildren(...nodes);
}

function askKey(wrong) {
  const input = element("input", { type: "password", id: "key", autocomplete: "off", required: "" });
  const submit = (event) => {
    event.preventDefault();
    setKey(input.value.trim());
    show(element("p", { class: "loading" }, "Asking the service …"));
    poll();
  };
  const text = wrong ? "The service does not take this key. It needs one that may read." : "The service asks for an API key that may read. It is kept in this tab only, until it is closed.";
  show(element("form", { class: "key", onsubmit: submit }, element("h2", {}, "API key"), element("p", {}, text), element("label", { for: "key" }, "Key"), input, element("button", { type: "submit" }, "Show the page")));
  showBanners([]);
  input.focus();
}

async function showBandit(name, mine) {
  const [state, statistics] = await Promise.all([get(banditPath(name, "state")), get(banditPath(name, "statistics"))]);
  if (mine !== round) return state;
  if (view?.name !== name) {
    view = { ...banditView(), name };
    place("page").replaceChildren(view.node);
  }
  view.update(state, statistics);
  return state;
}

async function refresh(mine) {
  const [{ bandits: list }, server] = await Promise.all([get("v1/bandits"), get("v1/server")]);
  if (mine !== round) return;
  const name = list.some((one) => one.name === chosen()) ? chosen() : (list[0]?.name ?? "");
  const entry = list.find((one) => one.name === name);
  showServer(server);
  showBandits(list, name);
  let state = null;
  if (!entry) show(createFirst());
  else if (entry.ready === false) show(element("p", { class: "loading" }, `${name} is not ready: its log is being recovered, or cannot be opened.`));
  else state = await showBandit(name, mine);
  if (mine === round) showBanners(problemsOf(server, list, state));
}

function failed(error) {
  lostSince ??= lastAnswer ?? utcNow();
  const answered = error instanceof StatusError;
  const text = answered ? `The service answers, but not with numbers (${error.status}): ${error.message}` : `No connection since ${lostSince}. The numbers below are of that time; the page goes on trying.`;
  showBanners([{ kind: answered ? "problem" : "lost", text }]);
  document.body.classList.toggle("stale", true);
}

const needsKey = (error) => error instanceof StatusError && (error.status === 401 || error.status === 403);
const asking = () => Boolean(document.querySelector("form.key"));

async function poll() {
  clearTimeout(timer);
  if (asking()) return;
  const mine = (round += 1);
  try {
    await refresh(mine);
    if (mine !== round) return;
    lastAnswer = utcNow();
    lostSince = null;
    document.body.classList.toggle("stale", false);
  } catch (error) {
    if (mine !== round) return;
    if (needsKey(error)) return askKey(hasKey());
    failed(error);
  }
  if (!document.hidden) timer = setTimeout(poll, EVERY);
}

addEventListener("hashchange", poll);
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : poll()));
show(element("p", { class: "loading" }, "Asking the service …"));
poll();
