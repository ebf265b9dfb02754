// How the books are restored: the recovery point, the events after it, and the chains of events of decisions.
#include <algorithm>

#include "pits/log/ledger.h"

namespace pits {

void Ledger::Books::set(const LiveConfig& next) {
  config = next;
  range = next.reward_range;
}

void Ledger::Books::state(Archive& archive) {
  TextFields text = as_text(config);
  if (archive.reading()) text.clear();
  archive.version("Ledger::Books", 1)(reserved_ids, text, actions, retired, engine, retention);
  if (archive.reading()) set(live_config(text));
}

void Ledger::Books::apply(const Event& event) {
  if (const auto* created = std::get_if<Created>(&event)) {
    set(live_config(created->config));
    actions = created->actions;
    retired.assign(actions.size(), 0);
    engine = created->engine;
  } else if (const auto* ids = std::get_if<IdsReserved>(&event)) {
    reserved_ids = std::max(reserved_ids, ids->end);
  } else if (const auto* added = std::get_if<ActionsAdded>(&event)) {
    actions.resize(std::max(actions.size(), added->first + added->names.size()));
    std::ranges::copy(added->names, actions.begin() + added->first);
    retired.resize(actions.size(), 0);
  } else if (const auto* gone = std::get_if<ActionRetired>(&event)) {
    retired.at(gone->action) = 1;
  } else if (const auto* changed = std::get_if<ConfigChanged>(&event)) {
    set(live_config(changed->config));
  } else if (const auto* other = std::get_if<EngineChanged>(&event)) {
    engine = other->engine;
  }
}

void Ledger::Tally::add(const Rewarded& reward) {
  if (count++ == 0) first = largest = reward.value;
  largest = std::max(largest, reward.value);
  sum += reward.value;
  if (reward.key.empty()) return;
  keys.push_back(reward.key);
  bytes += sizeof(std::string) + reward.key.size();
}

float Ledger::Tally::value(RewardRule rule) const {
  switch (rule) {
    case RewardRule::first: return first;
    case RewardRule::sum: return static_cast<float>(sum);
    case RewardRule::largest: return largest;
  }
  return first;
}

bool Ledger::Tally::has(std::string_view key) const {
  return !key.empty() && std::ranges::find(keys, key) != keys.end();
}

// From memory, or from the decision's events. A decision with rewards that this group has touched is in memory.
Ledger::Tally& Ledger::tally(DecisionId id, const IndexEntry& entry) {
  const auto [place, is_new] = tallies_.try_emplace(id);
  if (!is_new) return place->second;
  Tally& tally = place->second;
  try {
    tally_order_.push_back(id);
    if (entry.standing == Standing::decided || entry.latest > last_) return tally;  // no rewards
    for (const Event& event : chain(store_, entry.latest)) {
      if (std::holds_alternative<Restored>(event)) tally.restored = true;
      if (const auto* reward = std::get_if<Rewarded>(&event)) tally.add(*reward);
    }
    tally_bytes_ += tally.bytes;
    return tally;
  } catch (...) {
    tallies_.erase(id);
    throw;
  }
}

// The oldest ones, where there are too many.
void Ledger::forget_tallies() {
  while (!tally_order_.empty() && (tally_order_.size() > limits_.tallies || tally_bytes_ > limits_.tally_bytes)) {
    const auto oldest = tallies_.find(tally_order_.front());
    tally_order_.pop_front();
    if (oldest == tallies_.end()) continue;
    tally_bytes_ -= oldest->second.bytes;
    tallies_.erase(oldest);
  }
}

std::optional<Decided> Ledger::find(DecisionId id) {
  const IndexEntry entry = index_.find(id);
  if (entry.standing == Standing::unknown || entry.latest > last_) return std::nullopt;
  const std::vector<Event> events = chain(store_, entry.latest);
  const Decided* decided = events.empty() ? nullptr : decision_in(events.front());
  return decided == nullptr ? std::nullopt : std::optional(*decided);  // it was dropped
}

// Recovery starts after the oldest change of the index that no page in the store holds. The books are those of now:
// events are applied to them again, which changes nothing.
std::string Ledger::recovery_point(EventNumber last) {
  const EventNumber oldest = index_.oldest_change();
  EventNumber from = oldest == 0 ? last : oldest - 1;
  Archive archive;
  archive(from, expired_to_, books_);
  return archive.with_versions();
}

// Where a recovery point cannot be read, because another version wrote it, the events give everything again.
EventNumber Ledger::read_recovery_point() {
  const std::string bytes = store_.recovery();
  if (bytes.empty()) return 0;
  try {
    EventNumber from = 0;
    Archive archive = Archive::from_versions(bytes);
    archive(from, expired_to_, books_);
    archive.finish();
    return from;
  } catch (const Error&) {
    expired_to_ = 0;
    books_ = {};
    return 0;
  }
}

void Ledger::recover() {
  const EventNumber from = read_recovery_point();
  GroupTime newest;
  for (last_ = from; const auto group = store_.group_from(last_ + 1);) {
    for (EventNumber n = std::max(last_ + 1, group->first()); n <= group->last(); ++n) apply(n, group->event(n));
    newest = group->time();
    last_ = group->last();
    write_pages();
  }
  if (last_ == 0) throw bad_input("the store holds no log");
  if (last_ == from) newest = store_.group_holding(last_).value().time();
  steady_ = clock_.steady();
  time_.elapsed = newest.elapsed + std::max<Microseconds>(0, clock_.utc() - newest.utc);
  expired_before_ = expired_to_;
}

// Of a long recovery, so that memory stays bounded.
void Ledger::write_pages() {
  Commit commit{.pages = index_.due(last_ - std::min(last_, limits_.recovery_events))};
  if (!commit.pages.empty()) {
    commit.recovery = recovery_point(last_);
    store_.commit(commit);
  }
  index_.committed();
}

void Ledger::apply(EventNumber number, const Event& event) {
  if (const auto* decided = std::get_if<Decided>(&event)) {
    index_.set(decided->id, {Standing::decided, number});
  } else if (const auto* restored = std::get_if<Restored>(&event)) {
    index_.set(restored->id, {Standing::restored, number});
  } else if (const auto* activated = std::get_if<Activated>(&event)) {
    index_.set(activated->id, {Standing::touched, number});
  } else if (const auto* rewarded = std::get_if<Rewarded>(&event)) {
    index_.set(rewarded->id, {Standing::touched, number});
  } else if (const auto* settled = std::get_if<Settled>(&event)) {
    index_.set(settled->id, {settled_by(settled->reason), number});
  } else {
    books_.apply(event);
  }
}

}  // namespace pits
