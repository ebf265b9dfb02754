export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
export const integer = (value) => (isNumber(value) ? grouped.format(value) : value);

// Decimals that give the largest of these values at least three significant digits.
export function decimalsFor(values) {
  const largest = Math.max(...values.filter(isNumber).map(Math.abs), 0);
  if (largest === 0) return 0;
  return Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(largest))));
}

export function fixed(value, decimals) {
  if (!isNumber(value)) return "–";
  const text = decimals ? value.toFixed(decimals) : grouped.format(value);
  // A negative number that rounds to nothing has no sign.
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

export function significant(value, digits = 3) {
  if (!isNumber(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(digits - 1).replace("-", "−");
  return size >= 1000 ? grouped.format(value) : String(Number(value.toPrecision(digits))).replace("-", "−");
}

export const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

export const counted = (count, noun) => `${integer(count)} ${noun}${count === 1 ? "" : "s"}`;
