#include "pits/core/interrupt.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace pits {
namespace {

TEST(Interrupt, AsksTheInnermostScopeOfTheThread) {
  int outer = 0, inner = 0;
  check_interrupt();
  const InterruptScope outside([&] { ++outer; });
  check_interrupt();
  {
    const InterruptScope inside([&] { ++inner; });
    check_interrupt();
    std::thread(check_interrupt).join();  // another thread has no scope
  }
  check_interrupt();
  EXPECT_EQ(outer, 2);
  EXPECT_EQ(inner, 1);
}

TEST(Interrupt, AScopeEndsWithTheExceptionThatItThrows) {
  const auto stopped = [] {
    const InterruptScope scope([] { throw std::runtime_error("stop"); });
    for (;;) check_interrupt();
  };
  EXPECT_THROW(stopped(), std::runtime_error);
  EXPECT_NO_THROW(check_interrupt());
}

}  // namespace
}  // namespace pits
