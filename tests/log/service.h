// A live bandit on a store in memory that outlives it, as a file does.
#pragma once

#include "bandit/small_bandit.h"
#include "log/memory_store.h"
#include "pits/log/live_bandit.h"

namespace pits::test {

inline LiveSetup live_setup(const std::string& agent,
                            const LiveConfig& config = {.propensity_draws = 20, .rewards = RewardRule::first}) {
  return {.agent = small_spec(agent),
          .context_size = context_size,
          .actions = {"a", "b", "c", "d"},
          .seed = small_setup().seed,
          .config = config};
}

struct Service {
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  FakeClock clock;
  std::unique_ptr<LiveBandit> live;

  struct Shared : Store {
    explicit Shared(std::shared_ptr<MemoryStore> to) : s(std::move(to)) {}
    void commit(const Commit& c) override { s->commit(c); }
    std::optional<GroupReader> group(EventNumber n) const override { return s->group(n); }
    std::string page(std::uint64_t p) const override { return s->page(p); }
    std::string recovery() const override { return s->recovery(); }
    std::optional<DecisionId> decision_of(std::string_view k) const override { return s->decision_of(k); }
    void keep(const Snapshot& n) override { s->keep(n); }
    void drop_snapshot(EventNumber n) override { s->drop_snapshot(n); }
    std::vector<Snapshot> snapshots() const override { return s->snapshots(); }
    Snapshot snapshot(EventNumber n) const override { return s->snapshot(n); }
    void rewrite(EventNumber n, std::string_view g, const std::vector<std::string>& k) override { s->rewrite(n, g, k); }
    void drop_events(EventNumber n, std::string_view g, const std::vector<std::string>& k) override {
      s->drop_events(n, g, k);
    }
    EventNumber oldest() const override { return s->oldest(); }
    std::shared_ptr<MemoryStore> s;
  };

  Service() = default;  // open() it when the store holds a log
  explicit Service(const LiveSetup& setup) {
    LiveBandit::create(*store, setup, clock);
    open();
  }
  void open(const LedgerLimits& limits = {}) {
    live.reset();
    live = std::make_unique<LiveBandit>(std::make_unique<Shared>(store), clock, limits);
  }
  std::string replayed() const {
    Learner learner(*store);
    learner.follow(store->last());
    return learner.saved();
  }
};

}  // namespace pits::test
