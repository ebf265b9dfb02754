// Points of the service's figures against plain sums.
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnActions, groups, ratePoints, rewardPoints, shareSpans } from "../src/serve/series.js";

const total = (list) => list.reduce((a, b) => a + b, 0);
const series = {
  start: 1000, seconds: 10,
  decisions: [50, 0, 100, 4, 60], rewards: [5, 0, 10, 0, 2],
  outcomes: [50, 0, 90, 4, 6], waiting: [0, 0, 0, 0, 54], sum: [10, 0, 27, 0, 6], squares: [10, 0, 27, 0, 6],
  actions: [[50, 0, 50, 0, 0], [0, 0, 50, 4, 0], [0, 0, 0, 0, 60]],
};

test("groups have all of the weight, in order, each with its part", () => {
  const weights = Array.from({ length: 200 }, (_, i) => (i * 7919) % 23);
  const found = groups(weights, 5);
  assert.equal(total(found.map((one) => one.weight)), total(weights));
  assert.ok(found.length <= 61);
  for (const [i, one] of found.entries()) {
    assert.equal(one.weight, total(weights.slice(one.from, one.to)));
    if (i) assert.ok(one.from >= found[i - 1].to);
  }
});

test("rewards have their mean and band; those that wait count with the default", () => {
  const points = rewardPoints(series, 1045, series.waiting, 0.5);
  assert.deepEqual(points.map((p) => [p.outcomes, p.awaited, p.settling]), [[50, 0, false], [90, 0, false], [4, 0, false], [6, 54, true]]);
  assert.equal(points[0].value, 10 / 50);
  const sd = Math.sqrt(((10 - 50 * 0.04) / 49));
  assert.ok(Math.abs(points[0].half - (1.959964 * sd) / Math.sqrt(50)) < 1e-12);
  assert.equal(points[3].value, (6 + 27) / 60);
  assert.equal(points[3].time, (1040 + 1045) / 2);
  const all = rewardPoints(series, 1050, null, 0.5);
  assert.equal(all.at(-1).value, 6 / 10); // without a window only outcomes count, joined until there are enough
});

test("the last bucket's rate is of the part that has passed", () => {
  const rates = ratePoints(series, series.decisions, 1045);
  assert.deepEqual(rates.map((p) => p.value), [5, 0, 10, 0.4, 12]);
});

test("shares sum to one", () => {
  for (const one of shareSpans(series, 1050)) assert.ok(Math.abs(total(one.shares) - 1) < 1e-12);
});

test("actions are drawn by how often they were taken, the rest together", () => {
  const names = ["a", "b", "c"].map((name) => ({ name, retired: name === "b" }));
  assert.deepEqual(drawnActions(series, names).map(({ name, decisions }) => [name, decisions]), [["a", 100], ["c", 60], ["b (retired)", 54]]);
  const two = drawnActions(series, names, 2);
  assert.deepEqual(two[1], { name: "2 other actions", places: [2, 1], decisions: 114 });
});
