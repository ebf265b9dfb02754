// The health of a set of particles while it plays: how far its particles differ, what keeps them apart, how many of
// them count, and whether rewards fall where they predict them (docs/diagnostics.md).
//
// A cell has {"health": {particles: M, rounds: [...], each of `series`: [...], pit: [...]}}.
#pragma once

#include <array>
#include <deque>

#include "pits/agent/particle/pi_ts.h"
#include "pits/experiment/diagnostics/calibration.h"
#include "pits/experiment/diagnostics/catalogue.h"

namespace pits {

class ParticleHealth : public Observer {
 public:
  static constexpr std::size_t recent = 100;  // contexts and rewards that a point is about
  // A number of each per training that is looked at:
  static constexpr std::array series = {
      "disagreement",   // share of recent contexts on which two particles prefer different actions
      "spread",         // of the particles' predictions there, in standard deviations of the rewards
      "collapse_line",  // below it the particles have collapsed; in the same units
      "repulsion",      // norm of what particles do to each other over that of the drive
      "effective",      // number of particles that count
      "covered50",      // share of recent rewards within the central 50 % of their predictive distribution
      "covered90"};

  // Needs two particles or more.
  ParticleHealth(const PiTs& agent, std::size_t rounds);

  void before_learning(std::span<const Feedback> events) override;
  void after_learning(std::span<const Feedback> events) override;
  nlohmann::ordered_json finish() override;

 private:
  struct Forecast {
    Pit pit;
    double square;  // of the reward's distance from the predicted mean
  };

  void forecast(const Feedback& event);
  void measure();
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
  nlohmann::ordered_json seen_;
};

// Rounds of which at most one training each is looked at: the first from there on. 100 at most, evenly spaced in log t
// from 10 on.
std::vector<std::size_t> health_rounds(std::size_t rounds);

// The round since which the particles are collapsed: that of the first of the collapsed points that the run ends with;
// 0 where it does not end with one.
std::size_t collapsed_since(const nlohmann::ordered_json& health);

Diagnostic health_diagnostic();

}  // namespace pits
