// Writes every figure of a page as SVG and PNG: node export.mjs PAGE.html OUTDIR
import { access, mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const exists = (path) => access(path).then(() => true, () => false);

async function browserPath() {
  const candidates = process.env.CHROMIUM ? [process.env.CHROMIUM] : BROWSERS;
  for (const path of candidates) if (await exists(path)) return path;
  throw new Error(`no Chromium at ${candidates.join(", ")}; install it or name it in CHROMIUM`);
}

async function launch() {
  const { chromium } = await import("playwright-core").catch(() => {
    throw new Error("playwright-core is not installed; run npm ci in this folder");
  });
  return chromium.launch({ executablePath: await browserPath(), args: FLAGS });
}

async function exportFigures(browser, file, folder) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: "light" });
  await page.goto(pathToFileURL(resolve(file)).href);
  const ids = await page.evaluate(() => window.pitsFigures?.ids() ?? []);
  if (!ids.length) throw new Error(`${file} has no figures; a page written by pits is expected`);
  await mkdir(folder, { recursive: true });
  for (const id of ids) {
    await writeFile(join(folder, `${id}.svg`), await page.evaluate((name) => window.pitsFigures.svg(name), id));
    const png = await page.evaluate((name) => window.pitsFigures.png(name), id);
    await writeFile(join(folder, `${id}.png`), Buffer.from(png.split(",")[1], "base64"));
  }
  return ids.length;
}

async function main(file, folder) {
  if (!file || !folder) throw new Error("usage: node export.mjs PAGE.html OUTDIR");
  if (!(await exists(file))) throw new Error(`${file} does not exist`);
  const browser = await launch();
  try {
    const count = await exportFigures(browser, file, folder);
    console.log(`${folder}: ${count} figures as SVG and PNG`);
  } finally {
    await browser.close();
  }
}

try {
  await main(...process.argv.slice(2));
} catch (error) {
  console.error(`export.mjs: ${error.message}`);
  process.exitCode = 1;
}
