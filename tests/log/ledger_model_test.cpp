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
    bool restored = false, activated = false;
    std::vector<std::pair<float, std::string>> rewards{};
    std::optional<Settlement> settled{};
  };
  LiveConfig config;
  std::map<DecisionId, Decision> decisions{};
  double now = 0.0;
  Microseconds utc = 0;

  // The decision; where it is not known but its record is, it is added.
  std::pair<Answer, Decision*> find(DecisionId id, const Restored* record) {
    if (!decisions.contains(id) && record == nullptr) return {Answer::unknown, nullptr};
    const bool late = record != nullptr && static_cast<double>(utc - record->utc) > config.window * 1e6;
    if (!decisions.contains(id) && late) return {Answer::expired, nullptr};
    return {Answer::accepted, &decisions.try_emplace(id, Decision{.at = now, .restored = true}).first->second};
  }
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
      if (d.restored) {
        d.settled = {d.rewards.empty() ? 0.0F : value(d), SettleReason::lost};
      } else if (!d.rewards.empty()) {
        d.settled = {value(d), SettleReason::reward};
      } else if (d.active) {
        d.settled = {static_cast<float>(config.default_reward), SettleReason::expired};
      } else {
        d.settled = {0.0F, SettleReason::cancelled};
      }
    }
  }
  Answer reward(DecisionId id, float value, const std::string& key, const Restored* record) {
    const auto [answer, found] = find(id, record);
    if (answer != Answer::accepted) return answer;
    Decision& d = *found;
    for (const auto& [v, k] : d.rewards) {
      if (!key.empty() && k == key) return Answer::duplicate;
    }
    if (d.settled) {
      const bool first = config.rewards == RewardRule::first;
      return first && !d.rewards.empty() ? Answer::duplicate : Answer::expired;
    }
    d.active = true;
    d.rewards.emplace_back(value, key);
    if (config.rewards == RewardRule::first)
      d.settled = {value, d.restored ? SettleReason::lost : SettleReason::reward};
    return Answer::accepted;
  }
  Answer activate(DecisionId id, const Restored* record) {
    const auto [answer, found] = find(id, record);
    if (answer != Answer::accepted) return answer;
    if (found->settled) return Answer::expired;
    if (found->activated || !found->rewards.empty()) return Answer::duplicate;
    found->active = found->activated = true;
    return Answer::accepted;
  }
  Answer cancel(DecisionId id, const Restored* record) {
    const auto [answer, found] = find(id, record);
    if (answer != Answer::accepted) return answer;
    auto& settled = found->settled;
    if (settled) return settled->second == SettleReason::cancelled ? Answer::duplicate : Answer::expired;
    settled = {0.0F, SettleReason::cancelled};
    return Answer::accepted;
  }
};

// Groups of random calls, some of which fail on the disk, with new starts in between and hardly any memory. Every other
// decision has a token; every third one is never written.
class RandomCalls {
 public:
  explicit RandomCalls(unsigned seed)
      : random_(seed),
        config_{.rewards = static_cast<RewardRule>(seed % 3),
                .window = 20,
                .default_reward = 0.125,
                .activation = seed % 2 == 0},
        shop_(config_, {.index_pages = 1 + seed % 3,
                        .tallies = 1 + seed % 5,
                        .tally_bytes = seed % 4 * 40,
                        .recovery_events = 1 + seed % 40}),
        model_{.config = config_} {}

  void play_group() {
    pass_time();
    const Model before = model_;
    shop_.store.fails = chance(6);
    model_.utc = shop_.clock.utc();
    shop_.ledger->begin_group();
    shop_.ledger->settle_expired(100000);
    model_.expire();
    for (unsigned i = random_() % 6; i > 0; --i) {
      if (chance(2)) {
        decide();
      } else {
        call(any_id());
      }
    }
    try {
      shop_.ledger->commit();
    } catch (const Error&) {
      model_ = before;
    }
    shop_.store.fails = false;
  }
  void compare() {
    shop_.look();
    model_.expire();
    std::map<DecisionId, Settlement> expected;
    std::size_t restored = 0;
    for (const auto& [id, d] : model_.decisions) {
      if (d.settled) expected.emplace(id, *d.settled);
      EXPECT_TRUE(!d.restored || id < shop_.ledger->reserved_ids());
      restored += d.restored ? 1 : 0;
    }
    EXPECT_EQ(shop_.settled(), expected);
    EXPECT_EQ(all_of<Restored>(shop_.store).size(), restored);
    EXPECT_GT(restored, 5U);
    EXPECT_GT(expected.size(), 50U);
    EXPECT_GT(shop_.store.pages_written, 5U);
  }

 private:
  bool chance(int n) { return random_() % static_cast<unsigned>(n) == 0; }
  void pass_time() {
    const double passed = static_cast<double>(random_() % 4000) / 1000.0;
    shop_.clock.pass(passed);
    model_.now += passed;
    if (chance(15)) shop_.open();
    if (chance(9)) {
      shop_.clock.jump(static_cast<double>(random_() % 100) - 50.0);
      shop_.in_group([&](Ledger& l) { return l.reserve_ids(l.reserved_ids() + 1); });  // the log knows the new time
      model_.expire();
    }
  }
  // Often a young one.
  DecisionId any_id() {
    if (ids_.empty() || chance(12)) return random_() % 2000;
    const std::size_t among = chance(2) ? ids_.size() : std::min<std::size_t>(ids_.size(), 15);
    return ids_[ids_.size() - 1 - random_() % among];
  }
  void decide() {
    Restored decided;
    decided.id = next_;
    decided.propensities = {0.5F, 0.5F};
    decided.utc = model_.utc;
    if (chance(2)) tokens_.emplace(next_, std::make_shared<Restored>(decided));
    if (!chance(3)) {
      shop_.ledger->decide(decided);
      model_.decisions[next_] = {.at = model_.now, .active = !config_.activation};
    }
    ids_.push_back(next_);
    next_ += chance(10) ? 700 : 1;
  }
  void call(DecisionId id) {
    const std::string key = chance(3) ? "" : std::string(1, static_cast<char>('a' + random_() % 3));
    const auto value = static_cast<float>(random_() % 9) - 4.0F;
    const std::shared_ptr<const Restored> record = tokens_.contains(id) ? tokens_.at(id) : nullptr;
    if (chance(5)) {
      ASSERT_EQ(shop_.ledger->cancel(id, record.get()), model_.cancel(id, record.get()));
    } else if (chance(5)) {
      ASSERT_EQ(shop_.ledger->activate(id, record.get()), model_.activate(id, record.get()));
    } else {
      ASSERT_EQ(shop_.ledger->reward({id, value, key, record}), model_.reward(id, value, key, record.get()));
    }
  }

  std::mt19937 random_;
  LiveConfig config_;
  Shop shop_;
  Model model_;
  std::vector<DecisionId> ids_;
  std::map<DecisionId, std::shared_ptr<const Restored>> tokens_;
  DecisionId next_ = 0;
};

TEST(Ledger, RandomCallsAgreeWithThePlainModel) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, fmt::format("seed {}", seed));
    RandomCalls calls(seed);
    for (int group = 0; group < 300 && !testing::Test::HasFatalFailure(); ++group) calls.play_group();
    calls.compare();
  }
}

}  // namespace
}  // namespace pits::test
