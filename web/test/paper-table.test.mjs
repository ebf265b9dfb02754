import assert from "node:assert/strict";
import { test } from "node:test";
import { downloaded, example, withPage } from "./browser.mjs";

const { table } = await example("reproduce");
const cell = (agent, env) => table.cells.find((entry) => entry.agent === agent && entry.env === env);
const lowest = (env) => Math.min(...table.cells.filter((entry) => entry.env === env).map(({ mean }) => mean));
const two = (value) => value.toFixed(2);

// What a copy button puts on the clipboard.
async function copied(page, name) {
  await page.evaluate(() => (navigator.clipboard.writeText = async (text) => void (window.copiedText = text)));
  await page.getByRole("button", { name: `Copy ${name}` }).click();
  await page.waitForFunction(() => window.copiedText !== undefined);
  return page.evaluate(() => window.copiedText);
}

const NUMBERS = ["mean", "std", "se", "median", "realizations", "paper_mean", "paper_spread", "difference", "difference_se"];

test("the table as CSV holds every number as given", () =>
  withPage("reproduce", { drawings: false }, async (page) => {
    const text = await copied(page, "CSV");
    const [head, ...rows] = text.trimEnd().split("\n").map((line) => line.split(","));
    assert.deepEqual(head, ["agent", "label", "environment", ...NUMBERS]);
    assert.equal(rows.length, table.cells.length);
    for (const row of rows) {
      const given = cell(row[0], row[2]);
      assert.equal(row[1], table.agents.find(({ agent }) => agent === row[0]).label);
      NUMBERS.forEach((name, i) => assert.equal(row[3 + i] === "" ? null : Number(row[3 + i]), given[name], `${row[0]} ${row[2]} ${name}`));
    }
    const file = await downloaded(page, page.locator("#table").getByRole("button", { name: "Download CSV" }));
    assert.equal(String(file.content), text);
  }));

test("the table as LaTeX holds our numbers, the paper's and the difference", () =>
  withPage("reproduce", { drawings: false }, async (page) => {
    const lines = (await copied(page, "LaTeX")).trimEnd().split("\n");
    const rows = lines.filter((line) => line.endsWith("\\\\")).map((line) => line.slice(0, -3).split(" & "));
    assert.equal(rows[0].join(" & "), `& ${table.environments.map(({ label }) => label).join(" & ")}`);
    let at = 1;
    for (const { agent, label, variant_of } of table.agents) {
      const cells = table.environments.map(({ env }) => cell(agent, env));
      const mean = (c) => (c.mean === lowest(c.env) ? `\\mathbf{${two(c.mean)}}` : two(c.mean));
      assert.deepEqual(rows[at++], [`${variant_of ? "\\quad " : ""}${label.replace("π", "$\\pi$")}`, ...cells.map((c) => `$${mean(c)} \\pm ${two(c.std)}$`)]);
      assert.deepEqual(rows[at++], ["\\quad standard error", ...cells.map((c) => `$${two(c.se)}$`)]);
      if (cells[0].paper_mean === null) continue;
      assert.deepEqual(rows[at++], ["\\quad paper", ...cells.map((c) => `$${two(c.paper_mean)} \\pm ${two(c.paper_spread)}$`)]);
      assert.deepEqual(rows[at++].slice(1).map((text) => Number(text.replaceAll("$", ""))), cells.map((c) => Number(c.difference_se.toFixed(1)) + 0)); // -0 + 0 is 0
    }
    assert.equal(at, rows.length);
    assert.ok(lines.includes("\\begin{tabular}{lcccccc}"));
  }));

test("the table as Markdown has a row for each method and the remarks", () =>
  withPage("reproduce", { drawings: false }, async (page) => {
    const lines = (await copied(page, "Markdown")).trimEnd().split("\n");
    const rows = lines.slice(2, 2 + table.agents.length).map((line) => line.slice(2, -2).split(" | "));
    rows.forEach((row, i) => {
      assert.equal(row[0], table.agents[i].label);
      table.environments.forEach(({ env }, j) => assert.ok(row[j + 1].replaceAll("*", "").startsWith(`${two(cell(table.agents[i].agent, env).mean)} ± `)));
    });
    assert.equal(lines.at(-1), "Census: first 15,317 of 2,458,285 rows.");
  }));

test("the text is shown and selected where the clipboard is closed", () =>
  withPage("reproduce", { drawings: false }, async (page) => {
    await page.evaluate(() => (navigator.clipboard.writeText = () => Promise.reject(new Error("closed"))));
    await page.getByRole("button", { name: "Copy CSV" }).click();
    const area = page.locator("#table textarea");
    await area.waitFor();
    const { value, chosen } = await area.evaluate((node) => ({ value: node.value, chosen: node.selectionEnd - node.selectionStart }));
    assert.match(value, /^agent,label,environment,/);
    assert.equal(chosen, value.length);
  }));

test("the table shows ours beside the paper's, the best bold, variants indented, remarks below", () =>
  withPage("reproduce", { drawings: false }, async (page) => {
    const rows = page.locator("#table tbody tr");
    assert.equal(await rows.count(), table.agents.length);
    for (const [i, { agent, variant_of }] of table.agents.entries()) {
      const cells = rows.nth(i).locator("td");
      const texts = await cells.allTextContents();
      const classes = await cells.evaluateAll((all) => all.map((node) => node.className));
      table.environments.forEach(({ env }, j) => {
        const { mean, std, se, paper_mean } = cell(agent, env);
        assert.ok(texts[j].startsWith(`${two(mean)} ± ${two(std)}se ${two(se)}`), texts[j]);
        assert.ok(texts[j].includes(paper_mean === null ? "not in the paper" : `paper ${two(paper_mean)} ± `), texts[j]);
        assert.equal(classes[j], mean === lowest(env) ? "best" : "");
      });
      assert.equal(await rows.nth(i).locator("th.variant").count(), variant_of ? 1 : 0);
    }
    assert.deepEqual(await page.locator(".remarks li").allTextContents(), ["Census: first 15,317 of 2,458,285 rows."]);
    assert.equal(await page.locator("#problems td.differs").count(), 2);
  }));
