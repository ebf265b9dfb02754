// The fit of a mixture's regressions on the GPU: for the team of threads of one regression, and of one set.
#pragma once

#include "pits/cuda/mixture/mixture_view.h"

namespace pits::cuda {

// The sums of what the history holds of an action, in the order of `order`; `memory` has the bytes of a tile.
template <class Team>
PITS_HOST_DEVICE void sum_action(const Team& team, const GroupView& group, const MixtureView& v, int g, int set, int a,
                                 void* memory) {
  const std::size_t rounds = static_cast<std::size_t>(g) * group.rounds;
  const std::int32_t* start = v.start + static_cast<std::size_t>(g) * (group.actions + 1);
  const TileRounds all{.contexts = group.contexts + rounds * group.context_stride,
                       .context_stride = group.context_stride,
                       .rewards_received = group.rewards_received + rounds,
                       .listed = v.order + rounds,
                       .first = start[a],
                       .count = start[a + 1] - start[a]};
  const FeatureMap& map = v.map(set);
  const Tile tile(map.network, map.settings.features, v.tile, memory);
  const float* theta = group.theta + (static_cast<std::int64_t>(g) * group.particles + set) * group.network.stride;
  sum_up(team, map.settings, map.network, v.is_linear(set) ? nullptr : theta, all, tile,
         v.regression(group, g, set, a).to_sum());
}

// The posterior of an action's sums, at the precisions of now; `place` and `work` as in fit().
template <class Team>
PITS_HOST_DEVICE void fit_action(const Team& team, const GroupView& group, const MixtureView& v, int g, int set, int a,
                                 double* place, double* work) {
  const DrawRegression r = v.regression(group, g, set, a);
  EvidenceTerms& terms = v.evidence_terms[v.number(g, set) * group.actions + a];
  if (r.totals->n == 0.0) {
    if (team.thread == 0) terms = {};
    team.sync();
    return;
  }
  const bool fitted =
      fit(team, v.map(set).settings, r, v.precision_of(g, set), v.numbers(group, g, set, a), place, work, terms);
  if (!fitted && team.thread == 0) v.singular[g] = 1;
}

// After the fit of all actions, or before the first: the precisions of the next one, and actions without observations.
template <class Team>
PITS_HOST_DEVICE void finish_set(const Team& team, const GroupView& group, const MixtureView& v, int g, int set) {
  const int K = group.actions;
  const LastLayerSettings& s = v.map(set).settings;
  if (team.thread == 0 && v.training[g].trainings > 0) {
    step_precisions(s, v.evidence_terms + v.number(g, set) * K, K, v.precision_of(g, set));
  }
  team.sync();
  for (int a = 0; a < K; ++a) {
    const DrawRegression r = v.regression(group, g, set, a);
    if (r.totals->n > 0.0) continue;
    start_anew(team, s, r, v.precision_of(g, set), v.numbers(group, g, set, a));
  }
}

}  // namespace pits::cuda
