// From the service's buckets of time to points of figures.

const MOST_POINTS = 60;
const Z = 1.959964;

// Neighbouring buckets joined until each group has its part of `weights`, so that few outcomes do not make a wild line.
// `apart(i)` starts a new group at a bucket that differs in kind from the one before.
export function groups(weights, least, apart = () => false) {
  const need = Math.max(least, weights.reduce((a, b) => a + b, 0) / MOST_POINTS);
  const found = [];
  let open = null;
  weights.forEach((weight, i) => {
    if (open && apart(i)) open = null;
    if (!open) found.push((open = { from: i, to: i, weight: 0 }));
    open.to = i + 1;
    open.weight += weight;
    if (open.weight >= need) open = null;
  });
  return found.filter((group) => group.weight > 0);
}

const sum = (list, { from, to }) => list.slice(from, to).reduce((a, b) => a + b, 0);

const span = (series, { from, to }, now) => {
  const start = series.start + from * series.seconds;
  return { start, end: Math.max(start, Math.min(now, series.start + to * series.seconds)) };
};

// Reward per decision, with the 95 % band of its mean. Decisions that still wait count with the default reward, until
// they settle: outcomes that came early are the good ones. Without a window (`waiting` is null) they do not count.
export function rewardPoints(series, now, waiting, defaultReward) {
  const awaited = waiting ?? series.outcomes.map(() => 0);
  const moving = series.outcomes.map((n, i) => awaited[i] > 0.01 * (n + awaited[i]));
  const counted = series.outcomes.map((n, i) => (n > 0 ? n + awaited[i] : 0));
  return groups(counted, 30, (i) => moving[i] !== moving[i - 1]).map((group) => {
    const late = sum(awaited, group), outcomes = sum(series.outcomes, group), n = outcomes + late;
    const mean = (sum(series.sum, group) + late * defaultReward) / n;
    const squares = sum(series.squares, group) + late * defaultReward ** 2;
    const half = n > 1 ? Z * Math.sqrt(Math.max(0, squares - n * mean * mean) / (n - 1) / n) : null;
    const { start, end } = span(series, group, now);
    return { time: (start + end) / 2, value: mean, half, outcomes, awaited: late, settling: moving[group.from] };
  });
}

// Events per second of each bucket; the last one has not ended yet.
export const ratePoints = (series, counts, now) =>
  counts.map((count, i) => {
    const { start, end } = span(series, { from: i, to: i + 1 }, now);
    return { time: (start + end) / 2, value: count / Math.max(end - start, 1) };
  });

// Shares of actions: [{start, end, decisions, shares}].
export const shareSpans = (series, now) =>
  groups(series.decisions, 20).map((group) => {
    const decisions = sum(series.decisions, group);
    return { ...span(series, group, now), decisions, shares: series.actions.map((counts) => sum(counts, group) / decisions) };
  });

// The actions to draw, those taken most often first: [{name, places, decisions}]; the last one may be all others.
export function drawnActions(series, actions, most = 8) {
  const total = (place) => series.actions[place].reduce((a, b) => a + b, 0);
  const name = (place) => (place < 50 && actions[place] ? actions[place].name + (actions[place].retired ? " (retired)" : "") : "other actions");
  const all = series.actions.map((_, place) => ({ name: name(place), places: [place], decisions: total(place) }));
  const ranked = all.filter((one) => one.decisions > 0).sort((a, b) => b.decisions - a.decisions);
  if (ranked.length <= most) return ranked;
  const rest = ranked.slice(most - 1);
  const others = { name: `${rest.length} other actions`, places: rest.flatMap((one) => one.places), decisions: rest.reduce((a, b) => a + b.decisions, 0) };
  return [...ranked.slice(0, most - 1), others];
}
