#include "pits/posterior/forgetting.h"

#include <algorithm>
#include <cmath>

#include "pits/core/error.h"

namespace pits {
namespace {

using C = ForgettingConstants;

constexpr std::size_t most = C::most_inputs, memories = C::memories;

}  // namespace

Forgetting::Forgetting(std::size_t context_size, std::size_t actions, const Address& address)
    : features_(std::min(context_size, most) + 1), trackers_(actions) {
  if (context_size <= most) return;
  Address own = address;
  own.purpose = Purpose::agent_private;
  Stream stream(own);
  projection_.resize(most * context_size);
  stream.fill_normal(projection_, static_cast<float>(1.0 / std::sqrt(static_cast<double>(context_size))));
}

void Forgetting::find_features(std::span<const float> z, std::vector<double>& out) const {
  if (projection_.empty()) {
    out.assign(z.begin(), z.end());
  } else {
    out.assign(features_ - 1, 0.0);
    for (std::size_t l = 0; l < out.size(); ++l) {
      for (std::size_t j = 0; j < z.size(); ++j) out[l] += double{projection_[l * z.size() + j]} * z[j];
    }
  }
  out.push_back(1.0);
}

// With P the covariance and g = P·direction: information of `weight` about the direction, which missed by `error`.
void Forgetting::Tracker::add(std::span<const double> g, double weight, double error) {
  const std::size_t F = mean.size();
  for (std::size_t i = 0; i < F; ++i) {
    mean[i] += weight * error * g[i];
    for (std::size_t j = 0; j < F; ++j) covariance[i * F + j] -= weight * g[i] * g[j];
  }
}

// The weight of all that it knows falls to `factor`. The prior returns as fast, one coordinate per update.
void Forgetting::Tracker::discount(double factor, std::size_t F) {
  thread_local std::vector<double> g;
  if (covariance.empty() || factor < C::least_factor) {
    mean.resize(F);
    for (double& m : mean) m *= factor;
    covariance.assign(F * F, 0.0);
    for (std::size_t i = 0; i < F; ++i) covariance[i * F + i] = 1.0 / C::prior;
  } else if (factor < 1.0) {
    for (double& p : covariance) p /= factor;
    const std::size_t i = updates % F;
    const double information = (1.0 - factor) * C::prior * static_cast<double>(F);
    g.resize(F);
    for (std::size_t l = 0; l < F; ++l) g[l] = covariance[l * F + i];
    add(g, information / (1.0 + information * g[i]), -mean[i]);
  }
}

// Recursive least squares; `residual` is what the mean misses.
void Forgetting::Tracker::learn(double discount_per_step, std::span<const double> x, double residual, std::uint64_t t) {
  const std::size_t F = x.size();
  thread_local std::vector<double> g;
  discount(std::pow(discount_per_step, static_cast<double>(t - updated)), F);
  g.assign(F, 0.0);
  double predictive = 1.0;
  for (std::size_t i = 0; i < F; ++i) {
    for (std::size_t j = 0; j < F; ++j) g[i] += covariance[i * F + j] * x[j];
    predictive += g[i] * x[i];
  }
  add(g, 1.0 / predictive, residual);
  updated = t;
  ++updates;
}

double Forgetting::Tracker::prediction(std::span<const double> x) const {
  double sum = 0.0;
  for (std::size_t l = 0; l < mean.size(); ++l) sum += mean[l] * x[l];
  return sum;
}

std::optional<std::uint64_t> Forgetting::observe(std::span<const float> z, std::size_t action, double error,
                                                 double noise, std::uint64_t t) {
  thread_local std::vector<double> x;
  find_features(z, x);
  const std::span<const double> features = x;
  error_ = next_error(error_, error);
  const double unit = std::max(error_, noise);
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    const std::span<const double> of = i < memories ? features.last(1) : features;
    Tracker& tracker = trackers_[action][i];
    const double residual = error - tracker.prediction(of);
    scores_[i] = next_score(scores_[i], error, residual, unit);
    tracker.learn(discount_of(static_cast<int>(i % memories)), of, residual, t);
  }
  return changed();
}

std::optional<std::uint64_t> Forgetting::changed() {
  const std::uint64_t kept = kept_after_change(scores_.data());
  if (kept == 0) return std::nullopt;
  scores_.fill(0.0);
  for (auto& of_action : trackers_) of_action.fill({});
  return kept;
}

void Forgetting::add_actions(std::size_t n) { trackers_.resize(trackers_.size() + n); }

void Forgetting::state(Archive& archive) {
  archive.version("Forgetting", 1)(trackers_, scores_, error_);
  if (!archive.reading()) return;
  for (const auto& of_action : trackers_) {
    for (std::size_t i = 0; i < of_action.size(); ++i) {
      const std::size_t F = i < memories ? 1 : features_, n = of_action[i].mean.size();
      if ((n != 0 && n != F) || of_action[i].covariance.size() != n * n) {
        throw bad_input("the saved memories do not fit contexts of {} numbers", features_ - 1);
      }
    }
  }
}

}  // namespace pits
