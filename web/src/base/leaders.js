import { isNumber } from "./format.js";

// { best, ties }: the lowest mean, and the means within one standard error of
// the difference, sqrt(se² + se_best²), of it.
export function leaders(entries) {
  const known = entries.filter((e) => isNumber(e?.mean));
  const best = known.reduce((low, e) => (low && low.mean <= e.mean ? low : e), null);
  const ties = known.filter((e) => e !== best && e.mean - best.mean <= Math.hypot(e.se ?? 0, best.se ?? 0));
  return { best, ties };
}
