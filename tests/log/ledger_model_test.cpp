// The books: random calls, failures of the disk and new starts, compared with a plain model.
#include <gtest/gtest.h>

#include <random>

#include "log/shop.h"

namespace pits::test {
namespace {

// Every decision has a list of rewards; nothing else is stored, and nothing is bounded.
struct Model {
  struct Decision {
    double at = 0.0;
    bool active = true;
    std::vector<std::pair<float, std::string>> rewards{};
    std::optional<Settlement> settled{};
  };
  LiveConfig config;
  std::map<DecisionId, Decision> decisions{};
  double now = 0.0;

  float value(const Decision& d) const {
    if (config.rewards == RewardRule::first) return d.rewards.front().first;
    double sum = 0.0;
    float largest = d.rewards.front().first;
    for (const auto& [value, key] : d.rewards) {
      sum += value;
      largest = std::max(largest, value);
    }
    return config.rewards == RewardRule::sum ? static_cast<float>(sum) : largest;
  }
  void expire() {
    for (auto& [id, d] : decisions) {
      if (d.settled || now - d.at < config.window) continue;
      if (!d.rewards.empty()) {
        d.settled = {value(d), SettleReason::reward};
      } else if (d.active) {
        d.settled = {static_cast<float>(config.default_reward), SettleReason::expired};
      } else {
        d.settled = {0.0F, SettleReason::cancelled};
      }
    }
  }
  Answer reward(DecisionId id, float value, const std::string& key) {
    const auto found = decisions.find(id);
    if (found == decisions.end()) return Answer::unknown;
    Decision& d = found->second;
    for (const auto& [v, k] : d.rewards) {
      if (!key.empty() && k == key) return Answer::duplicate;
    }
    if (d.settled) {
      const bool first = config.rewards == RewardRule::first && d.settled->second == SettleReason::reward;
      return first ? Answer::duplicate : Answer::expired;
    }
    d.active = true;
    d.rewards.emplace_back(value, key);
    if (config.rewards == RewardRule::first) d.settled = {value, SettleReason::reward};
    return Answer::accepted;
  }
  Answer cancel(DecisionId id) {
    const auto found = decisions.find(id);
    if (found == decisions.end()) return Answer::unknown;
    auto& settled = found->second.settled;
    if (settled) return settled->second == SettleReason::cancelled ? Answer::duplicate : Answer::expired;
    settled = {0.0F, SettleReason::cancelled};
    return Answer::accepted;
  }
};

// Groups of random calls, some of which fail on the disk, with new starts in between and hardly any memory.
void play_random_calls(unsigned seed) {
  std::mt19937 random(seed);
  const auto chance = [&](int n) { return random() % static_cast<unsigned>(n) == 0; };
  const LiveConfig config{
      .rewards = static_cast<RewardRule>(seed % 3), .window = 20, .default_reward = 0.125, .activation = seed % 2 == 0};
  Shop shop(config, {.index_pages = 1 + seed % 3, .tallies = 1 + seed % 5, .recovery_events = 1 + seed % 40});
  Model model{.config = config};
  std::vector<DecisionId> ids;
  DecisionId next = 0;
  for (int step = 0; step < 300; ++step) {
    const double passed = static_cast<double>(random() % 4000) / 1000.0;
    shop.clock.pass(passed);
    model.now += passed;
    if (chance(15)) shop.open();
    if (chance(9)) {
      shop.clock.jump(static_cast<double>(random() % 100) - 50.0);
      shop.in_group([&](Ledger& l) { return l.reserve_ids(l.reserved_ids() + 1); });  // the log knows the new time
      model.expire();
    }
    const Model before = model;
    shop.store.fails = chance(6);
    std::vector<std::pair<Answer, Answer>> answers;
    shop.ledger->begin_group();
    shop.ledger->settle_expired(100000);
    model.expire();
    std::vector<DecisionId> made;
    for (unsigned i = random() % 6; i > 0; --i) {
      const DecisionId id = ids.empty() || chance(12) ? random() % 2000 : ids[random() % ids.size()];
      const std::string key = chance(3) ? "" : std::string(1, static_cast<char>('a' + random() % 3));
      const auto value = static_cast<float>(random() % 9) - 4.0F;
      if (chance(2)) {
        Decided decided;
        decided.id = next;
        shop.ledger->decide(decided);
        model.decisions[next] = {.at = model.now, .active = !config.activation};
        made.push_back(next);
        next += chance(10) ? 700 : 1;
      } else if (chance(5)) {
        answers.emplace_back(shop.ledger->cancel(id), model.cancel(id));
      } else {
        answers.emplace_back(shop.ledger->reward({id, value, key}), model.reward(id, value, key));
      }
    }
    for (const auto& [found, expected] : answers) ASSERT_EQ(found, expected) << "seed " << seed << ", step " << step;
    try {
      shop.ledger->commit();
      ids.insert(ids.end(), made.begin(), made.end());
    } catch (const Error&) {
      model = before;
      model.now = std::max(model.now, before.now);
    }
    shop.store.fails = false;
  }
  shop.look();
  model.expire();
  std::map<DecisionId, Settlement> expected;
  for (const auto& [id, d] : model.decisions) {
    if (d.settled) expected.emplace(id, *d.settled);
  }
  EXPECT_EQ(shop.settled(), expected) << "seed " << seed;
  EXPECT_GT(expected.size(), 50U);
  EXPECT_GT(shop.store.pages_written, 5U);
}

TEST(Ledger, RandomCallsAgreeWithThePlainModel) {
  for (unsigned seed = 0; seed < 60; ++seed) play_random_calls(seed);
}

}  // namespace
}  // namespace pits::test
