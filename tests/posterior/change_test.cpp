// Changes of the world that show in the errors of predictions.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "pits/core/error.h"
#include "pits/posterior/forgetting.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 3, K = 4;

struct Round {
  std::vector<float> z;
  std::size_t action;
  double noise;
  Round(std::uint64_t seed, std::uint64_t t, std::size_t context_size = d) : z(context_size) {
    Stream stream({.seed = seed, .purpose = Purpose::target_sample, .step = static_cast<std::uint32_t>(t)});
    for (float& v : z) v = static_cast<float>(stream.normal());
    action = stream.index(K);
    noise = stream.normal();
  }
};

using Bias = std::function<double(std::uint64_t t, const Round& round)>;

struct Found {
  std::uint64_t when, keep;
};

// The first change that is found in errors of sd 1 about the bias, in rounds 1 .. T.
std::optional<Found> first_change(std::uint64_t seed, std::uint64_t T, const Bias& bias) {
  Forgetting forgetting(d, K, {.seed = seed});
  for (std::uint64_t t = 1; t <= T; ++t) {
    const Round round(seed, t);
    const auto keep = forgetting.observe(round.z, round.action, bias(t, round) + round.noise, 1.0, t);
    if (keep) return Found{t, *keep};
  }
  return std::nullopt;
}

int seeds_without_change(const Bias& bias) {
  int count = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) count += first_change(seed, 5000, bias) ? 0 : 1;
  return count;
}

double sign_of(std::size_t action) { return action % 2 == 0 ? 1.0 : -1.0; }

void expect_found(const Bias& bias, std::uint64_t within) {
  int early = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto found = first_change(seed, 1000 + within, bias);
    ASSERT_TRUE(found) << "seed " << seed;
    if (found->when <= 1000) {
      ++early;
      continue;
    }
    EXPECT_TRUE((std::set<std::uint64_t>{50, 200, 800}.contains(found->keep))) << found->keep;
  }
  EXPECT_LE(early, 1);
}

TEST(Forgetting, FindsNoChangeInNoise) {
  EXPECT_GE(seeds_without_change([](auto, const Round&) { return 0.0; }), 19);
}

// Errors of sd 0.05 that jump by 0.1. Where rewards have noise of sd 1 (a long stretch without rare classes, say), a
// score is at most score_memory · ½ · 0.1² = 2.5, far below the margin; without noise the jump is large.
TEST(Forgetting, FindsNoChangeInErrorsFarBelowTheNoise) {
  const auto found = [](std::uint64_t seed, double noise) {
    Forgetting forgetting(d, K, {.seed = seed});
    for (std::uint64_t t = 1; t <= 3000; ++t) {
      const Round round(seed, t);
      const double error = 0.05 * round.noise + (t > 1000 ? 0.1 * sign_of(round.action) : 0.0);
      if (forgetting.observe(round.z, round.action, error, noise, t)) return true;
    }
    return false;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_FALSE(found(seed, 1.0)) << seed;
    EXPECT_TRUE(found(seed, 0.0)) << seed;
  }
}

// An action's own bias is there from the first observation on.
TEST(Forgetting, ErrorsThatLastAreNoChange) {
  for (const double size : {0.5, 1.5}) {
    EXPECT_GE(seeds_without_change([&](auto, const Round& r) { return size * sign_of(r.action); }), 19) << size;
  }
}

TEST(Forgetting, FindsAJumpOfTheMeans) {
  expect_found([](std::uint64_t t, const Round& r) { return t > 1000 ? 1.5 * sign_of(r.action) : 0.0; }, 200);
}

// Of one action in four: a quarter of the evidence.
TEST(Forgetting, FindsAJumpOfOneAction) {
  expect_found([](std::uint64_t t, const Round& r) { return t > 1000 && r.action == 1 ? 1.5 : 0.0; }, 400);
}

TEST(Forgetting, FindsLinearErrorsThatAppear) {
  expect_found([](std::uint64_t t, const Round& r) { return t > 1000 ? sign_of(r.action) * (r.z[0] - r.z[2]) : 0.0; },
               300);
}

// After the change it starts anew: what it learned of the old errors is gone, and noise about zero is no change.
TEST(Forgetting, StartsAnewAfterAChange) {
  int quiet = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Forgetting forgetting(d, K, {.seed = seed});
    bool found = false, again = false;
    for (std::uint64_t t = 1; t <= 4000; ++t) {
      const Round round(seed, t);
      const double bias = t > 1000 && !found ? 1.5 * sign_of(round.action) : 0.0;
      const auto keep = forgetting.observe(round.z, round.action, bias + round.noise, 1.0, t);
      again = again || (keep && found);
      found = found || keep;
    }
    EXPECT_TRUE(found);
    quiet += again ? 0 : 1;
  }
  EXPECT_GE(quiet, 19);
}

// Gains are clamped: an outlier alone is no change.
TEST(Forgetting, AnOutlierIsNoChange) {
  EXPECT_GE(seeds_without_change([](std::uint64_t t, const Round&) { return t == 1000 ? 1e4 : 0.0; }), 19);
}

// Long contexts are projected; the projection is not saved, it follows from the address.
TEST(Forgetting, GoesOnAsSavedFromItsState) {
  for (const std::size_t context_size : {d, std::size_t{30}}) {
    const Address address{.seed = 3, .realization = 2};
    Forgetting forgetting(context_size, K, address), other(context_size, K, address);
    const auto play = [&](Forgetting& f, std::uint64_t from, std::uint64_t to) {
      std::vector<std::uint64_t> found;
      for (std::uint64_t t = from; t < to; ++t) {
        const Round r(3, t, context_size);
        const double bias = t > 400 ? 2.0 * sign_of(r.action) : 0.0;
        if (const auto keep = f.observe(r.z, r.action, bias + r.noise, 1.0, t)) found.insert(found.end(), {t, *keep});
      }
      return found;
    };
    play(forgetting, 1, 406);
    Archive saved;
    forgetting.state(saved);
    Archive read(saved.bytes());
    other.state(read);
    read.finish();
    const auto found = play(forgetting, 406, 1200);
    EXPECT_FALSE(found.empty());
    EXPECT_EQ(play(other, 406, 1200), found);
    Archive after, after_reading;
    forgetting.state(after);
    other.state(after_reading);
    EXPECT_EQ(after.bytes(), after_reading.bytes());
    Forgetting narrow(2, K, address);
    Archive again(saved.bytes());
    EXPECT_THROW(narrow.state(again), Error);
  }
}

TEST(Forgetting, WatchesActionsThatCameLater) {
  Forgetting forgetting(d, 1, {.seed = 4});
  forgetting.add_actions(K - 1);
  bool found = false;
  for (std::uint64_t t = 1; t <= 1200 && !found; ++t) {
    const Round r(4, t);
    found = forgetting.observe(r.z, r.action, r.noise + (t > 1000 ? 1.5 * sign_of(r.action) : 0.0), 1.0, t).has_value();
    ASSERT_FALSE(found && t <= 1000);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace pits::test
