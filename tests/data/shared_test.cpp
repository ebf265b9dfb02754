#include "pits/data/shared.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace pits {
namespace {

TEST(Shared, ManyThreadsLoadOnce) {
  std::atomic<int> loads = 0;
  std::atomic<int> ready = 0;
  std::vector<std::shared_ptr<const int>> got(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < 8) std::this_thread::yield();
      got[i] = load_once<int>("many", [&] { return ++loads; });
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(loads, 1);
  for (const auto& p : got) EXPECT_EQ(p, got[0]);
}

TEST(Shared, IsLetGoWithItsLastHolderAndKeysAreApart) {
  int loads = 0;
  const auto load = [&](const char* key) { return load_once<int>(key, [&] { return ++loads; }); };
  auto first = load("a");
  EXPECT_EQ(*load("a"), 1);
  EXPECT_EQ(*load("b"), 2);
  first.reset();
  EXPECT_EQ(*load("a"), 3);
}

TEST(Shared, AFailureIsNotKept) {
  EXPECT_THROW(load_once<int>("fails", []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(*load_once<int>("fails", [] { return 4; }), 4);
}

}  // namespace
}  // namespace pits
