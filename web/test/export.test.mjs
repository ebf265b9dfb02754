import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { example, filled } from "./browser.mjs";

const script = fileURLToPath(new URL("../export.mjs", import.meta.url));
const run = (...parameters) => promisify(execFile)(process.execPath, [script, ...parameters]);

async function exported(kind, check) {
  const folder = await mkdtemp(join(tmpdir(), "pits-export-"));
  try {
    await run(await filled(await example(kind), `export-${kind}`), join(folder, "figures"));
    await check(join(folder, "figures"), await readdir(join(folder, "figures")));
  } finally {
    await rm(folder, { recursive: true });
  }
}

for (const [kind, count, one] of [["reproduce", 47, "benchmark-regret-statlog"], ["run", 6, "pits-wheel-regret"], ["sample", 4, null]]) {
  test(`every figure of a ${kind} page is written as SVG and PNG`, () =>
    exported(kind, async (folder, names) => {
      assert.equal(names.filter((name) => name.endsWith(".svg")).length, count);
      assert.equal(names.filter((name) => name.endsWith(".png")).length, count);
      if (one) assert.ok(names.includes(`${one}.svg`));
      for (const name of names) {
        const content = await readFile(join(folder, name));
        if (name.endsWith(".png")) assert.equal(content.subarray(1, 4).toString(), "PNG");
        else assert.match(String(content), /^<svg[^]*<path[^]*<\/svg>$/);
        // The height of a PNG stands at byte 20.
        if (name.endsWith(".png")) assert.ok(content.readUInt32BE(16) === 3 * 720 && content.readUInt32BE(20) > 300, name);
      }
    }));
}

test("a page without figures and a missing page are refused with one line", async () => {
  await assert.rejects(run("nowhere.html", "out"), ({ code, stderr }) => code === 1 && stderr === "export.mjs: nowhere.html does not exist\n");
  await assert.rejects(run(), ({ code, stderr }) => code === 1 && stderr.startsWith("export.mjs: usage"));
});
