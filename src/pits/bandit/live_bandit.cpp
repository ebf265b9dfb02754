#include "pits/bandit/live_bandit.h"

namespace pits {

LiveBandit::LiveBandit(Bandit bandit)
    : bandit_(std::move(bandit)), published_(snapshot()), next_id_(bandit_.pending_.next_id()) {}

LiveBandit::~LiveBandit() {
  for (Decided* d = decided_.load(); d != nullptr;) delete std::exchange(d, d->before);
}

std::unique_ptr<const LiveBandit::Snapshot> LiveBandit::snapshot() const {
  return std::make_unique<Snapshot>(
      Snapshot{bandit_.agent_->snapshot(), bandit_.setup_, bandit_.config_, bandit_.retired_});
}

Choice LiveBandit::decide(ContextView x, const ActionSet& actions) {
  const Choice choice = published_.read([&](const Snapshot& s) {
    s.rule().check(x, actions, 1);
    return s.rule().rank(x, actions, 1, next_id_.fetch_add(1)).front();
  });
  auto* decided = new Decided{
      choice.id, {{x.begin(), x.end()}, choice.action, features_of(actions, choice.action)}, decided_.load()};
  while (!decided_.compare_exchange_weak(decided->before, decided)) {
  }
  return choice;
}

double LiveBandit::probabilities(ContextView x, std::span<float> p, const ActionSet& actions, std::uint64_t row) const {
  return published_.read([&](const Snapshot& s) {
    check_places(p, s.setup.actions);
    return s.rule().probabilities(x, actions, next_id_.load() + row, p);
  });
}

void LiveBandit::take_decisions() {
  for (Decided* d = decided_.exchange(nullptr); d != nullptr;) {
    bandit_.pending_.add(d->id, std::move(d->decision));
    delete std::exchange(d, d->before);
  }
}

// Another bandit goes on numbering where it was, or where this one is if that is later.
void LiveBandit::take_over(const Agent* before, DecisionId next) {
  const DecisionId now = bandit_.pending_.next_id();
  if (bandit_.agent_.get() == before) {
    if (now == next) return;
    bandit_.pending_.forget_from(next);
    throw bad_input("a live bandit decides by LiveBandit::decide, not inside an update; the decisions were dropped");
  }
  for (DecisionId id = next_id_.load(); id < now && !next_id_.compare_exchange_weak(id, now);) {
  }
}

}  // namespace pits
