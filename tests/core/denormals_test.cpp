#include "pits/core/simd/denormals.h"

#include <gtest/gtest.h>

#include <limits>

namespace pits::test {
namespace {

// volatile: the division happens when it is asked for, not in the compiler.
float half_of_the_smallest_normal() {
  volatile float x = std::numeric_limits<float>::min();
  volatile float two = 2.0F;
  return x / two;
}

TEST(FlushDenormals, CountsThemAsZeroWhileItLives) {
#if !defined(__SSE2__) && !defined(__aarch64__)
  GTEST_SKIP() << "no control word known on this processor";
#endif
  EXPECT_GT(half_of_the_smallest_normal(), 0.0F);
  {
    const FlushDenormals flush;
    EXPECT_EQ(half_of_the_smallest_normal(), 0.0F);
    {
      const FlushDenormals again;
      EXPECT_EQ(half_of_the_smallest_normal(), 0.0F);
    }
    EXPECT_EQ(half_of_the_smallest_normal(), 0.0F);
    volatile float normal = 1e-30F;
    EXPECT_EQ(normal / 2.0F, 0.5e-30F);
  }
  EXPECT_GT(half_of_the_smallest_normal(), 0.0F);
}

}  // namespace
}  // namespace pits::test
