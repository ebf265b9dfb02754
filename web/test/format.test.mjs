import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../src/base/download.js";
import { fixed } from "../src/base/format.js";
import { tableMarkdown } from "../src/tables/paper-table-text.js";

test("a number that rounds to nothing has no sign", () => {
  assert.deepEqual([fixed(-0.04, 1), fixed(-0.06, 1), fixed(-0.4, 0), fixed(0.04, 1), fixed(-1234.5, 0)], ["0.0", "−0.1", "0", "0.0", "−1,235"]);
});

test("a difference that rounds to nothing is not below it", () => {
  const table = (difference_se) => ({ agents: [{ agent: "a", label: "A" }], environments: [{ env: "e", label: "E" }], cells: [{ agent: "a", env: "e", mean: 1, paper_mean: 1, difference_se }] });
  assert.match(tableMarkdown(table(-0.04)), /\+0\.0 se/);
  assert.match(tableMarkdown(table(-0.06)), /-0\.1 se/);
});

// RFC 4180, section 2.6 and 2.7.
test("CSV quotes commas, quotes and both characters of a line end", () => {
  assert.equal(csv([["a,b", 'say "x"', "c\rd", "e\nf", "g", null, 1.5]]), '"a,b","say ""x""","c\rd","e\nf",g,,1.5\n');
});
