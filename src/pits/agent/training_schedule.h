// When an agent with a network pulls by turns and when it trains: the showdown's 2 pulls, 100 steps every 50 rounds.
#pragma once

#include <cstdint>

#include "pits/core/fields.h"

namespace pits {

struct TrainingSchedule {
  int initial_pulls = 2;  // forced pulls of each action
  int train_every = 50;   // rounds between trainings
  int train_steps = 100;  // steps in a training

  bool due(std::uint64_t events) const { return events % static_cast<std::uint64_t>(train_every) == 0; }
};

inline Fields fields(TrainingSchedule& c) {
  return Fields{}
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .add("train_every", c.train_every, "rounds between trainings", at_least(1))
      .add("train_steps", c.train_steps, "steps in a training", at_least(1));
}

}  // namespace pits
