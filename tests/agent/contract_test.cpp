// What every agent of the catalogue promises.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "agent/play.h"
#include "experiment/expect_error.h"
#include "pits/agent/presets.h"

namespace pits::test {
namespace {

class EveryAgent : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Agent> made(std::uint64_t seed = 1, std::uint32_t realization = 0) {
    return small_agent(GetParam(), small_setup(seed, realization));
  }
  static std::unique_ptr<Agent> taught(std::size_t events, std::uint64_t seed = 1, std::uint32_t realization = 0) {
    auto agent = made(seed, realization);
    learn_all(*agent, random_events(events, 5));
    return agent;
  }
};

TEST_P(EveryAgent, ChoosesOneOfTheActionsAtEveryStage) {
  for (const std::size_t events : {0U, 3U, 8U, 60U}) {
    for (const Action a : choices(*taught(events), 200)) EXPECT_LT(a, action_count);
  }
}

TEST_P(EveryAgent, ObeysMasksAtEveryStage) {
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  for (std::size_t events = 0; events <= 20; ++events) {
    const auto agent = taught(events);
    for (unsigned bits = 1; bits < 1U << action_count; ++bits) {
      std::vector<std::uint8_t> mask(action_count);
      for (unsigned a = 0; a < action_count; ++a) mask[a] = bits >> a & 1U ? 255 : 0;
      const Query query{.x = x, .actions = {mask}, .id = bits, .want_propensity = true};
      const Decision decision = agent->choose(query);
      ASSERT_LT(decision.action, action_count);
      EXPECT_NE(mask[decision.action], 0);
      if (decision.propensity) {
        EXPECT_GT(*decision.propensity, 0.0F);
        EXPECT_LE(*decision.propensity, 1.0F);
      }
    }
  }
}

TEST_P(EveryAgent, SaysNoPropensityUnlessAsked) {
  for (const std::size_t events : {0U, 30U}) {
    EXPECT_FALSE(taught(events)->choose({.x = random_events(1, 1)[0].x, .id = 4}).propensity.has_value());
  }
}

TEST_P(EveryAgent, SnapshotDecidesAsTheAgentAndLearnsNoMore) {
  auto agent = taught(30);
  const std::unique_ptr<const Agent> snapshot = agent->clone();
  const std::vector<Action> before = choices(*agent, 300);
  EXPECT_EQ(choices(*snapshot, 300), before);
  learn_all(*agent, random_events(100, 6));
  EXPECT_EQ(choices(*snapshot, 300), before);
  agent.reset();
  EXPECT_EQ(choices(*snapshot, 300), before);
}

// Whatever the memory held before: an older or a younger state.
TEST_P(EveryAgent, AssignedIsACopy) {
  auto agent = taught(30);
  for (const std::size_t events : {0U, 60U}) {
    const auto copy = taught(events);
    copy->assign(*agent);
    const std::vector<Action> before = choices(*agent, 100);
    EXPECT_EQ(choices(*copy, 100), before);
    EXPECT_EQ(copy->events(), agent->events());
    learn_all(*agent, random_events(20, 6));
    EXPECT_EQ(choices(*copy, 100), before);
  }
}

// By chance, by a forced pull or by its own rule.
TEST_P(EveryAgent, PropensitiesComeWithTheActionThatIsChosen) {
  AgentSetup setup = small_setup();
  setup.floor = 0.2;
  for (const std::size_t events : {0U, 3U, 40U}) {
    const auto agent = small_agent(GetParam(), setup);
    learn_all(*agent, random_events(events, 5));
    std::vector<float> p(action_count);
    const std::vector<Event> asked = random_events(30, 8);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const Query query{.x = asked[i].x, .id = i};
      Action chosen = action_count;
      agent->propensities(query, 2, p, 0, &chosen);
      EXPECT_EQ(chosen, agent->choose(query).action);
    }
  }
}

// During the forced pulls too: the snapshot keeps the number of events it was taken at.
TEST_P(EveryAgent, SnapshotOfAYoungAgentStaysYoung) {
  auto agent = taught(2);
  const std::unique_ptr<const Agent> snapshot = agent->clone();
  const std::vector<Action> before = choices(*agent, 50);
  learn_all(*agent, random_events(60, 6));
  EXPECT_EQ(choices(*snapshot, 50), before);
}

// What an agent without a posterior says is no; the others repeat a draw, and two draws differ.
TEST_P(EveryAgent, PosteriorDrawsAreFiniteAndRepeatable) {
  const auto agent = taught(30);
  const std::vector<float> x = {0.3F, -1.0F, 0.5F};
  std::vector<double> once(action_count), again(action_count), other(action_count);
  if (!agent->draw_rewards(x, 3, once)) return;
  ASSERT_TRUE(agent->draw_rewards(x, 3, again) && agent->draw_rewards(x, 4, other));
  EXPECT_EQ(once, again);
  EXPECT_NE(once, other);
  for (const double value : once) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(EveryAgent, SameSeedSameDecisions) { EXPECT_EQ(choices(*taught(40), 300), choices(*taught(40), 300)); }

// Agents that draw nothing.
bool deterministic(const std::string& spec) { return spec == "ucb1" || spec == "lin-ucb"; }

TEST_P(EveryAgent, OtherSeedsAndRealizationsDecideOtherwise) {
  if (deterministic(GetParam())) {
    EXPECT_EQ(choices(*taught(40, 2), 300), choices(*taught(40), 300));
    return;
  }
  const std::vector<Action> base = choices(*taught(40), 300);
  EXPECT_NE(choices(*taught(40, 2), 300), base);
  EXPECT_NE(choices(*taught(40, 1, 1), 300), base);
}

// A decision's draws have an address: nothing that was asked before may matter.
TEST_P(EveryAgent, DecisionsDoNotDependOnTheOrderOfAsking) {
  const auto agent = taught(40);
  const std::vector<Event> asked = random_events(50, 8);
  std::vector<Action> forwards(50);
  for (std::size_t i = 0; i < 50; ++i) forwards[i] = agent->choose({.x = asked[i].x, .id = i}).action;
  for (std::size_t i = 50; i-- > 0;) EXPECT_EQ(agent->choose({.x = asked[i].x, .id = i}).action, forwards[i]);
}

TEST_P(EveryAgent, LearnsTheSameFromOneCallAsFromMany) {
  const std::vector<Event> events = random_events(45, 5);
  std::vector<Feedback> feedback;
  for (const Event& e : events) feedback.push_back(e.feedback());
  auto agent = made();
  agent->learn(feedback);
  EXPECT_EQ(choices(*agent, 300), choices(*taught(45), 300));
}

TEST_P(EveryAgent, RefusesQueriesThatDoNotFit) {
  const auto agent = taught(20);
  const std::vector<float> good = {0.0F, 1.0F, 2.0F};
  const std::vector<float> shorter = {0.0F, 1.0F};
  const std::vector<float> broken = {0.0F, std::numeric_limits<float>::quiet_NaN(), 1.0F};
  const std::vector<float> endless = {0.0F, 1.0F, std::numeric_limits<float>::infinity()};
  const std::vector<std::uint8_t> nothing(action_count, 0);
  const std::vector<std::uint8_t> short_mask(action_count - 1, 1);
  EXPECT_NO_THROW(agent->choose({.x = good}));
  EXPECT_THROW(agent->choose({.x = shorter}), Error);
  EXPECT_THROW(agent->choose({.x = broken}), Error);
  EXPECT_THROW(agent->choose({.x = endless}), Error);
  EXPECT_THROW(agent->choose({.x = good, .actions = {nothing}}), Error);
  EXPECT_THROW(agent->choose({.x = good, .actions = {short_mask}}), Error);
}

TEST_P(EveryAgent, RefusesEventsThatDoNotFitAndStaysAsItWas) {
  auto agent = taught(20);
  const std::vector<Action> before = choices(*agent, 300);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Event> bad = {{.x = {0.0F, 1.0F}, .action = 0, .reward = 0.5F},
                                  {.x = {0.0F, nan, 1.0F}, .action = 0, .reward = 0.5F},
                                  {.x = {0.0F, 1.0F, 2.0F}, .action = action_count, .reward = 0.5F},
                                  {.x = {0.0F, 1.0F, 2.0F}, .action = 0, .reward = nan}};
  for (const Event& e : bad) {
    const Feedback feedback = e.feedback();
    EXPECT_THROW(agent->learn({&feedback, 1}), Error);
  }
  EXPECT_EQ(choices(*agent, 300), before);
}

TEST_P(EveryAgent, RefusesAProblemWithoutActions) {
  const std::vector<float> x(context_size, 0.0F);
  const auto use = [&] { small_agent(GetParam(), {.context_size = context_size, .actions = 0})->choose({.x = x}); };
  EXPECT_THROW(use(), Error);
}

TEST_P(EveryAgent, PlaysAProblemWithOneAction) {
  const auto agent = small_agent(GetParam(), {.context_size = context_size, .actions = 1});
  learn_all(*agent, random_events(20, 3, context_size, 1));
  for (const Action a : choices(*agent, 20)) EXPECT_EQ(a, 0U);
}

TEST_P(EveryAgent, ListsItsFieldsOnceEachWithADocThatIsNotEmpty) {
  const auto recipe = find_recipe(agent_catalogue(), "agent", parse_spec(GetParam()));
  std::set<std::string> names;
  for (const Field& field : recipe->fields().list()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name << " is there twice";
    EXPECT_FALSE(field.doc.empty()) << field.name;
  }
}

TEST_P(EveryAgent, FieldsReadBackWhatTheySay) {
  const auto recipe = find_recipe(agent_catalogue(), "agent", parse_spec(GetParam()));
  for (const Field& field : recipe->fields().list()) {
    const std::string before = field.get();
    EXPECT_NO_THROW(field.set(before)) << field.name << '=' << before;
    EXPECT_EQ(field.get(), before) << field.name;
    EXPECT_NO_THROW(field.check()) << field.name;
  }
}

// Rewards that come late: what is decided before the first one is spread over all actions, as evenly as turns are
// (UniformStart has the agents that draw).
class LateRewards : public testing::TestWithParam<std::string> {};

TEST_P(LateRewards, DoNotGiveAllDecisionsToOneAction) {
  const auto agent = small_agent(GetParam(), small_setup());
  std::vector<int> counts(action_count, 0);
  const std::vector<Event> asked = random_events(200, 8);
  for (DecisionId id = 0; id < 200; ++id) ++counts[agent->choose({.x = asked[id].x, .id = id}).action];
  EXPECT_EQ(counts, std::vector<int>(action_count, 200 / action_count));
}

INSTANTIATE_TEST_SUITE_P(ForcedPulls, LateRewards,
                         testing::Values("pi-ts:released", "ensemble:auto", "lin-ts", "ucb1", "neural-linear",
                                         "epsilon-greedy"),
                         [](const auto& agent) { return plain_name(agent.param); });

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryAgent, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });

TEST(AgentCatalogue, RefusesUnknownPresetsOfEveryAgent) {
  for (const AgentEntry& entry : agent_catalogue()) {
    if (entry.presets.empty()) continue;
    const std::string near = entry.presets.back().name + "x";
    const auto made = [&](const std::string& preset) {
      return message_of([&] { find_recipe(agent_catalogue(), "agent", parse_spec(entry.name + ":" + preset)); });
    };
    expect_mentions(made(near), {"preset", entry.name, "'" + near + "'", "did you mean '" + entry.presets.back().name});
    expect_mentions(made("no-such-thing"), {"preset", entry.name, "'no-such-thing'"});
  }
}

// One message that names the new field.
TEST(AgentCatalogue, SaysTheNewNameOfARenamedField) {
  const auto said = [](const std::string& spec) {
    return message_of([&] { find_recipe(agent_catalogue(), "agent", parse_spec(spec)); });
  };
  for (const auto& [spec, before, now] : {std::tuple{"pi-ts,exploration=0.5", "exploration", "posterior_scale"},
                                          {"lin-ts:auto,disagreement=1", "disagreement", "mean_shrinkage"},
                                          {"pi-ts:fast,doubt=2", "doubt", "scale_prior"},
                                          {"pi-ts:released,explore=0.1", "explore", "floor"},
                                          {"epsilon-greedy,explore_decay=0.1", "explore_decay", "floor_decay"},
                                          {"neural-linear,a0=3", "a0", "noise_shape"},
                                          {"neural-linear,b0=3", "b0", "noise_scale"}}) {
    expect_mentions(said(spec), {std::string("'") + before + "' is called '" + now + "' now"});
  }
  EXPECT_NO_THROW(find_recipe(agent_catalogue(), "agent", parse_spec("lin-ts,a0=3,b0=3")));
}

TEST(PiTsPresets, AreRefusedWhereThereAreNone) {
  EXPECT_EQ(pi_ts_preset("ensemble", "showdown").posterior.particles, 20);
  expect_mentions(message_of([] { pi_ts_preset("ensemble", "showdow"); }), {"ensemble", "did you mean 'showdown'"});
  expect_mentions(message_of([] { pi_ts_preset("langevin", ""); }), {"langevin", "lmc"});
  expect_mentions(message_of([] { pi_ts_preset("uniform", "showdown"); }), {"uniform", "'showdown'"});
}

// Sizes whose products would overflow are refused, not allocated.
TEST(AgentSetup, ThatNoMemoryHoldsIsRefused) {
  for (const std::size_t huge : {std::size_t(-1), std::size_t{1} << 62U, std::size_t{1} << 31U}) {
    EXPECT_THROW(small_agent("pi-ts:released", {.context_size = huge, .actions = 3}), Error) << huge;
    EXPECT_THROW(small_agent("uniform", {.context_size = 3, .actions = huge}), Error) << huge;
  }
}

TEST(AgentCatalogue, NamesEveryAgentOnceAndSaysWhatItIs) {
  std::set<std::string> names;
  for (const AgentEntry& entry : agent_catalogue()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    for (const Preset& preset : entry.presets) EXPECT_FALSE(preset.summary.empty()) << preset.name;
  }
  EXPECT_TRUE(names.contains("pi-ts") && names.contains("lin-ts") && names.contains("uniform"));
}

}  // namespace
}  // namespace pits::test
