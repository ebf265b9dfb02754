// The books of a shop, in memory, with one call per group.
#pragma once

#include <gtest/gtest.h>

#include "log/memory_store.h"
#include "pits/log/ledger.h"

namespace pits::test {

using Settlement = std::pair<float, SettleReason>;

struct Shop {
  MemoryStore store;
  FakeClock clock;
  std::unique_ptr<Ledger> ledger;
  LedgerLimits limits{};

  explicit Shop(const LiveConfig& config, const LedgerLimits& given = {}) : limits(given) {
    Created created;
    created.actions = {"a", "b"};
    created.config = as_text(config);
    Ledger::create(store, clock, created);
    open();
  }
  void open() { ledger = std::make_unique<Ledger>(store, clock, limits); }

  // One group of one call.
  template <class Call>
  auto in_group(Call&& call) {
    ledger->begin_group();
    ledger->settle_expired(1000);
    auto result = call(*ledger);
    ledger->commit();
    return result;
  }
  void decide(DecisionId id, const std::string& key = "") {
    Decided decided;
    decided.id = id;
    decided.key = key;
    decided.propensities = {0.5F, 0.5F};
    in_group([&](Ledger& l) { return l.decide(decided); });
  }
  Answer reward(DecisionId id, float value, const std::string& key = "") {
    return in_group([&](Ledger& l) { return l.reward({id, value, key}); });
  }
  Answer cancel(DecisionId id) {
    return in_group([&](Ledger& l) { return l.cancel(id); });
  }
  Answer activate(DecisionId id) {
    return in_group([&](Ledger& l) { return l.activate(id); });
  }
  void look() {
    in_group([](Ledger&) { return 0; });
  }
  // value and reason, by decision
  std::map<DecisionId, std::pair<float, SettleReason>> settled() const {
    std::map<DecisionId, std::pair<float, SettleReason>> all;
    for (const Settled& s : all_of<Settled>(store)) {
      EXPECT_TRUE(all.emplace(s.id, std::pair(s.value, s.reason)).second) << "decision " << s.id << " settled twice";
    }
    return all;
  }
};

}  // namespace pits::test
