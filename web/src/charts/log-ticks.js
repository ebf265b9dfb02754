// The largest of 1, 2 and 5 times a power of ten that is at most the number.
function niceStep(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  return power * [5, 2, 1].find((factor) => factor * power <= size);
}

function multiples(step, low, high) {
  const ticks = [];
  // Divided where the step is a fraction: 3 / 10 is 0.3, 3 * 0.1 is not.
  const at = (k) => (step < 1 ? k / Math.round(1 / step) : k * step);
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) ticks.push(at(k));
  return ticks;
}

// The ticks of a logarithmic axis from low to high, both positive: the powers of ten, 1, 2 and 5 times them where that
// spans little, all digits where it spans less, and equal steps where fewer than three digits fall into it.
export function logTicks(low, high) {
  if (!(high > low)) return [low];
  const factors = high / low < 5 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : high / low < 100 ? [1, 2, 5] : [1];
  const powers = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) powers.push(power);
  const ticks = powers.flatMap((power) => factors.map((factor) => Number(`${factor}e${power}`))).filter((tick) => tick >= low && tick <= high);
  return ticks.length < 3 && high / low < 5 ? multiples(niceStep((high - low) / 3), low, high) : ticks;
}
