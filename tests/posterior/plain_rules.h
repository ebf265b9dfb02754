// The rules of exact last layers by scalar loops in double, written from docs/regret.md and the formulas in
// posterior/evidence.h. They share no code with the CPU's or the GPU's version, and repeat their constants as numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "pits/core/random.h"

namespace pits::test {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

// Standardisation: mean and population standard deviation of all values, in two passes.
struct PlainScale {
  double mean = 0.0, sd = 1.0, low = 0.0, high = 0.0;
  double size = 0.0;  // root of the mean square
};

inline PlainScale plain_scale(const Row& values) {
  const auto n = static_cast<double>(values.size());
  PlainScale s{.low = *std::ranges::min_element(values), .high = *std::ranges::max_element(values)};
  double squares = 0.0, deviations = 0.0;
  for (const double v : values) {
    s.mean += v / n;
    squares += v * v / n;
  }
  for (const double v : values) deviations += (v - s.mean) * (v - s.mean) / n;
  s.sd = s.low < s.high ? std::sqrt(deviations) : 1.0;
  s.size = std::sqrt(squares);
  return s;
}

// At most ten standard deviations from the mean.
inline double plain_standardised(double x, const PlainScale& s) {
  return std::min(10.0, std::max(-10.0, (x - s.mean) / s.sd));
}

// Gauss and Jordan, with pivots.
inline Rows plain_inverse(Rows a) {
  const std::size_t F = a.size();
  Rows inverse(F, Row(F, 0.0));
  for (std::size_t i = 0; i < F; ++i) inverse[i][i] = 1.0;
  for (std::size_t c = 0; c < F; ++c) {
    std::size_t pivot = c;
    for (std::size_t i = c + 1; i < F; ++i) pivot = std::abs(a[i][c]) > std::abs(a[pivot][c]) ? i : pivot;
    std::swap(a[c], a[pivot]);
    std::swap(inverse[c], inverse[pivot]);
    const double scale = 1.0 / a[c][c];
    for (std::size_t j = 0; j < F; ++j) {
      a[c][j] *= scale;
      inverse[c][j] *= scale;
    }
    for (std::size_t i = 0; i < F; ++i) {
      const double factor = a[i][c];
      for (std::size_t j = 0; j < F && i != c; ++j) {
        a[i][j] -= factor * a[c][j];
        inverse[i][j] -= factor * inverse[c][j];
      }
    }
  }
  return inverse;
}

// The observations of one action: features (n,F) and rewards (n), in the networks' units.
struct PlainData {
  Rows x;
  Row y;
};

// y = x·β + ε, ε ~ N(0, σ²), β_f ~ N(0, σ²/prior_f).
struct PlainRegression {
  Row mean;
  Rows covariance;         // over σ²
  double residuals = 0.0;  // |y − X mean|²
  double misfit = 0.0;     // ½ min_β (|y − Xβ|² + Σ_f prior_f β_f²)

  PlainRegression(const PlainData& data, const Row& prior) : mean(prior.size(), 0.0) {
    const std::size_t F = prior.size();
    Rows precision(F, Row(F, 0.0));
    Row xy(F, 0.0);
    for (std::size_t f = 0; f < F; ++f) precision[f][f] = prior[f];
    for (std::size_t t = 0; t < data.y.size(); ++t) {
      for (std::size_t f = 0; f < F; ++f) {
        xy[f] += data.x[t][f] * data.y[t];
        for (std::size_t g = 0; g < F; ++g) precision[f][g] += data.x[t][f] * data.x[t][g];
      }
    }
    covariance = plain_inverse(precision);
    for (std::size_t f = 0; f < F; ++f) {
      for (std::size_t g = 0; g < F; ++g) mean[f] += covariance[f][g] * xy[g];
    }
    for (std::size_t t = 0; t < data.y.size(); ++t) {
      double residual = data.y[t];
      for (std::size_t f = 0; f < F; ++f) residual -= data.x[t][f] * mean[f];
      residuals += residual * residual;
    }
    misfit = 0.5 * residuals;
    for (std::size_t f = 0; f < F; ++f) misfit += 0.5 * prior[f] * mean[f] * mean[f];
  }
};

// Consecutive coefficients that share a prior precision, which is expected to be 1 with the weight of two coefficients.
struct PlainGroup {
  std::size_t first, count;
  double precision, low, high;
};

inline Row plain_prior(const std::vector<PlainGroup>& groups) {
  Row prior;
  for (const PlainGroup& g : groups) prior.insert(prior.end(), g.count, g.precision);
  return prior;
}

// The inverse-gamma prior of the noise variance: shape and scale.
struct PlainNoisePrior {
  double a0 = 2.0, b0 = 0.3;
};

// One step of MacKay's fixed point, over the actions that have data.
inline void plain_evidence_step(const std::vector<PlainData>& actions, const PlainNoisePrior& prior,
                                std::vector<PlainGroup>& groups) {
  const Row precisions = plain_prior(groups);
  Row gamma(groups.size(), 0.0), squares(groups.size(), 0.0);
  double residuals = 0.0, n = 0.0, determined = 0.0;
  for (const PlainData& data : actions) {
    if (data.y.empty()) continue;
    const PlainRegression r(data, precisions);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::size_t f = groups[g].first; f < groups[g].first + groups[g].count; ++f) {
        gamma[g] += 1.0 - precisions[f] * r.covariance[f][f];
        squares[g] += r.mean[f] * r.mean[f];
      }
    }
    residuals += r.residuals;
    n += static_cast<double>(data.y.size());
  }
  for (const double value : gamma) determined += value;
  const double variance = (2.0 * prior.b0 + residuals) / (2.0 * prior.a0 + std::max(0.0, n - determined));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double best = variance * (gamma[g] + 2.0) / (squares[g] + 2.0 * variance);
    groups[g].precision = std::min(groups[g].high, std::max(groups[g].low, best));
  }
}

// σ² of all actions together: b/a of the inverse-gamma posterior.
inline double plain_shared_noise(const std::vector<PlainData>& actions, const std::vector<PlainRegression>& fits,
                                 const PlainNoisePrior& prior) {
  double a = prior.a0, b = prior.b0;
  for (std::size_t k = 0; k < actions.size(); ++k) {
    a += 0.5 * static_cast<double>(actions[k].y.size());
    b += fits[k].misfit;
  }
  return b / a;
}

// How unsure the scale of the rewards is, in their own units: `doubt` times the part of their size that they have not
// varied by yet, at most 32 standard deviations.
inline double plain_doubt(double doubt, const PlainScale& rewards) {
  const double unseen = rewards.size - (rewards.high - rewards.low);
  return unseen > 0.0 ? std::min(doubt * unseen, 32.0 * rewards.sd) : 0.0;
}

// κσ of an action with n observations: its own noise where that is above the shared one, starting from it with the
// weight of two pairs, and the doubt, which fades as 1/(1 + n/2). With fewer than two observations κ is at least 1.
// `width`: how many of the networks' units a unit of the rewards is.
inline double plain_draw_sd(double kappa, double doubt, double width, double shared, double misfit, std::size_t n) {
  const double pairs = 0.5 * static_cast<double>(n);
  const double own = (2.0 * shared + misfit) / (2.0 + pairs);
  const double faded = std::pow(doubt * width, 2) / (1.0 + pairs);
  return (kappa > 0.0 && n < 2 ? std::max(1.0, kappa) : kappa) * std::sqrt(std::max(shared, own) + faded);
}

// Rounds of a problem with five actions: one that is noisier than the others, one pulled once, one never.
struct PlainRounds {
  static constexpr std::size_t d = 3, K = 5;
  std::vector<std::vector<float>> x;
  std::vector<std::size_t> action;
  std::vector<float> reward;

  // Rewards are base + amplitude · (signal + noise).
  PlainRounds(double base, double amplitude) {
    Stream stream({.seed = 91, .purpose = Purpose::target_sample});
    for (std::size_t t = 0; t < 120; ++t) {
      x.push_back({static_cast<float>(5.0 + stream.normal()), static_cast<float>(0.01 * stream.normal()),
                   static_cast<float>(stream.normal())});
      action.push_back(t == 60 ? 3 : t % 3);
      const double noise = action.back() == 2 ? 3.0 : 0.3;
      const double signal = 0.5 * x.back()[2] + static_cast<double>(action.back());
      reward.push_back(static_cast<float>(base + amplitude * (signal + noise * stream.normal())));
    }
  }

  Row column(std::size_t j) const {
    Row values;
    for (const auto& row : x) values.push_back(row[j]);
    return values;
  }
  PlainScale reward_scale() const { return plain_scale(Row(reward.begin(), reward.end())); }

  // Features of a linear model, the context and 1, and rewards; both standardised or as they come.
  std::vector<PlainData> data(bool standardised) const {
    std::vector<PlainData> out(K);
    const PlainScale r = reward_scale();
    for (std::size_t t = 0; t < x.size(); ++t) {
      Row row;
      for (std::size_t j = 0; j < d; ++j) {
        row.push_back(standardised ? plain_standardised(x[t][j], plain_scale(column(j))) : x[t][j]);
      }
      row.push_back(1.0);
      out[action[t]].x.push_back(row);
      out[action[t]].y.push_back(standardised ? (reward[t] - r.mean) / r.sd : reward[t]);
    }
    return out;
  }
};

// What a fit of those rounds with exact last layers must give.
struct PlainLastLayers {
  std::vector<PlainGroup> groups = {{0, PlainRounds::d, 1.0, 0.125, 512.0}, {PlainRounds::d, 1, 1.0, 0.125, 512.0}};
  std::vector<PlainRegression> fits;  // (K)
  double shared = 0.0;                // σ²
  double doubt = 0.0;                 // in the rewards' units
  Row draw_sd;                        // (K) κσ
  double low, high;                   // where means are kept: the rewards seen and a tenth of their range

  PlainLastLayers(const PlainRounds& rounds, bool standardised, double kappa, double doubt_factor) {
    const std::vector<PlainData> data = rounds.data(standardised);
    const PlainScale r = rounds.reward_scale();
    plain_evidence_step(data, {}, groups);
    for (const PlainData& of_action : data) fits.emplace_back(of_action, plain_prior(groups));
    shared = plain_shared_noise(data, fits, {});
    doubt = plain_doubt(doubt_factor, r);
    const double width = standardised ? 1.0 / r.sd : 1.0, room = 0.1 * (r.high - r.low);
    for (std::size_t a = 0; a < data.size(); ++a) {
      draw_sd.push_back(plain_draw_sd(kappa, doubt, width, shared, fits[a].misfit, data[a].y.size()));
    }
    low = standardised ? (r.low - room - r.mean) / r.sd : r.low - room;
    high = standardised ? (r.high + room - r.mean) / r.sd : r.high + room;
  }
};

// No doubt of the scale, some, and as much as is allowed.
struct PlainScenario {
  const char* name;
  double base, amplitude;
};
constexpr PlainScenario plain_scenarios[] = {{"around 0", 0.0, 1.0}, {"around 1", 1.0, 0.055}, {"far off", 50.0, 0.02}};

}  // namespace pits::test
