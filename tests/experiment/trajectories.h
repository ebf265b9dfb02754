// Trajectories to the bit; CPU time differs from run to run and is left out.
#pragma once

#include <gtest/gtest.h>

#include "pits/experiment/loop.h"

namespace pits::test {

inline void expect_same(const Trajectory& a, const Trajectory& b) {
  EXPECT_EQ(a.rounds, b.rounds);
  EXPECT_EQ(a.regret, b.regret);
  EXPECT_EQ(a.uniform_regret, b.uniform_regret);
  EXPECT_EQ(a.curve, b.curve);
  EXPECT_EQ(a.pulls, b.pulls);
  EXPECT_EQ(a.observed.dump(), b.observed.dump());  // NaN is written as null
}

inline void no_report(std::size_t) {}

}  // namespace pits::test
