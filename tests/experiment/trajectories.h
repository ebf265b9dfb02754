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
  ASSERT_EQ(a.readings.size(), b.readings.size());
  for (std::size_t i = 0; i < a.readings.size(); ++i) {
    EXPECT_EQ(a.readings[i].w2, b.readings[i].w2);
    EXPECT_EQ(a.readings[i].floor, b.readings[i].floor);
  }
  EXPECT_EQ(a.health.particles, b.health.particles);
  EXPECT_EQ(a.health.pit, b.health.pit);
  ASSERT_EQ(a.health.points.size(), b.health.points.size());
  for (std::size_t i = 0; i < a.health.points.size(); ++i) {
    EXPECT_EQ(a.health.points[i].round, b.health.points[i].round);
    for (const auto& [name, value] : health_series) {
      EXPECT_EQ(a.health.points[i].*value, b.health.points[i].*value) << name << " of point " << i;
    }
  }
}

inline void no_report(std::size_t) {}

}  // namespace pits::test
