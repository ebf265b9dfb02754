// A bandit that decides on many threads while one thread teaches it. Deciding takes no lock and never waits; it sees
// all of an update or nothing of it.
//
//   pits::LiveBandit live(pits::Bandit("pi-ts", {.context_size = 9, .actions = 7}));
//   const pits::Choice choice = live.decide(x);                                  // on any thread
//   live.update([&](pits::Bandit& bandit) { bandit.learn(choice.id, reward); });  // on one
#pragma once

#include "pits/bandit/bandit.h"
#include "pits/core/published.h"

namespace pits {

class LiveBandit {
 public:
  explicit LiveBandit(Bandit bandit);
  ~LiveBandit();
  LiveBandit(const LiveBandit&) = delete;
  LiveBandit& operator=(const LiveBandit&) = delete;

  // From any thread.
  Choice decide(ContextView x, const ActionSet& actions = {});
  double probabilities(ContextView x, std::span<float> p, const ActionSet& actions = {}, std::uint64_t row = 0) const;

  // From one thread at a time: update(bandit) learns, saves, adds actions, is given another bandit...; what it leaves
  // decides from then on. It knows every decision that was made before; rewards that are overdue count as the default
  // after it. Where it throws, the decisions go on as before. It must not decide: its ids would be given twice.
  template <class Update>
  void update(Update&& update) {
    take_decisions();
    const Agent* agent = bandit_.agent_.get();
    const DecisionId next = bandit_.pending_.next_id();
    update(bandit_);
    take_over(agent, next);
    bandit_.settle_overdue();
    publish();
  }

 private:
  // What deciding needs, apart from the bandit that learns.
  struct Snapshot {
    std::unique_ptr<const Policy> policy;
    AgentSetup setup;
    BanditConfig config;
    std::vector<std::uint8_t> retired;

    DecisionRule rule() const { return {*policy, setup, config, retired}; }
  };
  // Decisions on their way to the learner, the last one first.
  struct Decided {
    DecisionId id;
    PendingDecision decision;
    Decided* before;
  };

  std::unique_ptr<const Snapshot> snapshot() const;
  void publish() { published_.publish(snapshot()); }
  void take_decisions();
  void take_over(const Agent* before, DecisionId next);

  Bandit bandit_;
  Published<Snapshot> published_;
  std::atomic<DecisionId> next_id_;
  std::atomic<Decided*> decided_{nullptr};
};

}  // namespace pits
