import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const DESKTOP = { width: 1200, height: 900 };

export const read = (path) => readFile(new URL(`../${path}`, import.meta.url), "utf8");
export const readTemplate = () => (process.env.PITS_PAGE ? readFile(process.env.PITS_PAGE, "utf8") : read("dist/page.html"));
export const readService = () => (process.env.PITS_PAGE ? readFile(join(dirname(process.env.PITS_PAGE), "service.html"), "utf8") : read("dist/service.html"));
export const example = async (kind) => JSON.parse(await read(`examples/${kind}.json`));

let browser, folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "pits-page-"));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
});

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true });
});

// The path of a page filled with the data.
export async function filled(data, name = "page") {
  const file = join(folder, `${name}.html`);
  const template = await readTemplate();
  await writeFile(file, template.replace("__PITS_DATA__", () => JSON.stringify(data).replaceAll("<", "\\u003c")));
  return file;
}

export const newPage = (options) => browser.newPage({ viewport: DESKTOP, ...options });

export const drawn = (page) => page.waitForFunction(() => [...document.querySelectorAll("figure")].every((f) => f.dataset.state !== "waiting"));

// Opens a filled page, waits for its figures unless drawings is false, and afterwards
// holds it to silence: nothing on the console, nothing over the network.
export async function withData(data, { drawings = true, ...options }, check) {
  const page = await newPage(options);
  page.setDefaultTimeout(20000);
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || complaints.push(request.url()));
  await page.goto(pathToFileURL(await filled(data)).href);
  if (drawings) await drawn(page);
  await check(page);
  await page.close();
  assert.deepEqual(complaints, []);
}

export const withPage = async (kind, options, check) => withData(await example(kind), options, check);

export const states = (page) => page.$$eval("figure", (all) => all.map((f) => f.dataset.state));

export async function settles(measure, value) {
  for (let i = 0; i < 60 && (await measure()) !== value; i += 1) await new Promise((done) => setTimeout(done, 50));
  assert.equal(await measure(), value);
}

// The page does not scroll sideways, and no drawing is wider than it.
export async function fits(page, viewport) {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= viewport.width, `the page is ${width} px wide`);
  const drawings = await page.$$eval("svg.marks", (all) => all.map((svg) => svg.getBoundingClientRect().right));
  assert.ok(Math.max(...drawings) <= viewport.width, `a drawing ends at ${Math.max(...drawings)} px`);
}

// The download that a click starts: { name, content }.
export async function downloaded(page, button) {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: file.suggestedFilename(), content: await readFile(await file.path()) };
}

export async function followsScheme(page) {
  const background = (selector) => page.$eval(selector, (node) => getComputedStyle(node).backgroundColor);
  assert.equal(await background("body"), "rgb(20, 22, 26)");
  assert.equal(await background("figure svg.marks"), "rgb(20, 22, 26)");
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(() => {
    const all = [...document.querySelectorAll("figure")].map((figure) => figure.querySelector("svg.marks"));
    return all.every((svg) => svg?.style.backgroundColor === "rgb(255, 255, 255)");
  });
}
