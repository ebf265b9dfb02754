// The folders of src/ import from folders before them in README.md's list only.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";

const FOLDERS = ["base", "figure", "tables", "charts", "pages", "serve"];
const src = new URL("../src/", import.meta.url);

test("folders import from earlier folders", async () => {
  const found = (await readdir(src, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.deepEqual(found.sort(), [...FOLDERS].sort());
  for (const [place, folder] of FOLDERS.entries()) {
    for (const file of await readdir(new URL(`${folder}/`, src))) {
      const text = await readFile(new URL(`${folder}/${file}`, src), "utf8");
      for (const [, other] of text.matchAll(/from "\.\.\/([a-z]+)\//g)) {
        assert.ok(FOLDERS.slice(0, place).includes(other), `${folder}/${file} imports from ${other}/`);
      }
    }
  }
});
