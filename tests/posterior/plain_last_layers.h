// An agent with exact last layers on the contexts themselves (model=linear), round by round, by the plain loops of
// plain_rules.h: what it thinks of every action after every round. Nothing here uses the code under test; the draws z
// come from the random stream that last layers document.
#pragma once

#include "posterior/plain_rules.h"

namespace pits::test {

inline double dot(const Row& a, const Row& b) {
  double s = 0.0;
  for (std::size_t l = 0; l < a.size(); ++l) s += a[l] * b[l];
  return s;
}

inline double frobenius(const Rows& a) {
  double s = 0.0;
  for (const Row& row : a) s += dot(row, row);
  return std::sqrt(s);
}

// ‖P‖‖P⁻¹‖ of a regression's precision: by how much relative errors of its sums grow.
inline double plain_condition(const PlainRegression& r) {
  return frobenius(r.covariance) * frobenius(plain_inverse(r.covariance));
}

// Lᵀ⁻¹ z with L Lᵀ = precision: a draw of β − mean in units of the noise.
inline Row plain_deviation(const PlainRegression& r, const Row& z) {
  const Rows precision = plain_inverse(r.covariance);
  const std::size_t F = precision.size();
  Rows lower(F, Row(F, 0.0));
  for (std::size_t i = 0; i < F; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double s = precision[i][j];
      for (std::size_t k = 0; k < j; ++k) s -= lower[i][k] * lower[j][k];
      lower[i][j] = i == j ? std::sqrt(s) : s / lower[j][j];
    }
  }
  Row u(F, 0.0);
  for (std::size_t i = F; i-- > 0;) {
    double s = z[i];
    for (std::size_t k = i + 1; k < F; ++k) s -= lower[k][i] * u[k];
    u[i] = s / lower[i][i];
  }
  return u;
}

// Settings of such an agent, which standardises and is trained every `train_every` rounds.
struct PlainSettings {
  std::size_t actions, particles, train_every;
  double posterior_scale, scale_prior;
  Address address;  // seed and realization
};

class PlainLearner {
 public:
  explicit PlainLearner(const PlainSettings& settings) : s_(settings) {}

  void learn(const std::vector<float>& x, std::size_t action, float reward) {
    contexts_.emplace_back(x.begin(), x.end());
    played_.push_back(action);
    rewards_.push_back(reward);
    if (rewards_.size() % s_.train_every == 0) train();
    if (groups_.empty()) return;
    fits_.clear();
    for (const PlainData& of_action : data()) fits_.emplace_back(of_action, plain_prior(groups_));
  }

  // r_i(x, a) of every action, in the rewards' own units.
  Row rewards(std::size_t particle, const std::vector<float>& x) const {
    const Row phi = features({x.begin(), x.end()});
    const double room = 0.1 * (scale_.high - scale_.low), shared = plain_shared_noise(data(), fits_, {});
    const double doubt = plain_doubt(s_.scale_prior, scale_);
    Row out;
    for (std::size_t a = 0; a < s_.actions; ++a) {
      const double mean =
          std::clamp(dot(fits_[a].mean, phi), standardised(scale_.low - room), standardised(scale_.high + room));
      const double sd = plain_draw_sd(s_.posterior_scale, doubt, 1.0 / scale_.sd, shared, fits_[a].misfit, pulls(a));
      const double offset = sd * dot(plain_deviation(fits_[a], z_[particle * s_.actions + a]), phi);
      out.push_back(scale_.mean + scale_.sd * (mean + offset));
    }
    return out;
  }

  // σ_a in the rewards' own units, without the doubt of their scale; of an action that was played twice or more.
  double noise_sd(std::size_t a) const {
    return scale_.sd * plain_draw_sd(1.0, 0.0, 1.0, plain_shared_noise(data(), fits_, {}), fits_[a].misfit, pulls(a));
  }

  // By how much values may differ from those of a library that sums products of features in single precision: a sum of
  // n products has a relative error of at most 4√n·2⁻²⁴ (Higham and Mary 2019), which the condition of the regression
  // amplifies. In the rewards' own units; for values of one standard deviation, and as many times it for larger ones.
  double tolerance() const {
    double condition = 1.0;
    for (const PlainRegression& r : fits_) condition = std::max(condition, plain_condition(r));
    return condition * 4.0 * std::sqrt(static_cast<double>(rewards_.size())) * std::ldexp(1.0, -24) * scale_.sd;
  }

  double standardised(double reward) const { return (reward - scale_.mean) / scale_.sd; }

 private:
  void train() {
    columns_.clear();
    const std::size_t d = contexts_.front().size();
    for (std::size_t j = 0; j < d; ++j) {
      Row column;
      for (const Row& x : contexts_) column.push_back(x[j]);
      columns_.push_back(plain_scale(column));
    }
    scale_ = plain_scale(rewards_);
    if (groups_.empty()) groups_ = {{0, d, 1.0, 0.125, 512.0}, {d, 1, 1.0, 0.125, 512.0}};
    plain_evidence_step(data(), {}, groups_);
    Address address = s_.address;
    address.purpose = Purpose::last_layer;
    address.step = ++trainings_;
    Stream stream(address);
    z_.assign(s_.particles * s_.actions, Row(d + 1));
    for (Row& z : z_) {
      for (double& value : z) value = stream.normal();
    }
  }

  std::vector<PlainData> data() const {
    std::vector<PlainData> data(s_.actions);
    for (std::size_t t = 0; t < rewards_.size(); ++t) {
      data[played_[t]].x.push_back(features(contexts_[t]));
      data[played_[t]].y.push_back(standardised(rewards_[t]));
    }
    return data;
  }

  Row features(const Row& x) const {
    Row phi;
    for (std::size_t j = 0; j < x.size(); ++j) phi.push_back(plain_standardised(x[j], columns_[j]));
    phi.push_back(1.0);
    return phi;
  }

  std::size_t pulls(std::size_t a) const { return static_cast<std::size_t>(std::ranges::count(played_, a)); }

  PlainSettings s_;
  Rows contexts_;
  std::vector<std::size_t> played_;
  Row rewards_;
  // Of the last training:
  std::vector<PlainScale> columns_;
  PlainScale scale_;
  std::vector<PlainGroup> groups_;
  Rows z_;  // (M·K, F)
  std::uint32_t trainings_ = 0;
  // Of all observations, (K):
  std::vector<PlainRegression> fits_;
};

}  // namespace pits::test
