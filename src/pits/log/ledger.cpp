#include "pits/log/ledger.h"

#include <algorithm>
#include <cmath>

namespace pits {
namespace {

constexpr std::size_t longest_key = 256;

void check_key(std::string_view key) {
  if (key.size() > longest_key) throw bad_input("a key has at most {} bytes, not {}", longest_key, key.size());
}

void check_record(DecisionId id, const Restored* record) {
  if (record != nullptr && record->id != id)
    throw bad_input("the token is that of decision {}, not of {}", record->id, id);
}

}  // namespace

void Ledger::check(const Reward& reward) const {
  check_key(reward.key);
  check_record(reward.id, reward.record.get());
  if (!std::isfinite(reward.value)) {
    throw bad_input("the reward of decision {} must be finite, not {}", reward.id, reward.value);
  }
  if (books_.range && !books_.range->holds(reward.value)) {
    throw bad_input("the reward of decision {} must be between {:g} and {:g} (reward_range), not {:g}", reward.id,
                    books_.range->low, books_.range->high, reward.value);
  }
}

void Ledger::create(Store& store, const Clock& clock, const Created& created, DecisionId first_id) {
  if (store.last() != 0) throw bad_input("the store holds a log already");
  GroupWriter group;
  group.add(created);
  if (first_id > 0) group.add(IdsReserved{.end = first_id});
  store.commit({.first = 1, .group = group.finish({.utc = clock.utc(), .elapsed = 0})});
}

Ledger::Ledger(Store& store, const Clock& clock, const LedgerLimits& limits)
    : store_(store),
      clock_(clock),
      limits_(limits),
      context_size_(created_event(store).context_size),
      index_(store, limits.index_pages) {
  recover();
}

Ledger::Books& Ledger::edit() {
  if (!books_before_) books_before_ = books_;
  return books_;
}

void Ledger::begin_group() {
  const Microseconds steady = clock_.steady();
  time_ = {.utc = clock_.utc(), .elapsed = time_.elapsed + std::max<Microseconds>(0, steady - steady_)};
  steady_ = steady;
}

DecisionId Ledger::decide(Decided& decided) {
  check_key(decided.key);
  if (!decided.key.empty()) {
    if (const auto same = keys_.find(decided.key); same != keys_.end()) return same->second;
    if (const auto earlier = decision_with(decided.key)) return *earlier;
  }
  if (knows(decided.id)) throw failed("two decisions have the id {}", decided.id);
  decided.active = !books_.config.activation;
  index_.set(decided.id, {Standing::decided, add(decided)});
  if (!decided.key.empty()) keys_.emplace(decided.key, decided.id);
  ++counts_.decisions;
  return decided.id;
}

// Accepted: the entry is that of the decision, which was known or has come back.
Answer Ledger::find(DecisionId id, const Restored* record, IndexEntry& entry) {
  entry = index_.find(id);
  if (entry.standing != Standing::unknown) return Answer::accepted;
  if (record == nullptr) return Answer::unknown;
  check_record(id, record);
  return restore(*record, entry);
}

Answer Ledger::restore(const Restored& record, IndexEntry& entry) {
  const std::size_t K = record.propensities.size();
  // An older backup may not have its action; a bandit of before with this name and seed had other contexts.
  if (record.action >= K || (!books_.actions.empty() && K > books_.actions.size())) return Answer::unknown;
  const bool other_bandit = record.x.size() != context_size_ || (books_.actions.empty() && record.features.empty());
  if (other_bandit) return Answer::unknown;
  if (window() > 0 && time_.utc - record.utc > window()) return Answer::expired;
  if (record.id >= books_.reserved_ids) ids_start_ = reserve_ids(record.id + id_block);
  entry = {Standing::restored, add(record)};
  index_.set(record.id, entry);
  tally(record.id, entry).restored = true;
  ++counts_.restored;
  return Answer::accepted;
}

Answer Ledger::reward(const Reward& reward) {
  check(reward);
  IndexEntry entry;
  if (const Answer found = find(reward.id, reward.record.get(), entry); found != Answer::accepted) return found;
  const bool first = books_.config.rewards == RewardRule::first;
  if (first && entry.settled() && entry.standing != Standing::lost) {
    return entry.standing == Standing::rewarded ? Answer::duplicate : Answer::expired;
  }
  Rewarded event{.id = reward.id, .previous = entry.latest, .value = reward.value, .key = reward.key};
  if (first && entry.standing == Standing::decided) {  // needs no tally
    settle(reward.id, add(event), reward.value, SettleReason::reward);
    ++counts_.rewards;
    return Answer::accepted;
  }
  Tally& tally = this->tally(reward.id, entry);
  if (tally.has(reward.key)) return Answer::duplicate;
  if (entry.settled()) return first && tally.count > 0 ? Answer::duplicate : Answer::expired;
  if (tally.count >= static_cast<std::uint64_t>(books_.config.most_rewards)) return Answer::full;
  const EventNumber number = add(event);
  index_.set(reward.id, {Standing::touched, number});
  const std::size_t bytes = tally.bytes;
  tally.add(event);
  tally_bytes_ += tally.bytes - bytes;
  ++counts_.rewards;
  if (first) settle(reward.id, number, tally.first, reason(tally));
  return Answer::accepted;
}

Answer Ledger::activate(DecisionId id, const Restored* record) {
  IndexEntry entry;
  if (const Answer found = find(id, record, entry); found != Answer::accepted) return found;
  if (entry.standing == Standing::touched) return Answer::duplicate;
  if (entry.settled()) return Answer::expired;
  tally(id, entry);
  index_.set(id, {Standing::touched, add(Activated{.id = id, .previous = entry.latest})});
  return Answer::accepted;
}

Answer Ledger::cancel(DecisionId id, const Restored* record) {
  IndexEntry entry;
  if (const Answer found = find(id, record, entry); found != Answer::accepted) return found;
  if (entry.settled()) return entry.standing == Standing::cancelled ? Answer::duplicate : Answer::expired;
  if (entry.standing == Standing::touched) tally(id, entry);
  settle(id, entry.latest, 0.0F, SettleReason::cancelled);
  return Answer::accepted;
}

DecisionId Ledger::reserve_ids(DecisionId end) {
  if (end > books_.reserved_ids) {
    add(IdsReserved{.end = end});
    edit().reserved_ids = end;
  }
  return books_.reserved_ids;
}

Action Ledger::add_actions(const std::vector<std::string>& names) {
  if (books_.actions.empty()) {
    throw bad_input("actions cannot be added where candidates come with each decision");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto earlier = std::span(names).first(i);
    if (std::ranges::find(books_.actions, names[i]) != books_.actions.end() ||
        std::ranges::find(earlier, names[i]) != earlier.end()) {
      throw bad_input("there is an action '{}' already", names[i]);
    }
  }
  const ActionsAdded event{.first = static_cast<Action>(books_.actions.size()), .names = names};
  if (!names.empty()) {
    add(event);
    edit().apply(event);
  }
  return event.first;
}

void Ledger::retire(Action action) {
  if (action >= books_.actions.size()) {
    throw bad_input("an action must be below {}, not {}", books_.actions.size(), action);
  }
  if (books_.retired[action] != 0) return;
  if (std::ranges::count(books_.retired, 0) == 1) {
    throw bad_input("action '{}' is the only one that is left", books_.actions[action]);
  }
  add(ActionRetired{.action = action});
  edit().retired[action] = 1;
}

void Ledger::change_config(const LiveConfig& config) {
  pits::check(config);
  const LiveConfig& now = books_.config;
  if (config.floor != now.floor || config.propensity_draws != now.propensity_draws || config.training != now.training) {
    throw bad_input("floor, propensity_draws and training cannot change in a log; they are {}, {} and {}", now.floor,
                    now.propensity_draws, format_value(now.training));
  }
  if (window() > 0 && config.window == 0.0) settle_rewarded();
  add(ConfigChanged{.config = as_text(config)});
  edit().set(config);
}

void Ledger::change_engine(const std::string& engine) {
  add(EngineChanged{.engine = engine});
  edit().engine = engine;
}

void Ledger::commit() {
  try {
    if (group_.count() > 0 || !taken_.empty()) {
      const EventNumber last = last_ + group_.count();
      const EventNumber old = std::max(last - std::min(last, limits_.recovery_events), forgotten_to_);
      Commit commit{.first = last_ + 1,
                    .group = group_.count() > 0 ? group_.finish(time_) : std::string(),
                    .pages = index_.due(old),
                    .keys = {keys_.begin(), keys_.end()}};
      commit.taken.swap(taken_);
      if (!commit.pages.empty() || forgotten_to_ > 0) commit.recovery = recovery_point(last);
      store_.commit(commit);
      last_ = last;
    }
    forgotten_to_ = 0;
  } catch (...) {
    abandon_group();
    throw;
  }
  index_.committed();
  group_ = {};
  keys_.clear();
  books_before_.reset();
  expired_before_ = expired_to_;
  counts_.mended = index_.mended();
  counts_before_ = counts_;
  forget_tallies();
}

void Ledger::abandon_group() {
  index_.undo();
  forgotten_to_ = 0;
  taken_.clear();
  group_ = {};
  keys_.clear();
  if (books_before_) books_ = *std::exchange(books_before_, std::nullopt);
  expired_to_ = expired_before_;
  counts_ = counts_before_;
  expiring_.reset();
  tallies_.clear();
  tally_order_.clear();
  tally_bytes_ = 0;
}

}  // namespace pits
