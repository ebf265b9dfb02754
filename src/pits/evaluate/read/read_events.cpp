#include <algorithm>
#include <unordered_map>

#include "pits/evaluate/read/read_log.h"
#include "pits/log/audit.h"
#include "pits/log/event_json.h"
#include "pits/log/live_config.h"
#include "pits/log/sqlite_store.h"

namespace pits {
namespace {

// Decisions wait for the event that settles them; the rounds are in the order of the decisions.
class EventRounds {
 public:
  explicit EventRounds(const LogOptions& options) : builder_({}, options.reward_range), options_(options) {}

  void see(const Event& event, const Place& place) {
    if (const auto* created = std::get_if<Created>(&event)) {
      if (made_) throw place.wrong("a second 'created': a log has one");
      made_ = true;
      builder_.add_actions(created->actions);
      builder_.close_actions();
      set_config(created->config, place);
      context_size_ = created->context_size;
      retired_.assign(builder_.K(), 0);
    } else if (!made_) {
      throw place.wrong("the first event must be 'created'");
    } else if (const auto* added = std::get_if<ActionsAdded>(&event)) {
      builder_.add_actions(added->names);
      retired_.resize(builder_.K(), 0);
    } else if (const auto* retired = std::get_if<ActionRetired>(&event)) {
      if (retired->action >= retired_.size()) throw place.wrong("action {} is retired but unknown", retired->action);
      retired_[retired->action] = 1;
    } else if (const auto* changed = std::get_if<ConfigChanged>(&event)) {
      set_config(changed->config, place);
    } else if (const auto* gap = std::get_if<Gap>(&event)) {
      builder_.counts().unlogged += gap->decisions;
    } else if (const Decided* decided = decision_in(event)) {
      add(*decided, place);
      decisions_.back().restored = std::holds_alternative<Restored>(event);
    } else if (const auto* settled = std::get_if<Settled>(&event)) {
      settle(*settled, place);
    }
  }

  // Events before this one, but for those that were seen, were dropped.
  void skip_to(EventNumber oldest) { oldest_ = oldest; }

  LoggedData finish(const std::string& file) {
    if (!made_) throw bad_input("'{}' has no events", file);
    for (Waiting& one : decisions_) hand_on(one, file);
    LoggedData data = builder_.finish(file);
    data.reward_range = range_of(data.rewards);
    return data;
  }

 private:
  struct Waiting {
    Decided decided;
    std::size_t line = 0;
    std::size_t actions = 0;  // that there were
    bool restored = false;
    std::optional<Settled> settled{};
  };

  void add(const Decided& decided, const Place& place) {
    if (!places_.emplace(decided.id, decisions_.size()).second)
      throw place.wrong("decision {} is there twice", decided.id);
    Waiting one{.decided = decided, .line = place.line, .actions = builder_.K()};
    one.decided.key.clear();
    one.decided.context.clear();
    if (std::ranges::find(retired_, 1) != retired_.end()) {
      if (one.decided.allowed.empty()) one.decided.allowed.assign(builder_.K(), 1);
      const std::size_t known = std::min(retired_.size(), one.decided.allowed.size());
      for (std::size_t a = 0; a < known; ++a) {
        // A policy that had not learned of it yet may still have taken it.
        const bool possible = a < decided.propensities.size() && decided.propensities[a] > 0.0F;
        if (retired_[a] != 0 && !possible) one.decided.allowed[a] = 0;
      }
    }
    decisions_.push_back(std::move(one));
    options_.read(1);
  }

  void set_config(const TextFields& text, const Place& place) {
    try {
      config_ = live_config(text);
    } catch (const Error& e) {
      throw place.wrong("{}", e.what());
    }
  }

  void settle(const Settled& settled, const Place& place) {
    const auto found = places_.find(settled.id);
    if (found == places_.end() && settled.previous < oldest_) return;  // the decision was dropped
    if (found == places_.end()) throw place.wrong("decision {} settles, but was not made before", settled.id);
    Waiting& one = decisions_[found->second];
    if (one.settled) throw place.wrong("decision {} settles twice", settled.id);
    one.settled = settled;
  }

  void hand_on(Waiting& one, const std::string& file) {
    LogCounts& counts = builder_.counts();
    if (one.restored) {
      ++counts.restored;
      return;
    }
    if (!one.settled) {
      ++counts.waiting;
      return;
    }
    if (one.settled->reason == SettleReason::cancelled) {
      ++counts.cancelled;
      return;
    }
    if (context_size_ > 0 && one.decided.x.empty()) {
      ++counts.erased;
      return;
    }
    RoundRow row;
    row.action = one.decided.action;
    row.reward = one.settled->value;
    // A policy that was made before actions came knows nothing of them.
    const auto padded = [&](auto list, auto missing) {
      if (!list.empty()) list.resize(std::max(list.size(), builder_.K()), missing);
      return list;
    };
    row.propensities.assign(one.decided.propensities.begin(), one.decided.propensities.end());
    row.propensities = padded(std::move(row.propensities), 0.0);
    row.allowed = std::move(one.decided.allowed);
    if (one.actions < builder_.K() || !row.allowed.empty()) {
      row.allowed.resize(one.actions, 1);
      row.allowed = padded(std::move(row.allowed), std::uint8_t{0});
    }
    row.x = std::move(one.decided.x);
    row.features = padded_features(one);
    builder_.add(std::move(row), {.file = file, .line = one.line});
    counts.expired += one.settled->reason == SettleReason::expired ? 1 : 0;
    counts.estimated += one.decided.propensity_error > 0.0F ? 1 : 0;
    one.decided = {};
  }

  std::vector<float> padded_features(Waiting& one) const {
    std::vector<float> features = std::move(one.decided.features);
    if (!features.empty() && one.actions > 0) features.resize(features.size() / one.actions * builder_.K(), 0.0F);
    return features;
  }

  // That of the log's newest settings. It bounds single rewards, and not their sum; and rewards of before it was set
  // may lie outside.
  std::optional<RewardRange> range_of(const std::vector<double>& rewards) const {
    if (!config_.reward_range || config_.rewards == RewardRule::sum) return std::nullopt;
    const RewardRange range = *config_.reward_range;
    const bool inside = std::ranges::all_of(rewards, [&](double r) { return range.holds(r); });
    return inside ? std::optional(range) : std::nullopt;
  }

  LogBuilder builder_;
  const LogOptions& options_;
  bool made_ = false;
  EventNumber oldest_ = 0;
  LiveConfig config_;
  std::uint64_t context_size_ = 0;
  std::vector<std::uint8_t> retired_;
  std::vector<Waiting> decisions_;
  std::unordered_map<DecisionId, std::size_t> places_;
};

}  // namespace

// The "line" of a message is the number of the event.
LoggedData read_event_log(const Store& store, const std::string& name, const LogOptions& options) {
  if (!options.actions.empty()) throw bad_input("the names of actions are in the log: leave out the list of actions");
  EventRounds rounds(options);
  rounds.skip_to(store.oldest());
  for_each_event(store, [&](EventNumber number, const GroupTime&, const Event& event) {
    rounds.see(event, {.file = name, .line = number});
  });
  return rounds.finish(name);
}

// Exported lines have one gap, where old events were dropped: the log says so.
LoggedData read_event_log(const std::filesystem::path& path, const LogOptions& options) {
  const std::string file = path.string();
  if (std::filesystem::is_directory(path)) return read_event_log(SqliteStore(path, Access::read), file, options);
  if (!options.actions.empty()) throw bad_input("the names of actions are in the log: leave out the list of actions");
  EventRounds rounds(options);
  EventNumber last = 0, gap = 0, dropped = 0;
  std::optional<Error> unexplained;  // the gap
  for_each_line(path, [&](std::string_view line, const Place& place) {
    TimedEvent event;
    try {
      event = event_from_json(line);
    } catch (const Error& e) {
      throw place.wrong("{}", e.what());
    }
    if (event.number != last + 1 && (gap > 0 || event.number <= last || last == 0)) {
      throw place.wrong("event {} must follow, not {}", last + 1, event.number);
    }
    if (event.number != last + 1) {
      gap = event.number;
      unexplained = place.wrong("event {} must follow, not {}", last + 1, event.number);
      rounds.skip_to(gap);
    }
    last = event.number;
    if (const auto* erased = std::get_if<Erased>(&event.event)) dropped = std::max(dropped, erased->dropped);
    rounds.see(event.event, place);
  });
  if (gap > dropped) throw *unexplained;
  return rounds.finish(file);
}

}  // namespace pits
