#include "pits/core/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "pits/core/error.h"

namespace pits {
namespace {

class ParallelFor : public testing::TestWithParam<int> {
 protected:
  ThreadScope scope_{GetParam()};
};

TEST_P(ParallelFor, VisitsEveryIndexOnce) {
  for (const std::size_t n : {0U, 1U, 2U, 3U, 1000U}) {
    std::vector<std::atomic<int>> visits(n);
    parallel_for(n, [&](std::size_t i) { ++visits.at(i); });
    EXPECT_TRUE(std::ranges::all_of(visits, [](const std::atomic<int>& v) { return v == 1; })) << n;
  }
}

TEST_P(ParallelFor, NestedLoopsVisitEveryPairOnce) {
  constexpr std::size_t n = 40;
  std::vector<std::atomic<int>> visits(n * n);
  parallel_for(n, [&](std::size_t i) { parallel_for(n, [&, i](std::size_t j) { ++visits[i * n + j]; }); });
  EXPECT_TRUE(std::ranges::all_of(visits, [](const std::atomic<int>& v) { return v == 1; }));
}

std::string message_of_a_failing_loop() {
  try {
    parallel_for(1000, [](std::size_t i) {
      if (i == 517) throw bad_input("cell {} is broken", i);
    });
  } catch (const Error& e) {
    return e.what();
  }
  return "no exception";
}

TEST_P(ParallelFor, AnExceptionReachesTheCallerAndTheNextLoopRuns) {
  EXPECT_EQ(message_of_a_failing_loop(), "cell 517 is broken");
  std::atomic<int> visits = 0;
  parallel_for(100, [&](std::size_t) { ++visits; });
  EXPECT_EQ(visits, 100);
}

TEST_P(ParallelFor, AnExceptionOfAnInnerLoopReachesTheOuterCaller) {
  EXPECT_THROW(parallel_for(4, [](std::size_t) { parallel_for(4, [](std::size_t) { throw failed("inner"); }); }),
               Error);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(1, 2, 4), testing::PrintToStringParamName());

TEST(ThreadScope, OneThreadIsTheCallers) {
  const ThreadScope scope(1);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> elsewhere = 0;
  parallel_for(200, [&](std::size_t) { elsewhere += std::this_thread::get_id() != caller; });
  EXPECT_EQ(elsewhere, 0);
}

// Two bodies that wait for each other finish only when they run at the same time.
TEST(ThreadScope, TwoThreadsRunAtTheSameTime) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two processors";
  const ThreadScope scope(2);
  std::atomic<int> arrived = 0;
  std::atomic<int> met = 0;
  parallel_for(2, [&](std::size_t) {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (arrived < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    met += arrived == 2;
  });
  EXPECT_EQ(met, 2);
}

TEST(ThreadScope, EndsWithItsBlock) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two processors";
  { const ThreadScope one(1); }
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> elsewhere = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!elsewhere && std::chrono::steady_clock::now() < deadline) {
    parallel_for(64, [&](std::size_t) {
      if (std::this_thread::get_id() != caller) elsewhere = true;
    });
  }
  EXPECT_TRUE(elsewhere);
}

TEST(ThreadScope, ZeroTakesWhatTheMachineHasAndNegativeIsAnError) {
  EXPECT_NO_THROW(ThreadScope(0));
  try {
    const ThreadScope scope(-1);
    ADD_FAILURE() << "-1 threads were accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 3);
    EXPECT_NE(std::string(e.what()).find("threads must be at least 0"), std::string::npos) << e.what();
  }
}

TEST(InnerFor, UsesOtherThreadsOnlyInsideAScope) {
  const ThreadScope threads(4);
  EXPECT_EQ(threads.threads(), 4);
  const auto order = [] {
    std::vector<std::size_t> visited;
    inner_for(5, [&](std::size_t i) { visited.push_back(i); });
    return visited;
  };
  EXPECT_EQ(order(), (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  {
    const InnerThreads inner(3);
    EXPECT_EQ(inner_threads(), 3);
    std::thread([] { EXPECT_EQ(inner_threads(), 1); }).join();
    std::vector<std::atomic<int>> visits(100);
    inner_for(visits.size(), [&](std::size_t i) { ++visits[i]; });
    EXPECT_TRUE(std::ranges::all_of(visits, [](const std::atomic<int>& v) { return v == 1; }));
  }
  EXPECT_EQ(inner_threads(), 1);
  EXPECT_THROW(InnerThreads(0), Error);
}

}  // namespace
}  // namespace pits
