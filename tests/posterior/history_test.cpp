#include "pits/posterior/history.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include "pits/core/error.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 2;
constexpr std::size_t K = 3;

// Observation n says who it is: context (n, −n), action n·7 mod K, reward n/2.
void add_number(History& history, std::size_t n) {
  const float x = static_cast<float>(n);
  const std::vector<float> context = {x, -x};
  history.add({.context = context, .action = static_cast<std::uint32_t>(n * 7 % K), .reward = 0.5F * x});
}

bool is_number(const Observation& o, std::size_t n) {
  const float x = static_cast<float>(n);
  return o.context.size() == d && o.context[0] == x && o.context[1] == -x && o.action == n * 7 % K &&
         o.reward == 0.5F * x;
}

History history_of(std::size_t n, std::size_t capacity = 0) {
  History history(d, K, {.capacity = static_cast<int>(capacity)});
  for (std::size_t i = 0; i < n; ++i) add_number(history, i);
  return history;
}

// Chunks hold 1024 rows: the past must survive the growth at 1024, 2048 and 3072.
TEST(History, KeepsEverythingInOrderOverSeveralChunks) {
  const History history = history_of(3100);
  ASSERT_EQ(history.size(), 3100U);
  EXPECT_EQ(history.seen(), 3100U);
  for (std::size_t n = 0; n < 3100; ++n) EXPECT_TRUE(is_number(history[n], n)) << n;
}

// Against a queue that drops its oldest member: slot s holds the newest n with n ≡ s modulo the capacity.
void expect_newest(std::size_t added, std::size_t capacity) {
  const History history = history_of(added, capacity);
  ASSERT_EQ(history.seen(), added);
  ASSERT_EQ(history.size(), std::min(added, capacity));
  for (std::size_t n = added - history.size(); n < added; ++n) {
    EXPECT_TRUE(is_number(history[n % capacity], n)) << "capacity " << capacity << ", number " << n;
  }
}

TEST(History, OverwritesTheOldestAtItsCapacity) {
  for (const std::size_t capacity : {1U, 2U, 1023U, 1024U, 1025U, 1500U, 2048U}) {
    for (const std::size_t added : {std::size_t{0}, capacity - 1, capacity, capacity + 1, 3 * capacity + 5}) {
      expect_newest(added, capacity);
    }
  }
}

// The number that observation in column b of a batch gave itself.
std::size_t number_in(const Minibatch& batch, std::size_t b) { return static_cast<std::size_t>(batch.contexts(0, b)); }

// Every column is one whole observation and lies in the group of its action.
void expect_grouped(const Minibatch& batch) {
  ASSERT_EQ(batch.contexts.rows(), d);
  ASSERT_EQ(batch.contexts.cols(), batch.size());
  ASSERT_EQ(batch.group_start.size(), K + 1);
  ASSERT_EQ(batch.group_start.front(), 0U);
  ASSERT_EQ(batch.group_start.back(), batch.size());
  for (std::size_t a = 0; a < K; ++a) {
    for (std::size_t b = batch.group_start[a]; b < batch.group_start[a + 1]; ++b) {
      const std::size_t n = number_in(batch, b);
      EXPECT_EQ(n * 7 % K, a);
      EXPECT_EQ(batch.contexts(1, b), -static_cast<float>(n));
      EXPECT_EQ(batch.rewards[b], 0.5F * static_cast<float>(n));
    }
  }
}

TEST(History, SamplesWholeObservationsGroupedByAction) {
  const History history = history_of(1300);
  Minibatch batch;
  batch.likelihood_scale = 2.5F;
  for (const std::size_t B : {1U, 7U, 512U, 3000U, 40U}) {  // smaller batches after a larger one as well
    Stream stream({.seed = 1, .purpose = Purpose::minibatch, .step = static_cast<std::uint32_t>(B)});
    history.sample(stream, B, batch);
    EXPECT_EQ(batch.size(), B);
    expect_grouped(batch);
  }
  EXPECT_EQ(batch.likelihood_scale, 2.5F);
}

TEST(History, SamplesFromTheKeptObservationsOnly) {
  const History history = history_of(500, 64);
  Minibatch batch;
  Stream stream({.seed = 2, .purpose = Purpose::minibatch});
  history.sample(stream, 2000, batch);
  expect_grouped(batch);
  for (std::size_t b = 0; b < batch.size(); ++b) EXPECT_GE(number_in(batch, b), 500U - 64U);
}

// χ² with n−1 degrees of freedom has mean n−1 and variance 2(n−1); 4.5 standard deviations above its mean.
TEST(History, SamplesEveryObservationEquallyOften) {
  constexpr std::size_t n = 50;
  constexpr std::size_t B = 50000;
  const History history = history_of(n);
  Minibatch batch;
  Stream stream({.seed = 3, .purpose = Purpose::minibatch});
  history.sample(stream, B, batch);
  std::vector<double> counts(n, 0.0);
  for (std::size_t b = 0; b < B; ++b) counts[number_in(batch, b)] += 1.0;
  const double expected = static_cast<double>(B) / n;
  double chi2 = 0.0;
  for (const double count : counts) chi2 += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi2, (n - 1) + 4.5 * std::sqrt(2.0 * (n - 1)));
  EXPECT_GT(chi2, (n - 1) - 4.5 * std::sqrt(2.0 * (n - 1)));  // without replacement it would be near 0
}

RC_GTEST_PROP(History, AllHoldsEveryKeptObservationOnceInOrderWithinItsAction, ()) {
  const std::size_t added = *rc::gen::inRange<std::size_t>(1, 2500);
  const std::size_t capacity = *rc::gen::inRange<std::size_t>(0, 2500);
  const History history = history_of(added, capacity);
  Minibatch batch;
  history.all(batch);
  RC_ASSERT(batch.size() == history.size());
  std::size_t column = 0;
  for (std::size_t a = 0; a < K; ++a) {
    RC_ASSERT(batch.group_start[a] == column);
    for (std::size_t slot = 0; slot < history.size(); ++slot) {
      if (history[slot].action == a) RC_ASSERT(number_in(batch, column++) == std::size_t(history[slot].context[0]));
    }
  }
  RC_ASSERT(batch.group_start[K] == column);
}

TEST(History, SameAddressSameMinibatch) {
  const History history = history_of(200);
  const auto rewards_at = [&](std::uint32_t step) {
    Minibatch batch;
    Stream stream({.seed = 4, .purpose = Purpose::minibatch, .step = step});
    history.sample(stream, 30, batch);
    return batch.rewards;
  };
  EXPECT_EQ(rewards_at(0), rewards_at(0));
  EXPECT_NE(rewards_at(0), rewards_at(1));
}

// Marks say whose they are: observation n has weights (n, n+½) and offset −n.
TEST(History, MarksTravelWithTheirObservations) {
  History history(d, K, {.capacity = 1500}, {.weights = 2, .offsets = 1});
  for (std::size_t n = 0; n < 2100; ++n) {
    const float x = static_cast<float>(n);
    const std::vector<float> context = {x, -x}, weights = {x, x + 0.5F}, offsets = {-x};
    history.add({.context = context,
                 .action = static_cast<std::uint32_t>(n * 7 % K),
                 .reward = 0.5F * x,
                 .weights = weights,
                 .offsets = offsets});
  }
  Minibatch batch;
  Stream stream({.seed = 1, .purpose = Purpose::minibatch});
  history.sample(stream, 300, batch);
  expect_grouped(batch);
  ASSERT_EQ(batch.weights.rows(), 2U);
  ASSERT_EQ(batch.offsets.rows(), 1U);
  for (std::size_t b = 0; b < 300; ++b) {
    const float x = batch.contexts(0, b);
    EXPECT_EQ(batch.weights(0, b), x);
    EXPECT_EQ(batch.weights(1, b), x + 0.5F);
    EXPECT_EQ(batch.offsets(0, b), -x);
  }
  const std::vector<float> context(d, 0.0F);
  EXPECT_THROW(history.add({.context = context, .action = 0, .reward = 0.0F}), Error);
}

TEST(History, SliceHoldsItsSlotsGroupedByAction) {
  const History history = history_of(1300);
  Minibatch batch;
  history.slice(1000, 100, batch);
  ASSERT_EQ(batch.size(), 100U);
  expect_grouped(batch);
  std::vector<std::size_t> numbers;
  for (std::size_t b = 0; b < 100; ++b) numbers.push_back(number_in(batch, b));
  std::ranges::sort(numbers);
  for (std::size_t b = 0; b < 100; ++b) EXPECT_EQ(numbers[b], 1000 + b);
}

// Against the numbers that were added: the last ones are left, in their order, and those that follow join them.
TEST(History, KeepsTheLastAndCountsTheForgotten) {
  for (const std::size_t capacity : {0U, 7U, 1500U}) {
    for (const std::size_t added : {std::size_t{5}, std::size_t{9}, std::size_t{3100}}) {
      for (const std::size_t n : {0U, 1U, 3U, 1100U}) {
        History history = history_of(added, capacity);
        const std::size_t before = history.size(), kept = std::min(n, before);
        history.keep_last(n);
        ASSERT_EQ(history.size(), kept);
        ASSERT_EQ(history.seen(), added);
        EXPECT_EQ(history.forgotten(), n < before ? added - n : 0U);
        for (std::size_t more = 0; more < 20; ++more) add_number(history, added + more);
        const std::size_t now = capacity == 0 ? kept + 20 : std::min(kept + 20, capacity);
        ASSERT_EQ(history.size(), now);
        EXPECT_EQ(history.seen(), added + 20);
        std::vector<std::size_t> numbers;
        for (std::size_t slot = 0; slot < now; ++slot) {
          numbers.push_back(static_cast<std::size_t>(history[slot].context[0]));
          EXPECT_TRUE(is_number(history[slot], numbers.back()));
        }
        if (capacity == 0) {
          EXPECT_TRUE(std::ranges::is_sorted(numbers));
        }
        std::ranges::sort(numbers);
        for (std::size_t i = 0; i < now; ++i) EXPECT_EQ(numbers[i], added + 20 - now + i);
      }
    }
  }
}

TEST(History, ForgetsTwiceAndReadsBack) {
  for (const std::size_t capacity : {0U, 30U}) {
    History history = history_of(100, capacity);
    const History copy = history;
    history.keep_last(20);
    for (std::size_t n = 100; n < 105; ++n) add_number(history, n);
    history.keep_last(10);
    EXPECT_EQ(history.forgotten(), 95U);
    EXPECT_EQ(history.seen(), 105U);
    for (std::size_t slot = 0; slot < 10; ++slot) EXPECT_TRUE(is_number(history[slot], 95 + slot));
    EXPECT_EQ(copy.size(), capacity == 0 ? 100U : 30U);  // copies share chunks, and keep them
    EXPECT_TRUE(is_number(copy[capacity == 0 ? 99 : 99 % capacity], 99));
    Archive saved;
    history.state(saved);
    Archive read(saved.bytes());
    History other(d, K, {.capacity = static_cast<int>(capacity)});
    other.state(read);
    read.finish();
    EXPECT_EQ(other.forgotten(), 95U);
    EXPECT_EQ(other.seen(), 105U);
    for (std::size_t slot = 0; slot < 10; ++slot) EXPECT_TRUE(is_number(other[slot], 95 + slot));
  }
}

TEST(History, RefusesAnObservationThatDoesNotFit) {
  History history(2, 3);
  const std::vector<float> right = {1.0F, 2.0F};
  const std::vector<float> wrong = {1.0F, 2.0F, 3.0F};
  EXPECT_THROW(history.add({.context = wrong, .action = 0, .reward = 0.0F}), Error);
  EXPECT_THROW(history.add({.context = right, .action = 3, .reward = 0.0F}), Error);
  EXPECT_EQ(history.size(), 0U);
}

}  // namespace
}  // namespace pits::test
