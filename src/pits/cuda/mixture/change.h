// Whether the world has changed (posterior/forgetting.h), by a team of threads: its warps share the regressions of an
// action.
#pragma once

#include "pits/cuda/last_layer/team.h"
#include "pits/cuda/normals.h"
#include "pits/posterior/forgetting_rules.h"

namespace pits::cuda {

struct TrackerTimes {
  std::uint32_t updated, updates;  // the observation of the last update, and their number; 0: nothing learned
};

// Of a realization.
struct ChangeState {
  double scores[ForgettingConstants::trackers];
  double error;
};

// A regression with a short memory.
struct Tracker {
  double *mean, *covariance;  // (F), (F,F)
  TrackerTimes* times;
  int features;  // F
  double discount;
};

// All arrays are on the GPU.
struct ChangeView {
  int inputs;               // numbers of a context in units
  int features;             // F of the regressions on contexts; 0: nothing is forgotten
  double* numbers;          // (G,K,numbers_per_action)
  TrackerTimes* times;      // (G,K,trackers)
  ChangeState* state;       // (G)
  const float* projection;  // (G,F − 1,inputs), or null

  static constexpr int memories = ForgettingConstants::memories, trackers = ForgettingConstants::trackers;

  PITS_HOST_DEVICE static int features_of(int inputs) {
    return (inputs < ForgettingConstants::most_inputs ? inputs : ForgettingConstants::most_inputs) + 1;
  }
  PITS_HOST_DEVICE static std::int64_t numbers_per_action(int F) {
    return memories * (2 + static_cast<std::int64_t>(F) * (F + 1));
  }
  PITS_HOST_DEVICE static int scratch_doubles(int F) { return F + trackers * (F + 3); }

  // Number i of action `action`, counted through all realizations; the first are of the action alone.
  PITS_HOST_DEVICE Tracker tracker(std::int64_t action, int i) const {
    const bool linear = i >= memories;
    const int F = linear ? features : 1;
    const std::int64_t before = linear ? 2 * memories + static_cast<std::int64_t>(i - memories) * F * (F + 1) : 2 * i;
    double* mean = numbers + action * numbers_per_action(features) + before;
    return {mean, mean + F, times + action * trackers + i, F, discount_of(i % memories)};
  }
};

// Scratch memory of one observation.
struct ChangeScratch {
  double* x;         // (F) the features
  double* g;         // (trackers,F) a direction times the covariance
  double* residual;  // (trackers) what is left of the error
  double* factor;    // (trackers) the discount since the last update
  double* pivot;     // (trackers) the mean's coordinate to which the prior returns
  int F;

  PITS_HOST_DEVICE ChangeScratch(double* memory, int features)
      : x(memory),
        g(x + features),
        residual(g + ChangeView::trackers * features),
        factor(residual + ChangeView::trackers),
        pivot(factor + ChangeView::trackers),
        F(features) {}
  // Of tracker i: its features are the last ones.
  PITS_HOST_DEVICE const double* features(const Tracker& t) const { return x + F - t.features; }
};

template <class Team>
PITS_HOST_DEVICE void find_change_features(const Team& team, const ChangeView& v, int g, const float* z, double* x) {
  const int F = v.features;
  for (int l = team.thread; l < F; l += team.threads) {
    double value = l == F - 1 ? 1.0 : v.projection == nullptr ? z[l] : 0.0;
    if (l < F - 1 && v.projection != nullptr) {
      const float* row = v.projection + (static_cast<std::int64_t>(g) * (F - 1) + l) * v.inputs;
      for (int j = 0; j < v.inputs; ++j) value += double{row[j]} * z[j];
    }
    x[l] = value;
  }
  team.sync();
}

// The weight of all that it knows falls. The prior returns as fast, one coordinate per update: the first half finds
// the direction, the second moves. Each warp its tracker.
template <class Team>
PITS_HOST_DEVICE void begin_discount(const Team& team, const Tracker& t, double factor, double* g, double* pivot) {
  const int F = t.features, i = static_cast<int>(t.times->updates % static_cast<std::uint32_t>(F));
  const bool whole = t.times->updates == 0 || factor < ForgettingConstants::least_factor;
  for (int l = team.lane; l < F; l += team.lanes) g[l] = whole ? 0.0 : t.covariance[l * F + i] / factor;
  if (team.lane == 0) *pivot = whole ? 0.0 : t.mean[i];
}
template <class Team>
PITS_HOST_DEVICE void end_discount(const Team& team, const Tracker& t, double factor, const double* g, double pivot) {
  using C = ForgettingConstants;
  const int F = t.features, i = static_cast<int>(t.times->updates % static_cast<std::uint32_t>(F));
  const bool unknown = t.times->updates == 0, whole = unknown || factor < C::least_factor;
  if (!whole && factor >= 1.0) return;
  const double information = (1.0 - factor) * C::prior * F, weight = information / (1.0 + information * g[i]);
  for (int e = team.lane; e < F * F; e += team.lanes) {
    const bool diagonal = e / F == e % F;
    t.covariance[e] =
        whole ? (diagonal ? 1.0 / C::prior : 0.0) : t.covariance[e] / factor - weight * g[e / F] * g[e % F];
  }
  for (int l = team.lane; l < F; l += team.lanes) {
    const double mean = unknown ? 0.0 : t.mean[l];
    t.mean[l] = whole ? factor * mean : mean - weight * pivot * g[l];
  }
}

// Recursive least squares: the direction Pφ, and the step along it.
template <class Team>
PITS_HOST_DEVICE void begin_step(const Team& team, const Tracker& t, const double* x, double* g) {
  const int F = t.features;
  for (int r = team.lane; r < F; r += team.lanes) {
    double sum = 0.0;
    for (int c = 0; c < F; ++c) sum += t.covariance[r * F + c] * x[c];
    g[r] = sum;
  }
}
template <class Team>
PITS_HOST_DEVICE void end_step(const Team& team, const Tracker& t, const double* x, const double* g, double residual,
                               std::uint32_t seen) {
  const int F = t.features;
  double part = 0.0;
  for (int l = team.lane; l < F; l += team.lanes) part += g[l] * x[l];
  const double predictive = 1.0 + team.lane_sum(part);
  for (int l = team.lane; l < F; l += team.lanes) t.mean[l] += residual / predictive * g[l];
  for (int e = team.lane; e < F * F; e += team.lanes) t.covariance[e] -= g[e / F] * g[e % F] / predictive;
  if (team.lane == 0) *t.times = {seen, t.times->updates + 1};
}

// One observation of an action of realization g, as Forgetting::observe: z is its context in units, `error` what the
// mixture missed, `noise` the variance that it expects. `memory` (scratch_doubles) is scratch. How many of the last
// observations are worth keeping, where a change was found, else 0; all threads get it.
template <class Team>
PITS_HOST_DEVICE std::uint64_t notice_change(const Team& team, const ChangeView& v, int g, int actions, int action,
                                             const float* z, double error, double noise, std::uint32_t seen,
                                             double* memory) {
  constexpr int trackers = ChangeView::trackers;
  const ChangeScratch s(memory, v.features);
  const std::int64_t of_action = static_cast<std::int64_t>(g) * actions + action;
  ChangeState& state = v.state[g];
  find_change_features(team, v, g, z, s.x);
  const double mean_error = next_error(state.error, error), unit = fmax(mean_error, noise);
  for (int i = team.warp; i < trackers; i += team.warps) {
    const Tracker t = v.tracker(of_action, i);
    double part = 0.0;
    for (int l = team.lane; l < t.features; l += team.lanes) {
      part += t.times->updates == 0 ? 0.0 : t.mean[l] * s.features(t)[l];
    }
    const double residual = error - team.lane_sum(part);
    const double factor = pow(t.discount, static_cast<double>(seen - t.times->updated));
    if (team.lane == 0) {
      state.scores[i] = next_score(state.scores[i], error, residual, unit);
      s.residual[i] = residual;
      s.factor[i] = factor;
    }
    begin_discount(team, t, factor, s.g + i * s.F, s.pivot + i);
  }
  team.sync();
  for (int i = team.warp; i < trackers; i += team.warps) {
    end_discount(team, v.tracker(of_action, i), s.factor[i], s.g + i * s.F, s.pivot[i]);
  }
  team.sync();
  for (int i = team.warp; i < trackers; i += team.warps) {
    const Tracker t = v.tracker(of_action, i);
    begin_step(team, t, s.features(t), s.g + i * s.F);
  }
  team.sync();
  for (int i = team.warp; i < trackers; i += team.warps) {
    const Tracker t = v.tracker(of_action, i);
    end_step(team, t, s.features(t), s.g + i * s.F, s.residual[i], seen);
  }
  if (team.thread == 0) state.error = mean_error;
  const std::uint64_t kept = kept_after_change(state.scores);
  team.sync();
  if (kept == 0) return 0;
  for (int e = team.thread; e < actions * trackers; e += team.threads) {
    v.times[static_cast<std::int64_t>(g) * actions * trackers + e] = {0, 0};
  }
  if (team.thread == 0) {
    for (double& score : state.scores) score = 0.0;
  }
  team.sync();
  return kept;
}

}  // namespace pits::cuda
