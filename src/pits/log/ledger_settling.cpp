// How decisions settle: with a reward, when their window closes, or before windows end for ever.
#include <cmath>

#include "pits/log/ledger.h"

namespace pits {

void Ledger::settle(DecisionId id, EventNumber previous, float value, SettleReason reason) {
  const Settled event{.id = id, .previous = previous, .value = value, .reason = reason};
  index_.set(id, {settled_by(reason), add(event)});
  ++counts_.settled;
}

Microseconds Ledger::window() const { return std::llround(books_.config.window * 1e6); }

// How a decision with rewards settles. Where windows never close, nothing settles to a default, and what came back is
// learned as all rewards are.
SettleReason Ledger::reason(const Tally& tally) const {
  return tally.restored && window() > 0 ? SettleReason::lost : SettleReason::reward;
}

bool Ledger::settle_expired(std::size_t most) {
  const Microseconds window = this->window();
  if (window == 0) return false;
  constexpr std::size_t most_looked = 16;  // times as many events: they may all have settled
  for (std::size_t settled = 0, looked = 0; settled < most && looked < most_looked * most; ++looked) {
    if (!expiring_ || expiring_->last() <= expired_to_) expiring_ = store_.group_from(expired_to_ + 1);
    if (expiring_) expired_to_ = std::max(expired_to_, expiring_->first() - 1);
    if (!expiring_ || time_.elapsed - expiring_->time().elapsed < window) return false;
    const EventNumber next = expired_to_ + 1;
    if (const std::uint8_t tag = expiring_->tag(next); tag == Decided::tag || tag == Restored::tag) {
      settled += settle_expired(*decision_in(expiring_->event(next))) ? 1 : 0;
    }
    expired_to_ = next;
  }
  return true;
}

// One that was never activated was never shown: nothing is learned of it.
bool Ledger::settle_expired(const Decided& decided) {
  const IndexEntry entry = index_.find(decided.id);
  if (entry.settled()) return false;
  const bool touched = entry.standing != Standing::decided;
  const Tally none;
  const Tally& tally = touched ? this->tally(decided.id, entry) : none;
  if (tally.count > 0) {
    settle(decided.id, entry.latest, tally.value(books_.config.rewards), reason(tally));
  } else if (tally.restored) {
    settle(decided.id, entry.latest, 0.0F, SettleReason::lost);
  } else if (decided.active || touched) {
    settle(decided.id, entry.latest, static_cast<float>(books_.config.default_reward), SettleReason::expired);
  } else {
    settle(decided.id, entry.latest, 0.0F, SettleReason::cancelled);
  }
  return true;
}

// Before windows end for ever: what has rewards settles with them, by the rule under which they were accepted. The
// others wait for their first reward from then on.
void Ledger::settle_rewarded() {
  const auto settle_one = [this](DecisionId id) {
    const IndexEntry entry = index_.find(id);
    if (entry.standing != Standing::touched) return;
    const Tally& rewards = tally(id, entry);
    if (rewards.count == 0) return;
    settle(id, entry.latest, rewards.value(books_.config.rewards), reason(rewards));
  };
  for (EventNumber number = expired_to_ + 1; number <= last_;) {
    const auto group = store_.group_from(number);
    if (!group) break;
    for (number = std::max(number, group->first()); number <= group->last(); ++number) {
      if (const auto id = group->packed(number).decision()) settle_one(*id);
    }
  }
  for (const DecisionId id : tally_order_) settle_one(id);  // of this group
}

}  // namespace pits
