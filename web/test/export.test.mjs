import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { example, filled } from "./browser.mjs";

const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
const WORDS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--virtual-time-budget=600000", "--dump-dom"];

// The figures in the tree that the browser dumps, read as pits reads them.
async function exported(kind) {
  const address = `${pathToFileURL(await filled(await example(kind), `export-${kind}`)).href}#export`;
  const { stdout } = await promisify(execFile)(BROWSER, [...WORDS, address], { maxBuffer: 1 << 28 });
  return JSON.parse(stdout.match(/<script[^>]*id="pits-figures"[^>]*>([^<]*)<\/script>/)[1]);
}

for (const [kind, count, one] of [["reproduce", 47, "benchmark-regret-statlog"], ["run", 14, "pits-wheel-spread"], ["sample", 4, null]]) {
  test(`#export gives every figure of a ${kind} page as SVG and PNG`, async () => {
    const figures = await exported(kind);
    assert.equal(figures.length, count);
    if (one) assert.ok(figures.some(({ id }) => id === one));
    for (const { id, svg, png } of figures) {
      assert.match(svg, /^<svg[^]*<path[^]*<\/svg>$/);
      const content = Buffer.from(png.replace("data:image/png;base64,", ""), "base64");
      assert.equal(content.subarray(1, 4).toString(), "PNG");
      // Width and height of a PNG stand at bytes 16 and 20.
      assert.ok(content.readUInt32BE(16) === 3 * 720 && content.readUInt32BE(20) > 300, id);
    }
  });
}
