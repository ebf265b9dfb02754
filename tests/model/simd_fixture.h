// Tests that run once on every SIMD target of the machine, and leave the choice as they found it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "pits/core/simd/kernels.h"

namespace pits::test {

class OnEverySimdTarget : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_simd_target(GetParam()); }
  void TearDown() override { force_simd_target(""); }
};

inline std::string target_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace pits::test
