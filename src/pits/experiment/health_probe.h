// Looks at an agent of particles from outside, between its decisions and its learning: costs it no time and no random
// draws.
#pragma once

#include <deque>
#include <memory>

#include "pits/agent/pi_ts.h"
#include "pits/experiment/health.h"

namespace pits {

// Rounds of which at most one training each is looked at: the first from there on. 100 at most, evenly spaced in log t
// from 10 on.
std::vector<std::size_t> health_rounds(std::size_t rounds);

class HealthProbe {
 public:
  static constexpr std::size_t recent = 100;  // contexts and rewards that a point is about

  // For a run of that many rounds. None where the agent has no particles, or a single one.
  static std::unique_ptr<HealthProbe> of(const Agent& agent, std::size_t rounds);
  HealthProbe(const PiTs& agent, std::size_t rounds);

  // The events of one round, then its context.
  void before_learning(std::span<const Feedback> events);
  void after_learning(ContextView x);
  Health health() const;

 private:
  struct Forecast {
    Pit pit;
    double square;  // of the reward's distance from the predicted mean
  };

  void forecast(const Feedback& event);
  HealthPoint measure() const;
  double collapse_line() const;
  Matrix<double> predictions() const;  // (M, contexts·K)
  double covered_share(double level) const;

  const PiTs& agent_;
  std::size_t particles_, actions_;
  std::vector<std::size_t> planned_;
  std::size_t next_ = 0;  // in planned_
  std::size_t round_ = 0;
  std::uint64_t trained_at_ = 0;  // the agent's, at the last look
  std::size_t trainings_ = 0;
  std::deque<std::vector<float>> contexts_;
  std::deque<Forecast> forecasts_;
  PitHistogram histogram_;
  std::vector<HealthPoint> points_;
};

}  // namespace pits
