// One regression of a mixture (posterior/feature_regressions.h): the covariance in units of the noise, the mean, and S
// draws of what coefficients differ from it. Fitted in double from sums, then updated in float. All functions are for a
// team of threads, which has a common view of the memory before and after.
#pragma once

#include "pits/cuda/last_layer/evidence.h"
#include "pits/cuda/last_layer/features.h"
#include "pits/cuda/normals.h"

namespace pits::cuda {

struct DrawRegression {
  float* covariance;  // (F,F)
  float* mean;        // (F)
  float* deviation;   // (S,F)
  double* sums;       // (F(F+1)/2) Σ φφᵀ, of a fit
  double* moment;     // (F) Σ φ r, of a fit
  RegressionTotals* totals;

  // As sum_up fills it.
  PITS_HOST_DEVICE Regression to_sum() const { return {sums, moment, nullptr, nullptr, nullptr, totals}; }
};

// The normal numbers of S draws of F coefficients of an action, as FeatureRegressions::redraw takes them.
struct DrawNumbers {
  Address address;
  int action, draws, features;

  PITS_HOST_DEVICE float operator()(int draw, int feature) const {
    return chunk_normal(address, (static_cast<std::int64_t>(action) * draws + draw) * features + feature);
  }
};

constexpr int drawn_together = 4;
static_assert(drawn_together <= panel);

// δ = Wᵀ z; `work` (panel,F) is scratch.
template <class Team>
PITS_HOST_DEVICE void draw_deviations(const Team& team, const double* W, const DrawNumbers& numbers, double* work,
                                      float* deviation) {
  const int F = numbers.features, S = numbers.draws;
  for (int first = 0; first < S; first += drawn_together) {
    const int count = S - first < drawn_together ? S - first : drawn_together;
    for (int e = team.thread; e < drawn_together * F; e += team.threads) {
      work[e] = e / F < count ? numbers(first + e / F, e % F) : 0.0;
    }
    team.sync();
    for (int c = team.thread; c < F; c += team.threads) {
      double sum[drawn_together] = {};
      for (int i = c; i < F; ++i) {
        const double w = W[packed(i, c)];
        for (int k = 0; k < drawn_together; ++k) sum[k] += w * work[k * F + i];
      }
      for (int k = 0; k < count; ++k)
        deviation[static_cast<std::int64_t>(first + k) * F + c] = static_cast<float>(sum[k]);
    }
    team.sync();
  }
}

// P = Wᵀ W
template <class Team>
PITS_HOST_DEVICE void find_covariance(const Team& team, int F, const double* W, float* covariance) {
  for (int q = team.thread; q < packed_size(F); q += team.threads) {
    const TrianglePlace at(q);
    double sum = 0.0;
    for (int k = at.row; k < F; ++k) sum += W[packed(k, at.row)] * W[packed(k, at.column)];
    covariance[at.row * F + at.column] = covariance[at.column * F + at.row] = static_cast<float>(sum);
  }
  team.sync();
}

// What a fitted regression says of the precisions. meanᵀ XᵀX mean = meanᵀ Xᵀy − Σ λ mean².
template <class Team>
PITS_HOST_DEVICE void find_terms(const Team& team, const LastLayerSettings& s, const DrawRegression& r,
                                 const double* mean, double explained, const double* precision, EvidenceTerms& out) {
  if (team.thread == 0) {
    double penalty = 0.0;
    for (int g = 0; g < s.groups; ++g) {
      double trace = 0.0, squares = 0.0;
      const auto first = static_cast<int>(s.group[g].first), last = first + static_cast<int>(s.group[g].count);
      for (int f = first; f < last; ++f) {
        trace += r.covariance[f * s.features + f];
        squares += mean[f] * mean[f];
      }
      out.gamma[g] = fmax(0.0, static_cast<double>(s.group[g].count) - precision[g] * trace);
      out.squares[g] = squares;
      penalty += precision[g] * squares;
    }
    out.residuals = fmax(0.0, r.totals->yy - explained - penalty);
    out.n = r.totals->n;
  }
  team.sync();
}

constexpr double largest_ridge = 1e6;

// `place` becomes W of the sums and precisions, with more of the latter where rounding leaves collinear features
// nothing else; `work` (panel,F) is scratch. Whether it has succeeded.
template <class Team>
PITS_HOST_DEVICE bool find_inverse_factor(const Team& team, const LastLayerSettings& s, const double* sums,
                                          const double* precision, double* place, double* work) {
  const int F = s.features;
  for (double ridge = 1.0; ridge <= largest_ridge; ridge *= 8.0) {
    for (int q = team.thread; q < packed_size(F); q += team.threads) place[q] = sums[q];
    team.sync();
    for (int f = team.thread; f < F; f += team.threads) place[packed(f, f)] += ridge * prior_of(s, precision, f);
    team.sync();
    const bool usable = invert_factor(team, F, place, work);
    team.sync();
    if (usable) return true;
  }
  return false;
}

// From the sums of at least one observation, with fresh draws; `place` (F(F+1)/2) and `work` (panel+1,F) are scratch.
// Whether it has succeeded.
template <class Team>
PITS_HOST_DEVICE bool fit(const Team& team, const LastLayerSettings& s, const DrawRegression& r,
                          const double* precision, const DrawNumbers& numbers, double* place, double* work,
                          EvidenceTerms& terms) {
  const int F = s.features;
  double* mean = work + panel * F;
  if (!find_inverse_factor(team, s, r.sums, precision, place, work)) return false;
  times(team, F, place, r.moment, work);
  transposed_times(team, F, place, work, mean);
  const double explained = dot(team, F, mean, r.moment);
  for (int f = team.thread; f < F; f += team.threads) r.mean[f] = static_cast<float>(mean[f]);
  if (team.thread == 0) r.totals->misfit = fmax(0.0, 0.5 * (r.totals->yy - explained));
  find_covariance(team, F, place, r.covariance);
  find_terms(team, s, r, mean, explained, precision, terms);
  draw_deviations(team, place, numbers, work, r.deviation);
  return true;
}

// As before any observation.
template <class Team>
PITS_HOST_DEVICE void start_anew(const Team& team, const LastLayerSettings& s, const DrawRegression& r,
                                 const double* precision, const DrawNumbers& numbers) {
  const int F = s.features;
  for (int e = team.thread; e < F * F; e += team.threads) {
    r.covariance[e] = e / F == e % F ? static_cast<float>(1.0 / prior_of(s, precision, e % F)) : 0.0F;
  }
  for (int e = team.thread; e < numbers.draws * F; e += team.threads) {
    const auto sd = static_cast<float>(1.0 / sqrt(prior_of(s, precision, e % F)));
    r.deviation[e] = sd * numbers(e / F, e % F);
  }
  for (int f = team.thread; f < F; f += team.threads) r.mean[f] = 0.0F;
  if (team.thread == 0) r.totals->n = r.totals->misfit = 0.0;
  team.sync();
}

// Σ_f a_f b_f: each warp by itself, all get it.
template <class Team>
PITS_HOST_DEVICE double float_dot(const Team& team, int n, const float* a, const float* b) {
  float sum = 0.0F;
  for (int f = team.lane; f < n; f += team.lanes) sum += a[f] * b[f];
  return team.lane_sum(sum);
}

// One more observation: features (F), its reward, and the noise (S) with which each draw sees it; `work` (F+S) is
// scratch.
template <class Team>
PITS_HOST_DEVICE void observe(const Team& team, int F, int S, const DrawRegression& r, const float* features,
                              float reward, const float* noise, float* work) {
  float *g = work, *step = work + F;  // Pφ; by how much of it each draw moves
  for (int c = team.thread; c < F; c += team.threads) {
    float sum = 0.0F;
    for (int k = 0; k < F; ++k) sum += r.covariance[k * F + c] * features[k];
    g[c] = sum;
  }
  team.sync();
  const auto predictive = static_cast<float>(1.0 + fmax(0.0, float_dot(team, F, features, g)));
  const auto residual = static_cast<float>(reward - float_dot(team, F, features, r.mean));
  for (int s = team.warp; s < S; s += team.warps) {
    const auto along = static_cast<float>(float_dot(team, F, r.deviation + static_cast<std::int64_t>(s) * F, features));
    if (team.lane == 0) step[s] = -(along + noise[s]) / predictive;
  }
  team.sync();
  for (int f = team.thread; f < F; f += team.threads) r.mean[f] += residual / predictive * g[f];
  for (int e = team.thread; e < S * F; e += team.threads) r.deviation[e] += step[e / F] * g[e % F];
  for (int e = team.thread; e < F * F; e += team.threads) r.covariance[e] -= g[e / F] * g[e % F] / predictive;
  if (team.thread == 0) {
    r.totals->n += 1.0;
    r.totals->misfit += 0.5 * residual * residual / predictive;
  }
  team.sync();
}

}  // namespace pits::cuda
