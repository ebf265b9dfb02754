// Scale and axis of a logarithmic axis over positive values: ticks at the powers
// of ten, at 1, 2 and 5 times them when they span little, at all digits when they span less.
export function logAxis(values) {
  const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  const factors = high / low < 5 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : high / low < 100 ? [1, 2, 5] : [1];
  const powers = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) powers.push(power);
  const ticks = powers.flatMap((power) => factors.map((factor) => factor * 10 ** power));
  return { scale: { type: "log", nice: false, padding: 8 }, axis: { values: ticks, format: high >= 1e5 || low < 1e-4 ? "~e" : ",~g" } };
}
