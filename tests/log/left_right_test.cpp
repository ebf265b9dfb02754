// Run under tsan too: PRESET=tsan scripts/test -R LeftRight
#include "pits/log/left_right.h"

#include <gtest/gtest.h>

#include <vector>

namespace pits::test {
namespace {

// All its numbers are equal for as long as it lives.
struct Uniform {
  explicit Uniform(std::uint64_t value) : numbers(64, value) { ++alive; }
  ~Uniform() {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;  // whoever still reads sees it
    --alive;
  }
  std::vector<std::uint64_t> numbers;
  static inline std::atomic<int> alive{0};
};

TEST(LeftRight, ReadersSeeWholeValuesThatOnlyGrowNewer) {
  std::atomic<bool> done{false};
  std::atomic<int> torn{0}, older{0};
  std::atomic<std::uint64_t> reads{0};
  {
    LeftRight<Uniform> left_right(std::make_unique<Uniform>(0));
    std::vector<std::thread> readers;
    for (int r = 0; r < 8; ++r) {
      readers.emplace_back([&] {
        std::uint64_t last = 0;
        while (!done) {
          const std::uint64_t seen = left_right.read([&](const Uniform& value) {
            for (const std::uint64_t number : value.numbers) torn += number != value.numbers[0];
            return value.numbers[0];
          });
          older += seen < last;
          last = seen;
          ++reads;
        }
      });
    }
    for (std::uint64_t i = 1; i <= 300; ++i) {
      left_right.publish(std::make_unique<Uniform>(i));
      EXPECT_EQ(Uniform::alive, 1);
      EXPECT_EQ(left_right.read([](const Uniform& value) { return value.numbers[63]; }), i);
    }
    while (reads < 1000) std::this_thread::yield();
    done = true;
    for (std::thread& reader : readers) reader.join();
  }
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(older, 0);
  EXPECT_EQ(Uniform::alive, 0);
}

TEST(LeftRight, AReaderThatThrowsLeavesNoTrace) {
  LeftRight<int> left_right(std::make_unique<int>(1));
  EXPECT_THROW(left_right.read([](const int&) -> int { throw 1; }), int);
  left_right.publish(std::make_unique<int>(2));  // would wait for ever
  EXPECT_EQ(left_right.read([](int value) { return value; }), 2);
}

}  // namespace
}  // namespace pits::test
