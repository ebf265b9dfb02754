// A live bandit in its caller's words: named contexts, named actions, candidates.
#include <gtest/gtest.h>

#include <cmath>

#include "experiment/expect_error.h"
#include "log/service.h"
#include "pits/log/audit.h"
#include "pits/log/event_json.h"

namespace pits::test {
namespace {

const char* const shop_schema = R"({"features": [{"name": "age", "kind": "number", "missing": "level"},
  {"name": "country", "kind": "category", "levels": ["de", "fr"]},
  {"name": "now", "kind": "time_of_day", "zone": "Europe/Berlin"}]})";

LiveSetup shop_setup(const std::string& agent = "lin-ts") {
  LiveSetup setup = live_setup(agent);
  setup.context_size = 0;
  setup.actions = {"tea", "milk", "cake", "nuts"};
  setup.schema = shop_schema;
  return setup;
}

std::string visitor(int i) {
  return fmt::format(R"({{"age": {}, "country": "{}", "now": {}}})", 20 + i, i % 2 == 0 ? "de" : "fr",
                     1'800'000'000 + 997 * i);
}

TEST(NamedContexts, AreEncodedAndLoggedWithTheirVector) {
  Service service(shop_setup());
  Service vectors([] {
    LiveSetup setup = shop_setup();
    setup.schema.clear();
    setup.context_size = 6;
    return setup;
  }());
  const Schema schema(shop_schema);
  for (int i = 0; i < 40; ++i) {
    const Choice choice = service.live->decide(visitor(i));
    const Choice same = vectors.live->decide(schema.encode(visitor(i)));
    ASSERT_EQ(choice.action, same.action);
    ASSERT_EQ(choice.propensity, same.propensity);
    for (Service* s : {&service, &vectors}) {
      s->live->reward({choice.id, i % 3 == 0 ? 1.0F : 0.0F});
      s->live->catch_up();
    }
    if (i == 20) service.open();
    if (i == 20) vectors.open();
  }
  EXPECT_EQ(service.live->saved(), vectors.live->saved());
  EXPECT_EQ(service.live->schema()->text(), schema.text());
  EXPECT_EQ(all_of<Created>(*service.store)[0].schema, schema.text());
  const auto decided = all_of<Decided>(*service.store);
  for (std::size_t i = 0; i < decided.size(); ++i) {
    EXPECT_EQ(decided[i].context, visitor(static_cast<int>(i)));
    EXPECT_EQ(decided[i].x, schema.encode(decided[i].context));
  }
  EXPECT_EQ(verify_log(*service.store).same, 40U);
}

TEST(NamedContexts, ThatDoNotFitLeaveNoTrace) {
  Service service(shop_setup());
  const EventNumber before = service.live->status().committed;
  expect_mentions(message_of([&] { service.live->decide(R"({"age": 3, "country": "nl", "now": 0})"); }), {"'country'"});
  expect_mentions(message_of([&] { service.live->decide(R"({"age": 3, "country": "de"})", {}, {.key = "visit"}); }),
                  {"'now'", "missing"});
  EXPECT_THROW(service.live->decide("{"), Error);
  service.live->flush();
  EXPECT_EQ(service.live->status().committed, before);
  EXPECT_EQ(service.live->decide(visitor(0)).id, 0U);  // no id was used
  Service vectors(live_setup("uniform"));
  expect_mentions(message_of([&] { vectors.live->decide(visitor(0)); }), {"no schema"});
}

TEST(NamedContexts, NeedASchemaThatFits) {
  MemoryStore store;
  LiveSetup setup = shop_setup();
  setup.context_size = 5;
  expect_mentions(message_of([&] { LiveBandit::create(store, setup); }), {"6 numbers, not 5"});
  setup.schema = "{}";
  expect_mentions(message_of([&] { LiveBandit::create(store, setup); }), {"features"});
  EXPECT_EQ(store.last(), 0U);
}

TEST(NamedActions, AreFoundAndMasked) {
  Service service(shop_setup("uniform"));
  LiveBandit& live = *service.live;
  EXPECT_EQ(live.action("cake"), 2U);
  EXPECT_EQ(live.name(1), "milk");
  expect_mentions(message_of([&] { live.action("caek"); }), {"action", "'cake'"});
  EXPECT_THROW(live.name(4), Error);
  for (int i = 0; i < 30; ++i) {
    const Choice choice = live.decide(visitor(i), {}, {.allowed = {"nuts", "milk"}});
    EXPECT_TRUE(choice.action == 1 || choice.action == 3);
  }
  live.flush();
  EXPECT_EQ(all_of<Decided>(*service.store)[0].allowed, (std::vector<std::uint8_t>{0, 1, 0, 1}));
  EXPECT_THROW(live.decide(visitor(0), {}, {.allowed = {"milk", "wine"}}), Error);
  EXPECT_THROW(live.decide(visitor(0), {.allowed = std::vector<std::uint8_t>{1, 1, 1, 1}}, {.allowed = {"milk"}}),
               Error);
  live.add_actions({"wine"});
  EXPECT_EQ(live.name(live.decide(visitor(0), {}, {.allowed = {"wine"}}).action), "wine");
  live.retire("wine");
  EXPECT_THROW(live.decide(visitor(0), {}, {.allowed = {"wine"}}), Error);
  service.open();
  EXPECT_EQ(service.live->actions(), (std::vector<std::string>{"tea", "milk", "cake", "nuts", "wine"}));
}

// Names are known to decisions as soon as add_actions returns, whatever else goes on.
TEST(NamedActions, CanBeAddedWhileOthersDecide) {
  Service service(shop_setup("uniform"));
  std::thread visitors([&] {
    for (int i = 0; i < 2000; ++i) service.live->decide(visitor(i % 50), {}, {.allowed = {"tea", "cake"}});
  });
  std::vector<std::thread> adding;
  for (int t = 0; t < 3; ++t) {
    adding.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        const std::string name = fmt::format("{}-{}", t, i);
        const Action added = service.live->add_actions({name});
        EXPECT_EQ(service.live->action(name), added);
        EXPECT_EQ(service.live->decide(visitor(i), {}, {.allowed = {name}}).action, added);
      }
    });
  }
  for (std::thread& thread : adding) thread.join();
  visitors.join();
  EXPECT_EQ(service.live->actions().size(), 19U);
}

// A bandit without actions of its own: every decision brings a list of candidates, of any length.
class Candidates : public testing::Test {
 protected:
  static constexpr std::size_t f = 2;
  static LiveSetup setup() {
    LiveSetup s = live_setup(
        "feature-ts,action_features=2",
        {.floor = 0.1, .propensity_draws = 20, .rewards = RewardRule::first, .training = TrainingPlace::in_line});
    s.actions.clear();
    return s;
  }
  static Matrix<float> list(std::size_t n, std::uint64_t seed) {
    Matrix<float> z(n, f);
    Stream({.seed = seed, .step = static_cast<std::uint32_t>(n)}).fill_normal(z.flat());
    return z;
  }
};

TEST_F(Candidates, OfAnyLengthAreDecidedLoggedLearnedAndReplayed) {
  Service service(setup());
  const std::vector<Event> rounds = random_events(60, 4);
  Bandit plain(small_spec("feature-ts,action_features=2"),
               {.context_size = context_size, .actions = 0, .seed = small_setup().seed},
               {.floor = 0.1, .propensity = PropensityKind::none});
  for (std::size_t t = 0; t < rounds.size(); ++t) {
    const std::size_t n = 1 + t % 7;
    const Matrix<float> z = list(n, t);
    std::vector<float> p(n);
    EXPECT_EQ(plain.probabilities(rounds[t].x, p, {.features = z}), 0.0);
    const Choice choice = service.live->decide(rounds[t].x, {.features = z});
    ASSERT_LT(choice.action, n);
    ASSERT_EQ(choice.action, plain.decide(rounds[t].x, {.features = z}).action);
    ASSERT_EQ(choice.propensity, p[choice.action]);
    plain.learn(t, rounds[t].reward);
    service.live->reward({choice.id, rounds[t].reward});
    service.live->catch_up();
  }
  EXPECT_EQ(agent_state(Bandit::from_saved(service.live->saved(), "live")), agent_state(plain));
  EXPECT_EQ(service.replayed(), service.live->saved());
  service.open();
  service.live->decide(rounds[0].x, {.features = list(9, 1)});
  service.live.reset();
  for (const Decided& d : all_of<Decided>(*service.store)) {
    const std::size_t n = d.propensities.size();
    EXPECT_EQ(d.features.size(), n * f);
    double sum = 0.0;
    for (const float q : d.propensities) {
      EXPECT_GE(q, 0.1F / static_cast<float>(n) * 0.999F);
      sum += q;
    }
    EXPECT_NEAR(sum, 1.0, 1e-5);
  }
  check_log(*service.store);
  const Verification found = verify_log(*service.store);
  EXPECT_EQ(found.same, rounds.size() + 1);
  EXPECT_EQ(found.different + found.out_of_reach, 0U);
}

// What is logged is what happens: shares of many decisions by one model, each with its own draws.
TEST_F(Candidates, HaveThePropensitiesThatAreLogged) {
  Service service(setup());
  for (const Event& e : random_events(30, 5)) {
    service.live->reward({service.live->decide(e.x, {.features = list(4, 1)}).id, e.reward});
    service.live->catch_up();
  }
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  const Matrix<float> z = list(5, 9);
  const std::vector<std::uint8_t> mask = {1, 1, 0, 1, 1};
  std::vector<float> p(5);
  service.live->probabilities(x, p, {.allowed = mask, .features = z});
  EXPECT_EQ(p[2], 0.0F);
  constexpr int decisions = 4000;
  std::vector<double> shares(5);
  for (int i = 0; i < decisions; ++i) {
    shares[service.live->decide(x, {.allowed = mask, .features = z}).action] += 1.0 / decisions;
  }
  for (std::size_t a = 0; a < 5; ++a) {
    EXPECT_NEAR(shares[a], p[a], 5.0 * std::sqrt(p[a] * (1.0 - p[a]) / decisions) + 1e-9) << a;
  }
}

TEST_F(Candidates, LearnWhatIsGood) {
  Service service(setup());
  double late = 0.0;
  for (int t = 0; t < 400; ++t) {
    const Matrix<float> z = list(3 + static_cast<std::size_t>(t % 4), static_cast<std::uint64_t>(t));
    const Choice choice = service.live->decide(std::vector<float>{1.0F, 0.0F, 0.0F}, {.features = z});
    const float reward = z(choice.action, 0);  // N(0,1) among candidates
    service.live->reward({choice.id, reward});
    service.live->catch_up();
    if (t >= 300) late += reward / 100.0;
  }
  // Chance has mean 0 and standard error 0.1; the best of 3 to 6 candidates has about 1.06 on average.
  EXPECT_GT(late, 0.5);
}

TEST_F(Candidates, BelongToAgentsThatUseThem) {
  Service named(live_setup("lin-ts"));
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  expect_mentions(message_of([&] { named.live->decide(x, {.features = list(action_count, 1)}); }), {"feature-ts"});
  Service fixed(live_setup("feature-ts,action_features=2"));
  expect_mentions(message_of([&] { fixed.live->decide(x, {.features = list(3, 1)}); }), {"(4,2)", "(3,2)"});
  MemoryStore store;
  LiveSetup without = live_setup("lin-ts");
  without.actions.clear();
  expect_mentions(message_of([&] { LiveBandit::create(store, without); }), {"at least one action", "feature-ts"});
  Service service(setup());
  expect_mentions(message_of([&] { service.live->decide(x); }), {"candidates"});
  expect_mentions(message_of([&] { service.live->add_actions({"a"}); }), {"candidates"});
  EXPECT_THROW(service.live->decide(x, {.features = Matrix<float>(3, 5)}), Error);
  EXPECT_THROW(service.live->decide(x, {.allowed = std::vector<std::uint8_t>{0, 0}, .features = list(2, 1)}), Error);
  EXPECT_THROW(service.live->decide(x, {.features = list(2, 1)}, {.allowed = {"a"}}), Error);
  EXPECT_EQ(service.live->status().queued, 0U);
}

}  // namespace
}  // namespace pits::test
