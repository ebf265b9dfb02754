// How the books are restored: the recovery point, the events after it, and the chains of events of decisions.
#include <algorithm>
#include <limits>

#include "pits/core/damaged.h"
#include "pits/log/ledger.h"

namespace pits {
namespace {

constexpr std::string_view recovery_kind = "recovery point";
// How one begins that was written before they were sealed: a table of one class.
constexpr std::string_view old_point("\1\0\0\0\0\0\0\0", 8);

}  // namespace

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

// A sum that no float holds is the largest one: an outcome is finite, as every reward is.
float Ledger::Tally::value(RewardRule rule) const {
  constexpr double most = std::numeric_limits<float>::max();
  switch (rule) {
    case RewardRule::first: return first;
    case RewardRule::sum: return static_cast<float>(std::clamp(sum, -most, most));
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

// The table of keys has no checksum, so what it says is compared with the decision. A key that retention has forgotten
// meanwhile, with the decision's own, names none.
std::optional<DecisionId> Ledger::decision_with(const std::string& key) {
  const auto id = store_.decision_of(key);
  if (!id) return std::nullopt;
  const auto decided = find(*id);
  if (decided && decided->key == key) return id;
  if (store_.decision_of(key) != id) return std::nullopt;
  throw damaged("the log is damaged: a key names decision {}, which does not have it", *id);
}

// Recovery starts after the oldest change of the index that no page in the store holds. The books are those of now:
// events are applied to them again, which changes nothing.
std::string Ledger::recovery_point(EventNumber last) {
  const EventNumber oldest = index_.oldest_change();
  EventNumber from = oldest == 0 ? last : oldest - 1;
  Archive archive;
  archive(from, expired_to_, books_);
  return sealed(recovery_kind, archive.with_versions());
}

std::string Ledger::unsealed_point(const std::string& bytes) {
  return bytes.starts_with(old_point) ? bytes : unsealed(recovery_kind, bytes, "the recovery point of the log");
}

EventNumber Ledger::recovery_start(const Store& store) {
  const std::string bytes = store.recovery();
  if (bytes.empty()) return 0;
  std::string point = unsealed_point(bytes);
  try {
    EventNumber from = 0, expired_to = 0;
    Books books;
    Archive archive = Archive::from_versions(std::move(point));
    archive(from, expired_to, books);
    return from;
  } catch (const Error&) {
    return 0;
  }
}

// Where a recovery point cannot be read, because another version wrote it or because it is damaged, the events give
// everything again.
EventNumber Ledger::read_recovery_point() {
  const std::string bytes = store_.recovery();
  if (bytes.empty()) return 0;
  try {
    EventNumber from = 0;
    Archive archive = Archive::from_versions(unsealed_point(bytes));
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
  counts_.mended = counts_before_.mended = index_.mended();
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
  if (const auto change = index_change(number, event)) {
    index_.set(change->id, change->entry);
  } else {
    books_.apply(event);
  }
}

}  // namespace pits
