// When networks are trained, and for how long: the one rule of all agents that train.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pits/posterior/history.h"

namespace pits {

struct Training {
  int every = 20;      // observations between trainings
  int first = 0;       // the first interval; it grows as t/10 up to `every`; 0: `every` from the start
  double share = 0.0;  // later ones are at least this share of the observations remembered apart
  int steps = 20;      // steps of a training

  // Observations between the training after observation t and the next:
  //   max(clamp(t/10, first, every), share · min(t, what the memory holds))
  std::uint64_t interval(std::uint64_t t, const Memory& memory) const {
    const auto most = static_cast<std::uint64_t>(every), least = static_cast<std::uint64_t>(first);
    const std::uint64_t early = least == 0 ? most : std::clamp(t / 10, std::min(least, most), most);
    return std::max(early, static_cast<std::uint64_t>(share * memory.remembered(t)));
  }
  bool due(std::uint64_t t, std::uint64_t trained_at, const Memory& memory) const {
    return t - trained_at >= interval(t, memory);
  }
};

inline Fields fields(Training& c) {
  return Fields{}
      .add("train_every", c.every, "rounds between trainings", at_least(1))
      .add("train_first", c.first,
           "the first trainings are this many rounds apart, later ones a tenth of the rounds so far until train_every; "
           "0: train_every from the start",
           at_least(0))
      .add("train_share", c.share, "trainings are at least this share of the remembered rounds apart", between(0, 1))
      .add("train_steps", c.steps, "steps in a training", at_least(1));
}

}  // namespace pits
