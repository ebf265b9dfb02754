// What servers that do not learn get of a bandit: every agent of the catalogue decides by it with the same bits, and
// nothing that was observed is in it.
#include <gtest/gtest.h>

#include "bandit/small_bandit.h"
#include "experiment/expect_error.h"

namespace pits::test {
namespace {

// Actions, rankings and the probabilities of all actions in some decisions that were never made.
std::vector<float> decided_by(const ServingPolicy& policy) {
  std::vector<float> all;
  const std::vector<Event> contexts = random_events(25, 77);
  std::vector<float> p(policy.retired.size());
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    Action chosen = 0;
    all.push_back(static_cast<float>(policy.probabilities(contexts[i].x, {}, 1000 + i, 0, p, &chosen)));
    all.push_back(static_cast<float>(chosen));
    all.insert(all.end(), p.begin(), p.end());
    for (const Choice& choice : policy.rank(contexts[i].x, {}, p.size(), 5000 + i)) {
      all.push_back(static_cast<float>(choice.action));
    }
  }
  return all;
}

class Policy : public testing::TestWithParam<std::string> {
 protected:
  static BanditConfig config() { return {.floor = 0.1, .propensity_draws = 40}; }
};

TEST_P(Policy, DecidesBitForBit) {
  for (const std::size_t stop : {0U, 3U, 15U, 60U}) {
    Bandit bandit(small_spec(GetParam()), small_setup(), config());
    play(bandit, 0, stop);
    if (stop == 60) bandit.retire(1);
    const std::string bytes = bandit.saved_policy();
    const ServingPolicy policy = Bandit::policy_from_saved(bytes, "it");
    EXPECT_EQ(policy.config.floor, 0.1);
    EXPECT_EQ(policy.retired, bandit.policy().retired);
    EXPECT_EQ(decided_by(policy), decided_by(bandit.policy())) << "after " << stop << " rounds";
    EXPECT_EQ(bandit.saved_policy(), bytes) << "saving changes nothing";
    // A server goes from one version to the next in the memory that it has.
    ServingPolicy served = Bandit(small_spec(GetParam()), small_setup(), config()).policy().copy();
    served.assign(policy);
    EXPECT_EQ(decided_by(served), decided_by(bandit.policy()));
  }
}

TEST_P(Policy, HoldsNoObservation) {
  Bandit bandit(small_spec(GetParam()), small_setup(), config());
  const auto context_in = [](const Event& round, const std::string& bytes) {
    const std::string context(reinterpret_cast<const char*>(round.x.data()), round.x.size() * sizeof(float));
    return bytes.find(context) != std::string::npos;
  };
  const std::vector<Event> rounds = random_events(100, 5);
  std::size_t size = 0;
  for (std::size_t t = 0; t < rounds.size(); ++t) {
    if (t == 50) size = bandit.saved_policy().size();
    bandit.learn(rounds[t].x, rounds[t].action, rounds[t].reward);
  }
  const std::string policy = bandit.saved_policy(), whole = bandit.saved();
  for (const Event& round : rounds) EXPECT_FALSE(context_in(round, policy));
  if (GetParam() == "pi-ts:released") {
    EXPECT_TRUE(context_in(rounds[7], whole)) << "the test can see one";
  }
  EXPECT_LE(policy.size(), whole.size());
  EXPECT_LE(policy.size(), size + 1024) << "it does not grow with what was observed";
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Policy, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });
INSTANTIATE_TEST_SUITE_P(Variants, Policy,
                         testing::Values("pi-ts,flow=blob,optimizer=adagrad", "pi-ts,flow=dgf-sinkhorn",
                                         "pi-ts,capacity=9", "pi-ts,noise=learned-per-action", "pi-ts,adaptive=true",
                                         "pi-ts:exact,draws=per-decision", "neural-ucb,design=full",
                                         "boltzmann,gumbel=true", "lin-ts,capacity=9", "bernoulli-ts,capacity=9"),
                         [](const auto& agent) { return plain_name(agent.param); });

TEST(PolicyFile, IsNoBanditAndABanditIsNone) {
  const Bandit bandit("lin-ts", small_setup());
  EXPECT_THROW(Bandit::from_saved(bandit.saved_policy(), "it"), Error);
  EXPECT_THROW(Bandit::policy_from_saved(bandit.saved(), "it"), Error);
  const std::string bytes = bandit.saved_policy();
  for (std::size_t n = 0; n < bytes.size(); n += 7) {
    EXPECT_THROW(Bandit::policy_from_saved(bytes.substr(0, n), "it"), Error);
  }
}

}  // namespace
}  // namespace pits::test
