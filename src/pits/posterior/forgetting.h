// Whether the world has changed: regressions with short memories predict what the agent's own prediction leaves over,
// before they learn it. While nothing changes, nothing predicts these errors better than zero does; where a short
// memory does, what is older than that memory is to be forgotten.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pits/core/io/archive.h"
#include "pits/core/random.h"
#include "pits/posterior/forgetting_rules.h"

namespace pits {

class Forgetting {
 public:
  Forgetting(std::size_t context_size, std::size_t actions, const Address& address);

  // One observation: the context in the agent's units, and the error of its prediction; `t` counts observations.
  // `noise` is the variance that the agent expects of its errors: a few large ones among many small ones are no change.
  // Returns how many of the last observations are worth keeping, where a change was found; it then starts anew.
  std::optional<std::uint64_t> observe(std::span<const float> z, std::size_t action, double error, double noise,
                                       std::uint64_t t);
  void add_actions(std::size_t n);
  void state(Archive& archive);

 private:
  struct Tracker {
    std::vector<double> mean, covariance;  // (F), (F,F); empty: nothing learned
    std::uint64_t updated = 0, updates = 0;

    double prediction(std::span<const double> x) const;
    void learn(double discount_per_step, std::span<const double> x, double residual, std::uint64_t t);
    void discount(double factor, std::size_t F);
    void add(std::span<const double> g, double weight, double error);

    void state(Archive& archive) { archive(mean, covariance, updated, updates); }
  };
  void find_features(std::span<const float> z, std::vector<double>& out) const;
  std::optional<std::uint64_t> changed();

  std::size_t features_;                                                      // F
  std::vector<float> projection_;                                             // (F − 1, context size), or empty
  std::vector<std::array<Tracker, ForgettingConstants::trackers>> trackers_;  // (K)
  std::array<double, ForgettingConstants::trackers> scores_{};  // log of how much better than zero each predicted
  double error_ = 1.0;
};

}  // namespace pits
