// MacKay's fixed point on the GPU (posterior/evidence.h), and the spread of draws (posterior/last_layers.h).
#pragma once

#include "pits/cuda/last_layer/regression.h"
#include "pits/cuda/last_layer/reward_units.h"

namespace pits::cuda {

// What a regression, or all of a particle's together, say at the present precisions.
struct EvidenceTerms {
  double gamma[most_prior_groups];    // coefficients of a group that the data find_evidence_terms
  double squares[most_prior_groups];  // Σ mean²
  double residuals, n;
};

PITS_HOST_DEVICE inline double prior_of(const LastLayerSettings& s, const double* precision, int feature) {
  int g = 0;
  while (feature >= s.group[g].first + s.group[g].count) ++g;
  return precision[g];
}

// Of one regression whose sums are in r.inverse; `place` (F(F+1)/2) and `work` (4,F) are scratch. Whether its precision
// has an inverse.
template <class Team>
PITS_HOST_DEVICE bool find_evidence_terms(const Team& team, const LastLayerSettings& s, const Regression& r,
                                          const double* precision, double* place, double* work, EvidenceTerms& out) {
  const int F = s.features;
  double *t = work, *mean = t + F, *traces = mean + F, *parts = traces + F;
  static_assert(panel <= 4, "invert_factor takes all of `work`");
  for (int q = team.thread; q < packed_size(F); q += team.threads) place[q] = r.inverse[q];
  team.sync();
  for (int f = team.thread; f < F; f += team.threads) place[packed(f, f)] += prior_of(s, precision, f);
  team.sync();
  const bool usable = invert_factor(team, F, place, work);
  times(team, F, place, r.moment, t);
  transposed_times(team, F, place, t, mean);
  for (int c = team.thread; c < F; c += team.threads) {  // column c of L⁻¹: its squares sum to Σ_cc
    double sum = 0.0;
    for (int i = c; i < F; ++i) sum += place[packed(i, c)] * place[packed(i, c)];
    traces[c] = sum;
  }
  const double fitted = quadratic(team, F, r.inverse, mean, parts), along = dot(team, F, mean, r.moment);
  if (team.thread == 0) {
    out.residuals = fmax(0.0, r.totals->yy - 2.0 * along + fitted);
    out.n = r.totals->n;
  }
  for (int g = team.thread; g < s.groups; g += team.threads) {
    double trace = 0.0, squares = 0.0;
    const auto first = static_cast<int>(s.group[g].first), last = first + static_cast<int>(s.group[g].count);
    for (int f = first; f < last; ++f) {
      trace += traces[f];
      squares += mean[f] * mean[f];
    }
    out.gamma[g] = static_cast<double>(s.group[g].count) - precision[g] * trace;
    out.squares[g] = squares;
  }
  team.sync();
  return usable;
}

// One step: the precisions (groups) of a particle from what its K regressions say.
PITS_HOST_DEVICE inline void step_precisions(const LastLayerSettings& s, const EvidenceTerms* of_actions, int K,
                                             double* precision) {
  EvidenceTerms d{};
  for (int a = 0; a < K; ++a) {
    for (int g = 0; g < s.groups; ++g) {
      d.gamma[g] += of_actions[a].gamma[g];
      d.squares[g] += of_actions[a].squares[g];
    }
    d.residuals += of_actions[a].residuals;
    d.n += of_actions[a].n;
  }
  double free = d.n;
  for (int g = 0; g < s.groups; ++g) free -= d.gamma[g];
  const double variance = (2.0 * s.config.noise_scale + d.residuals) / (2.0 * s.config.noise_shape + fmax(0.0, free));
  for (int g = 0; g < s.groups; ++g) {
    const CoefficientGroup& group = s.group[g];
    const double expected = group.variance > 0.0 ? group.variance : variance / group.expected;
    const double best = variance * (d.gamma[g] + group.weight) / (d.squares[g] + group.weight * expected);
    precision[g] = fmin(fmax(best, group.low), group.high);
  }
}

// σ² of a particle's regressions, (K) totals; each warp by itself.
template <class Team>
PITS_HOST_DEVICE double noise_variance(const Team& team, const LastLayerSettings& s, const RegressionTotals* totals,
                                       int K) {
  double n = 0.0, misfit = 0.0;
  for (int a = team.lane; a < K; a += team.lanes) {
    n += totals[a].n;
    misfit += totals[a].misfit;
  }
  return (s.config.noise_scale + team.lane_sum(misfit)) / (s.config.noise_shape + 0.5 * team.lane_sum(n));
}

// That of the networks' next training: in the rewards' own units, found in those of the last fit, and as 1/σ² in the
// units that were refreshed since, where it is below the networks' own.
PITS_HOST_DEVICE inline double in_raw_units(double variance, const RewardUnits& units) {
  return units.sd * units.sd * variance;
}
PITS_HOST_DEVICE inline float training_precision(float own, double raw_variance, const RewardUnits& units) {
  return fminf(own, static_cast<float>(units.sd * units.sd / raw_variance));
}

// κσ of an action; `shared` is the noise variance of all.
PITS_HOST_DEVICE inline double spread(const LastLayerSettings& s, const RewardUnits& units,
                                      const RegressionTotals& totals, double shared) {
  const double unseen = s.config.scale_prior * fmax(0.0, units.size - (units.high - units.low));
  const double scale_sd = fmin(unseen, LastLayerConstants::max_scale_sd * units.spread) / units.sd;
  const double pairs = 0.5 * totals.n;
  const double own =
      (LastLayerConstants::own_noise_pairs * shared + totals.misfit) / (LastLayerConstants::own_noise_pairs + pairs);
  const double faded =
      scale_sd * scale_sd * LastLayerConstants::scale_prior_pairs / (LastLayerConstants::scale_prior_pairs + pairs);
  const bool hardly_tried = pairs < 1.0 && s.config.posterior_scale > 0.0;
  const double kappa = hardly_tried ? fmax(1.0, s.config.posterior_scale) : s.config.posterior_scale;
  return kappa * sqrt(fmax(shared, own) + faded);
}

// A mean within the rewards seen and their margin.
PITS_HOST_DEVICE inline double bounded(const RewardUnits& units, double mean) {
  const double room = LastLayerConstants::margin * (units.high - units.low);
  const double low = (units.low - room - units.mean) / units.sd, high = (units.high + room - units.mean) / units.sd;
  return fmin(fmax(mean, low), high);
}

// A particle's part in what all agree on about an action, with φ (F); each warp by itself.
template <class Team>
PITS_HOST_DEVICE double bounded_mean(const Team& team, const LastLayerSettings& s, const RewardUnits& units,
                                     const Regression& r, const float* features) {
  double mean = 0.0;
  for (int f = team.lane; f < s.features; f += team.lanes) mean += r.mean[f] * features[f];
  return bounded(units, team.lane_sum(mean));
}

// What a particle thinks of an action, with φ (F) and the κσ above, where all agree on m̄; each warp by itself.
template <class Team>
PITS_HOST_DEVICE double action_value(const Team& team, const LastLayerSettings& s, const RewardUnits& units,
                                     const Regression& r, const float* features, double agreed, double shared) {
  double mean = 0.0, deviation = 0.0;
  for (int f = team.lane; f < s.features; f += team.lanes) {
    mean += r.mean[f] * features[f];
    deviation += r.deviation[f] * features[f];
  }
  mean = team.lane_sum(mean);
  deviation = team.lane_sum(deviation);
  if (s.config.optimistic) deviation = fmax(deviation, 0.0);
  const double own = s.config.mean_shrinkage * bounded(units, mean) + (1.0 - s.config.mean_shrinkage) * agreed;
  return own + spread(s, units, *r.totals, shared) * deviation;
}

}  // namespace pits::cuda
