// A steady round allocates nothing: choose and learn, trainings included. A new chunk of the history, once in 1024
// observations, is the exception.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstddef>

#include "agent/play.h"
#include "pits/core/matrix.h"
#include "pits/core/simd/kernels.h"
#include "pits/posterior/history.h"
#include "pits/posterior/posterior.h"

// Counted under malloc, for Eigen does not use operator new.
namespace {
std::atomic<std::size_t> allocations = 0;
}

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) {
  ++allocations;
  return __libc_malloc(n);
}
void* calloc(std::size_t count, std::size_t n) {
  ++allocations;
  return __libc_calloc(count, n);
}
void* realloc(void* old, std::size_t n) {
  ++allocations;
  return __libc_realloc(old, n);
}
void* memalign(std::size_t alignment, std::size_t n) {
  ++allocations;
  return __libc_memalign(alignment, n);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) {
  ++allocations;
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t n) {
  ++allocations;
  *out = __libc_memalign(alignment, n);
  return *out == nullptr ? 12 : 0;
}
}

namespace pits::test {
namespace {

TEST(Allocations, AreCounted) {
  const std::size_t before = allocations;
  std::vector<int> one(10);
  EXPECT_EQ(allocations, before + 1) << one.size();
  AlignedVector<float> two(10);
  EXPECT_EQ(allocations, before + 2) << two.size();
}

double bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

TEST(HistoryMemory, IsLittleMoreThanWhatIsStored) {
  constexpr std::size_t d = 54, n = 20'000;
  constexpr double stored = static_cast<double>(n) * (d * sizeof(float) + sizeof(std::uint32_t) + sizeof(float));
  const std::vector<float> x(d, 1.0F);
  const double before = bytes_in_use();
  History history(d, 7);
  for (std::size_t i = 0; i < n; ++i) history.add({.context = x, .action = 3, .reward = 0.5F});
  const double used = bytes_in_use() - before;
  EXPECT_GE(used, stored);
  EXPECT_LE(used, 1.2 * stored);
}

// The number of differences changes from minibatch to minibatch; the room for them does not.
TEST(Allocations, TrainingOnSparseContextsAllocatesNothing) {
  constexpr std::size_t d = 60;
  Posterior posterior({.particles = 2, .model = {.hidden = {7}}, .batch = 64}, d, 3, {.seed = 1});
  Stream stream({.seed = 2});
  for (std::size_t t = 0; t < 500; ++t) {
    std::vector<float> x(d, 0.0F);
    for (std::size_t k = stream.index(15); k > 0; --k) x[stream.index(d)] = 1.0F;
    posterior.observe({.context = x, .action = stream.index(3), .reward = stream.uniform_float()});
  }
  for (int i = 0; i < 2; ++i) posterior.train(1);  // the second copies what the first has made
  const std::size_t before = allocations;
  posterior.train(300);
  EXPECT_EQ(allocations, before);
}

TEST(Allocations, TrainingInBf16AllocatesNothing) {
  if (!tiles_in_use()) GTEST_SKIP() << "needs AMX";
  Posterior posterior({.particles = 2, .model = {.hidden = {7, 5}}, .batch = 64, .products = Products::bf16}, 12, 3,
                      {.seed = 1});
  Stream stream({.seed = 2});
  for (std::size_t t = 0; t < 500; ++t) {
    std::vector<float> x(12);
    stream.fill_normal(x);
    posterior.observe({.context = x, .action = stream.index(3), .reward = stream.uniform_float()});
  }
  for (int i = 0; i < 2; ++i) posterior.train(1);  // the second copies what the first has made
  const std::size_t before = allocations;
  posterior.train(100);
  EXPECT_EQ(allocations, before);
}

class SteadyRound : public testing::TestWithParam<std::string> {};

TEST_P(SteadyRound, AllocatesNothing) {
  constexpr std::size_t warm = 1100, counted = 800;  // from within the second chunk of 1024 to before its end
  const auto agent = small_agent(GetParam(), small_setup());
  const std::vector<Event> events = random_events(warm + counted, 4);
  std::size_t before = 0;
  for (std::size_t t = 0; t < events.size(); ++t) {
    if (t == warm) before = allocations;
    const bool want_propensity = t % 2 == 0;
    const Action action = agent->choose({.x = events[t].x, .id = t, .want_propensity = want_propensity}).action;
    const Feedback event{.x = events[t].x, .action = action, .reward = events[t].reward, .id = t};
    agent->learn({&event, 1});
  }
  EXPECT_EQ(allocations - before, 0U);
}
INSTANTIATE_TEST_SUITE_P(Agents, SteadyRound,
                         testing::Values("pi-ts:auto,capacity=1024", "pi-ts:exact", "pi-ts:paper", "pi-ts:released", "pi-ts:paper,flow=svgd",
                                         "pi-ts:paper,flow=blob", "lin-ts", "neural-linear:showdown", "vi-ts:showdown",
                                         "ensemble:showdown"),
                         [](const auto& spec) { return plain_name(spec.param); });

}  // namespace
}  // namespace pits::test
