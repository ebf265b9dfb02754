// A round of a mixture on the GPU: features, decision, observation, and whether a training is due. Each function is for
// the team of threads of one realization, or of one set of it.
#pragma once

#include "pits/cuda/mixture/mixture_view.h"
#include "pits/posterior/mixture_rules.h"

namespace pits::cuda {

// The features of a set in rounds first .. first+count−1; `memory` has the bytes of a tile.
template <class Team>
PITS_HOST_DEVICE void find_features(const Team& team, const GroupView& group, const MixtureView& v, int g, int set,
                                    int first, int count, void* memory) {
  const FeatureMap& map = v.map(set);
  const int F = map.settings.features;
  const TileRounds o{.contexts = group.contexts + static_cast<std::size_t>(g) * group.rounds * group.context_stride,
                     .context_stride = group.context_stride,
                     .rewards_received = nullptr,
                     .listed = nullptr,
                     .first = first,
                     .count = count};
  const Tile tile(map.network, F, v.tile, memory);
  const float* theta = group.theta + (static_cast<std::int64_t>(g) * group.particles + set) * group.network.stride;
  feature_rows(team, map.settings, map.network, v.is_linear(set) ? nullptr : theta, o, tile);
  for (int e = team.thread; e < count * F; e += team.threads) {
    v.features_of(g, set, e / F)[e % F] = static_cast<float>(tile.rows[e / F * row_stride(F) + e % F]);
  }
  team.sync();
}

// How a decision begins, as Agent::choose has it: an action, or the row of a draw.
struct MixtureBeginning {
  int action;  // negative: the draw decides
  int row;     // set · S + draw
};

// The cold action that a decision is forced to take, or −1; drawn with `word`, where it is drawn.
PITS_HOST_DEVICE inline int forced_action(const GroupView& group, const DecisionSettings& choice,
                                          const std::uint32_t* pulls, int t, std::uint32_t word) {
  const long long K = group.actions, n = choice.initial_pulls;
  if (choice.cold_start == ColdStart::round_robin) return t < n * K ? static_cast<int>(t % K) : -1;
  if (t >= static_cast<long long>(cold_patience) * n * K) return -1;
  std::uint32_t cold = 0;
  for (int a = 0; a < K; ++a) cold += pulls[a] < n ? 1 : 0;
  if (cold == 0) return -1;
  std::uint32_t left = index_below(cold, word);
  for (int a = 0; a < K; ++a) {
    if (pulls[a] < n && left-- == 0) return a;
  }
  return -1;
}

// As Stream::categorical.
PITS_HOST_DEVICE inline int drawn_row(const MixtureView& v, int g, double u) {
  const int rows = v.sets * v.draws, linear = rows - v.draws;
  const double of_network = v.weight(g, 0) / v.draws, of_linear = v.weight(g, v.sets - 1) / v.draws;
  double total = 0.0;
  for (int row = 0; row < rows; ++row) total += row < linear ? of_network : of_linear;
  double left = u * total;
  int last = 0;
  for (int row = 0; row < rows; ++row) {
    const double weight = row < linear ? of_network : of_linear;
    if (weight == 0.0) continue;
    last = row;
    left -= weight;
    if (left < 0.0) break;
  }
  return last;
}

PITS_HOST_DEVICE inline MixtureBeginning begin_decision(const GroupView& group, const MixtureView& v,
                                                        const DecisionSettings& choice, int g, int t) {
  const auto words = decision_words(group, g, t);
  const double floor = choice.floor_at(t);
  const bool by_turns = choice.cold_start == ColdStart::round_robin;  // before the floor; drawn ones are mixed with it
  const bool by_chance = floor > 0.0 && uniform(words[0], words[1]) < floor;
  const int any = static_cast<int>(index_below(group.actions, words[2]));
  if (by_chance && !by_turns) return {any, 0};
  const int forced = forced_action(group, choice, v.pulls + static_cast<std::int64_t>(g) * group.actions, t,
                                   floor > 0.0 ? words[2] : words[0]);
  if (forced >= 0) return {forced, 0};
  if (by_chance) return {any, 0};
  return {-1, drawn_row(v, g, floor > 0.0 ? uniform(words[2], words[3]) : uniform(words[0], words[1]))};
}

// What every set expects of every action; a warp takes one of each at a time.
template <class Team>
PITS_HOST_DEVICE void find_set_means(const Team& team, const GroupView& group, const MixtureView& v, int g, int ahead) {
  const int K = group.actions;
  for (int e = team.warp; e < v.sets * K; e += team.warps) {
    const int set = e / K, a = e % K;
    const double mean = float_dot(team, v.map(set).settings.features, v.regression(group, g, set, a).mean,
                                  v.features_of(g, set, ahead));
    if (team.lane == 0) v.set_means[v.number(g, set) * K + a] = bounded(group.reward_units[g], mean);
  }
  team.sync();
}

// m̄ of an action: the mean of the sets by their weights.
PITS_HOST_DEVICE inline double weighted_mean(const GroupView& group, const MixtureView& v, int g, int a) {
  double sum = 0.0;
  for (int set = 0; set < v.sets; ++set) {
    sum += v.weight(g, set) * v.set_means[v.number(g, set) * group.actions + a];
  }
  return sum;
}

// κσ of a set and action with `ever` rewards since the start; `shared` is the noise variance of all its actions.
PITS_HOST_DEVICE inline double draw_sd(const LastLayerConfig& config, const RewardUnits& units,
                                       const RegressionTotals& totals, double ever, double shared) {
  using C = LastLayerConstants;
  const double unseen = config.scale_prior * fmax(0.0, units.size - (units.high - units.low));
  const double scale_sd = fmin(unseen, C::max_scale_sd * units.spread) / units.sd;
  const double own = (C::own_noise_pairs * shared + totals.misfit) / (C::own_noise_pairs + 0.5 * totals.n);
  return mixture_draw_sd(config.posterior_scale, scale_sd, totals.n, ever, fmax(shared, own));
}

// What a draw thinks of every action, into values (K): a warp takes an action at a time.
template <class Team>
PITS_HOST_DEVICE void find_values(const Team& team, const GroupView& group, const MixtureView& v, int g, int ahead,
                                  int row, double* values) {
  const int set = row / v.draws, draw = row % v.draws, F = v.map(set).settings.features;
  const LastLayerConfig& config = v.networks.settings.config;
  const double shared = v.noise(team, group, g, set);
  const std::uint32_t* ever = v.pulls + static_cast<std::int64_t>(g) * group.actions;
  for (int a = team.warp; a < group.actions; a += team.warps) {
    const DrawRegression r = v.regression(group, g, set, a);
    double deviation =
        float_dot(team, F, r.deviation + static_cast<std::int64_t>(draw) * F, v.features_of(g, set, ahead));
    if (team.lane != 0) continue;
    if (config.optimistic) deviation = fmax(0.0, deviation);
    const double agreed = weighted_mean(group, v, g, a), own = v.set_means[v.number(g, set) * group.actions + a];
    values[a] = agreed + config.mean_shrinkage * (own - agreed) +
                draw_sd(config, group.reward_units[g], *r.totals, ever[a], shared) * deviation;
  }
  team.sync();
}

// The models are scored by a reward in units that comes before they learn it. One thread.
PITS_HOST_DEVICE inline void score_models(const GroupView& group, const MixtureView& v, int g, int t, int action,
                                          double reward, double noise) {
  MixtureState& state = v.state[g];
  state.error = reward - weighted_mean(group, v, g, action);
  if (v.training[g].trainings == 0) return;  // before the first fit rewards have no unit
  const auto mean = [&](int set) { return v.set_means[v.number(g, set) * group.actions + action]; };
  double networks = 0.0;
  for (int set = 0; set + 1 < v.sets; ++set) networks += mean(set) / (v.sets - 1);
  state.lead = next_lead(state.lead, reward - networks, reward - mean(v.sets - 1), noise, t + 1.0);
  state.linear_weight = linear_weight(state.lead);
}

// Round t of realization g, number `ahead` of those whose features are known: the action, its reward, and what that
// says of the models. `values` (K) is scratch.
template <class Team>
PITS_HOST_DEVICE void decide(const Team& team, const GroupView& group, const MixtureView& v,
                             const DecisionSettings& choice, int g, int t, int ahead, double* values) {
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + t;
  find_set_means(team, group, v, g, ahead);
  const MixtureBeginning begun = begin_decision(group, v, choice, g, t);
  int action = begun.action;
  if (action < 0) {
    find_values(team, group, v, g, ahead, begun.row, values);
    action = 0;
    for (int a = 1; a < group.actions; ++a) {
      action = static_cast<float>(values[a]) > static_cast<float>(values[action]) ? a : action;
    }
  }
  const double noise = v.noise(team, group, g, 0);
  team.sync();  // all have read the weights and the pulls
  if (team.thread != 0) return;
  take_reward(group, g, round, action);
  ++v.pulls[static_cast<std::int64_t>(g) * group.actions + action];
  score_models(group, v, g, t, action, group.rewards_received[round], noise);
}

// A set learns round t; `memory` (2·width + 2·S floats) is scratch.
template <class Team>
PITS_HOST_DEVICE void learn(const Team& team, const GroupView& group, const MixtureView& v, int g, int set, int t,
                            int ahead, float* memory) {
  const int F = v.map(set).settings.features, S = v.draws;
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + t;
  float *features = memory, *noise = features + F, *work = noise + S;
  const Address address{.seed = group.seed,
                        .realization = group.realization[g],
                        .purpose = Purpose::observation_noise,
                        .step = static_cast<std::uint32_t>(t) + 1};
  for (int f = team.thread; f < F; f += team.threads) features[f] = v.features_of(g, set, ahead)[f];
  for (int s = team.thread; s < S; s += team.threads) noise[s] = chunk_normal(address, set * S + s);
  team.sync();
  observe(team, F, S, v.regression(group, g, set, group.actions_taken[round]), features, group.rewards_received[round],
          noise, work);
}

// Whether a training is due after round t, as Posterior::learn has it, and on what. `memory`
// (ChangeView::scratch_doubles) is scratch.
template <class Team>
PITS_HOST_DEVICE void end_round(const Team& team, const GroupView& group, const MixtureView& v, int g, int t,
                                double* memory) {
  TrainingState& training = v.training[g];
  const TrainingState before = training;
  const std::uint32_t seen = static_cast<std::uint32_t>(t) + 1, held = seen - before.forgotten;
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + t;
  std::uint64_t keeps = 0;
  if (v.change.features > 0 && before.trainings > 0) {
    keeps = notice_change(team, v.change, g, group.actions, group.actions_taken[round],
                          group.contexts + round * group.context_stride, v.state[g].error, v.noise(team, group, g, 0),
                          seen, memory);
  }
  team.sync();  // all have read the state
  if (team.thread != 0) return;
  TrainingState now = before;
  now.seen = seen;
  const bool changed = keeps > 0 && keeps < kept(group, now);
  now.trains = changed || seen - before.seen >= v.intervals[held] ? 1 : 0;
  now.refreshes = 0;
  if (changed) {
    now.forgotten = seen - static_cast<std::uint32_t>(keeps);
    now.units_at = 0;
  }
  if (now.trains == 0) {
    training.forgotten = now.forgotten;
    training.trains = training.refreshes = 0;
    return;
  }
  ++now.trainings;
  if (units_are_due(v.networks.settings.inputs, seen, now.units_at, group.capacity)) {
    now.refreshes = 1;
    now.units_at = seen;
  }
  training = now;
  *v.any_trains = 1;
}

}  // namespace pits::cuda
