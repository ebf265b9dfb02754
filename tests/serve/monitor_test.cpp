// Statistics of a log against plain loops over the same events.
#include "pits/serve/monitor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pits/core/random.h"
#include "serve/log_script.h"

namespace pits {
namespace {

using nlohmann::json;
using namespace test;

json followed(const Store& store, EventNumber from = 0) {
  const FakeClock clock;
  Monitor monitor(store, from, {}, clock);
  monitor.follow(store.last(), 1'000'000);
  return monitor.statistics();
}

TEST(Monitor, CountsAreThoseOfThePlainLoop) {
  MemoryStore store;
  Script script(store);
  play(script, 1000, 0.5);
  for (const EventNumber from : {EventNumber{0}, EventNumber{700}}) {
    const json found = followed(store, from);
    std::uint64_t decisions = 0, waiting = 0;
    std::map<SettleReason, std::uint64_t> settled;
    std::uint64_t rewards = 0;
    for (EventNumber n = std::max<EventNumber>(from, 1); const auto group = store.group_holding(n); ++n) {
      const Event event = group->event(n);
      rewards += std::holds_alternative<Rewarded>(event) ? 1 : 0;
      if (const auto* one = std::get_if<Settled>(&event)) ++settled[one->reason];
    }
    for (const TimedDecision& one : decisions_of(store, std::max<EventNumber>(from, 1))) {
      ++decisions;
      waiting += one.settled ? 0 : 1;
    }
    EXPECT_EQ(found["decisions"], decisions);
    EXPECT_EQ(found["rewards"], rewards);
    EXPECT_EQ(found["waiting"], waiting);
    EXPECT_EQ(found["settled"]["reward"], settled[SettleReason::reward]);
    EXPECT_EQ(found["settled"]["expired"], settled[SettleReason::expired]);
    EXPECT_EQ(found["settled"]["cancelled"], settled[SettleReason::cancelled]);
    EXPECT_EQ(found["one_in"], 1);
    EXPECT_EQ(found["to"], store.last());
  }
}

void expect_series(const json& series, const std::vector<TimedDecision>& all, Microseconds first_bucket) {
  const auto length = static_cast<Microseconds>(series["seconds"].get<double>() * 1e6);
  for (std::size_t i = 0; i < series["decisions"].size(); ++i) {
    std::uint64_t decisions = 0, outcomes = 0, waiting = 0;
    double sum = 0.0, squares = 0.0;
    std::vector<std::uint64_t> actions(4);
    for (const TimedDecision& one : all) {
      if (one.elapsed / length - first_bucket / length != static_cast<Microseconds>(i)) continue;
      ++decisions;
      ++actions[one.decided.action];
      waiting += one.settled ? 0 : 1;
      if (!one.settled || one.settled->reason == SettleReason::cancelled) continue;
      ++outcomes;
      sum += one.settled->value;
      squares += one.settled->value * one.settled->value;
    }
    EXPECT_EQ(series["decisions"][i], decisions);
    EXPECT_EQ(series["waiting"][i], waiting);
    EXPECT_EQ(series["outcomes"][i], outcomes);
    EXPECT_DOUBLE_EQ(series["sum"][i], sum);
    EXPECT_DOUBLE_EQ(series["squares"][i], squares);
    for (std::size_t a = 0; a < 4; ++a) EXPECT_EQ(series["actions"][a][i], actions[a]);
  }
}

TEST(Monitor, SeriesHaveRewardsAtTheTimeOfTheirDecision) {
  MemoryStore store;
  Script script(store);
  play(script, 3000, 2.0);  // 6000 s: buckets of 32 s after five doublings
  const json series = followed(store)["series"];
  const auto all = decisions_of(store);
  EXPECT_EQ(series["all"]["seconds"], 32.0);
  EXPECT_EQ(series["all"]["start"], 1.8e9);
  expect_series(series["all"], all, 0);
  EXPECT_EQ(series["recent"]["seconds"], 20.0);
  EXPECT_EQ(series["recent"]["decisions"].size(), 180U);  // an hour
  const double start = series["recent"]["start"];
  expect_series(series["recent"], all, static_cast<Microseconds>((start - 1.8e9) * 1e6));
}

TEST(Monitor, PropensitiesAreCountedByBinAndComparedWithShares) {
  MemoryStore store;
  Script script(store);
  play(script, 2000, 0.1);
  const json found = followed(store);
  std::vector<std::uint64_t> bins(propensity_edges.size());
  struct {
    std::uint64_t pairs = 0, chosen = 0;
    double expected = 0, variance = 0;
  } tenth[10];
  double least = 1.0;
  for (const auto& [decided, elapsed, settled] : decisions_of(store)) {
    const double p = decided.propensities[decided.action];
    least = std::min(least, p);
    for (std::size_t b = 0; b < bins.size(); ++b)
      bins[b] += p <= propensity_edges[b] && (b == 0 || p > propensity_edges[b - 1]) ? 1 : 0;
    for (Action a = 0; a < decided.propensities.size(); ++a) {
      const double q = decided.propensities[a];
      if (q <= 0.0 || q >= 1.0) continue;
      auto& one = tenth[static_cast<int>(q * 10.0)];
      ++one.pairs, one.chosen += a == decided.action ? 1 : 0, one.expected += q, one.variance += q * (1 - q);
    }
  }
  EXPECT_EQ(found["propensities"]["counts"].get<std::vector<std::uint64_t>>(), bins);
  EXPECT_EQ(found["propensities"]["least"], least);
  double chi = 0.0;
  for (int t = 0; t < 10; ++t) {
    const json& one = found["calibration"][t];
    EXPECT_EQ(one["pairs"], tenth[t].pairs);
    if (tenth[t].pairs == 0) continue;
    const auto pairs = static_cast<double>(tenth[t].pairs);
    EXPECT_NEAR(one["expected"], tenth[t].expected / pairs, 1e-12);
    EXPECT_NEAR(one["observed"], static_cast<double>(tenth[t].chosen) / pairs, 1e-12);
    EXPECT_NEAR(one["error"], std::sqrt(tenth[t].variance) / pairs, 1e-12);
    chi = std::max(
        chi, std::abs(one["observed"].get<double>() - one["expected"].get<double>()) / one["error"].get<double>());
  }
  EXPECT_LT(chi, 4.0);  // these actions were drawn from these propensities
}

TEST(Monitor, InPiecesIsAsAtOnce) {
  MemoryStore store;
  Script script(store);
  play(script, 1500, 0.7);
  const FakeClock clock;
  Monitor pieces(store, 0, {}, clock);
  for (EventNumber n = 0; pieces.number() < store.last(); ++n) pieces.follow(store.last(), 1 + n % 17);
  pieces.follow(store.last(), 1000);
  json in_pieces = pieces.statistics(), at_once = followed(store);
  for (json* one : {&in_pieces, &at_once}) (*one)["values"].erase("interval_rounds");  // intervals lag a little
  EXPECT_TRUE(in_pieces == at_once) << json::diff(in_pieces, at_once);
}

// Very many decisions wait: a sample of them is kept, the counts stay exact, and means are those of the sample.
TEST(Monitor, ASampleIsKeptWhereTooManyWait) {
  constexpr std::size_t n = 40'000, most = 1000;
  MemoryStore store;
  Script script(store);
  std::uint64_t good = 0;
  for (DecisionId id = 1; id <= n; ++id) script.decide(id, id % 3, {.4F, .3F, .3F});
  script.pass(600.0);
  script.commit();
  const FakeClock clock;
  Monitor monitor(store, 0, {}, clock, most);
  monitor.follow(store.last(), n);
  const json waiting = monitor.statistics();
  const double one_in = waiting["one_in"];
  EXPECT_GE(one_in * most, n);
  EXPECT_LT(one_in * most, 4 * n);
  EXPECT_NEAR(waiting["waiting"], n, 4 * std::sqrt(n * one_in));
  for (DecisionId id = 1; id <= n; ++id) {
    Stream stream({.seed = 3, .step = static_cast<std::uint32_t>(id)});
    const bool click = stream.uniform() < 0.3;
    good += click ? 1 : 0;
    script.settle(id, click ? 1.0F : 0.0F, SettleReason::expired);
  }
  script.commit();
  monitor.follow(store.last(), 2 * n);
  const json found = monitor.statistics();
  EXPECT_EQ(found["decisions"], n);
  EXPECT_EQ(found["settled"]["expired"], n);
  EXPECT_EQ(found["waiting"], 0);
  EXPECT_EQ(found["values"]["rounds"], waiting["waiting"].get<double>() / one_in);
  const double rounds = found["values"]["rounds"];
  EXPECT_NEAR(found["values"]["logged"]["ips"], static_cast<double>(good) / n, 4 * std::sqrt(0.3 * 0.7 / rounds));
}

TEST(Monitor, ManyActionsAreShownInPart) {
  MemoryStore store;
  Script script(store, {}, 60);
  for (DecisionId id = 1; id <= 120; ++id) {
    script.decide(id, static_cast<Action>((id - 1) % 60), std::vector<float>(60, 1.0F / 60.0F));
    script.settle(id, 1.0F);
  }
  script.commit();
  const json found = followed(store);
  EXPECT_EQ(found["values"]["actions"].size(), 50U);
  ASSERT_EQ(found["series"]["all"]["actions"].size(), 51U);
  EXPECT_EQ(found["series"]["all"]["actions"][49][0], 2);
  EXPECT_EQ(found["series"]["all"]["actions"][50][0], 20);  // all others
  EXPECT_NEAR(found["values"]["uniform"]["ips"], 1.0, 1e-5);
}

TEST(Monitor, CandidatesHaveNoNumbersOfTheirOwn) {
  MemoryStore store;
  Script script(store, {}, 0);
  script.decide(1, 4, std::vector<float>(5, 0.2F));
  script.settle(1, 1.0F);
  script.commit();
  const json found = followed(store);
  EXPECT_TRUE(found["series"]["all"]["actions"].empty());
  EXPECT_TRUE(found["values"]["actions"].empty());
  EXPECT_NEAR(found["values"]["uniform"]["ips"], 1.0, 1e-6);
}

TEST(Monitor, RatesAreOfTheLastWholeSeconds) {
  MemoryStore store;
  Script script(store);
  FakeClock clock;
  Monitor monitor(store, 0, {}, clock);
  for (DecisionId id = 1; id <= 300; ++id) {  // five per second for 60 s
    script.decide(id, 0, {.5F, .3F, .2F});
    if (id % 5 == 0) script.settle(id, 1.0F);
    if (id % 5 == 0) script.pass(1.0), clock.pass(1.0);
  }
  monitor.follow(store.last(), 10'000);
  json rates = monitor.statistics()["rates"];
  EXPECT_DOUBLE_EQ(rates["last_10_s"]["decisions"], 5.0);
  EXPECT_DOUBLE_EQ(rates["last_60_s"]["decisions"], 5.0);
  EXPECT_DOUBLE_EQ(rates["last_10_s"]["rewards"], 1.0);
  EXPECT_DOUBLE_EQ(rates["last_10_s"]["settled"], 1.0);
  clock.pass(30.0);  // nothing happens
  monitor.follow(store.last(), 10'000);
  rates = monitor.statistics()["rates"];
  EXPECT_DOUBLE_EQ(rates["last_10_s"]["decisions"], 0.0);
  EXPECT_DOUBLE_EQ(rates["last_60_s"]["decisions"], 2.5);
}

TEST(Monitor, VersionsAndTrainingsAreTheLastOnes) {
  MemoryStore store;
  Script script(store);
  play(script, 1000, 1.0);
  const json models = followed(store)["models"];
  EXPECT_EQ(models["versions"], 25);  // 0..24, 40 decisions each
  ASSERT_EQ(models["last"].size(), 20U);
  EXPECT_EQ(models["last"][0]["model"], 5);
  EXPECT_EQ(models["last"][19]["decisions"], 40);
  EXPECT_EQ(models["last"][19]["first_used"], 1.8e9 + 24 * 40);
  EXPECT_EQ(models["adopted"], 10);
  EXPECT_EQ(models["trainings"][0]["problem"], "it did not move");
  EXPECT_EQ(models["trainings"][9]["utc"], 1.8e9 + 999);
}

TEST(Monitor, RestoredAndUnloggedDecisionsAreCountedOnTheirOwn) {
  MemoryStore store;
  Script script(store);
  Restored restored;
  restored.id = 7, restored.propensities = {.5F, .3F, .2F};
  script.group.add(restored);
  script.settle(7, 1.0F);
  script.group.add(Gap{.decisions = 40});
  script.group.add(Gap{.decisions = 2});
  script.commit();
  const json found = followed(store);
  EXPECT_EQ(found["restored"], 1);
  EXPECT_EQ(found["unlogged"], 42);
  EXPECT_EQ(found["decisions"], 0);
  EXPECT_EQ(found["settled"]["reward"], 1);
  EXPECT_EQ(found["values"]["rounds"], 0);
}

// They are known only because of their rewards, and would speak for too much reward.
TEST(Monitor, RestoredDecisionsAreCountedAndNothingElse) {
  const auto statistics = [](bool lost) {
    MemoryStore store;
    Script script(store);
    script.decide(1, 0, {0.5F, 0.25F, 0.25F});
    script.settle(1, 0.0F);
    if (lost) {
      Restored restored;
      restored.id = 2;
      restored.propensities = {0.5F, 0.25F, 0.25F};
      script.group.add(restored);
      script.settle(2, 1.0F, SettleReason::lost);
      script.group.add(Gap{.decisions = 3});
    }
    script.commit();
    return followed(store);
  };
  json with = statistics(true);
  const json without = statistics(false);
  EXPECT_EQ(with["settled"]["lost"], 1);
  EXPECT_EQ(without["settled"]["lost"], 0);
  for (const char* part : {"decisions", "rewards", "waiting", "propensities", "calibration"}) {
    EXPECT_EQ(with[part], without[part]) << part;
  }
  EXPECT_EQ(with["series"]["all"]["sum"], without["series"]["all"]["sum"]);
  EXPECT_EQ(with["series"]["all"]["outcomes"], without["series"]["all"]["outcomes"]);
}

TEST(Monitor, AnEmptyLogHasNoNumbersButIsWhole) {
  MemoryStore store;
  const Script script(store);
  const json found = followed(store);
  EXPECT_EQ(found["decisions"], 0);
  EXPECT_TRUE(found["propensities"]["least"].is_null());
  EXPECT_NE(found.dump(), "");
}

}  // namespace
}  // namespace pits
