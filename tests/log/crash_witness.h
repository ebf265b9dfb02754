// What log_crash knows of a log: from its events alone, and from what clients were told.
#pragma once

#include <map>
#include <set>

#include "log/crash_notes.h"
#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"

namespace pits::test {

constexpr int clients = 8;
inline const std::vector<std::string> first_actions = {"a", "b", "c", "d"};

// The value says which decision it is for.
inline float value_of(DecisionId id) { return static_cast<float>(id % 97) / 97.0F; }

// What the log says of every decision, from its events alone; grows with the log.
struct Story {
  std::optional<Action> action;
  bool restored = false;
  std::map<std::string, int> rewards;  // by key
  int settled = 0;
  float value = 0.0F;
  SettleReason reason = SettleReason::reward;
};

class Witness {
 public:
  Witness(const fs::path& directory, RewardRule rule) : directory_(directory), rule_(rule) {
    for (int c = 0; c < clients; ++c) notes_.emplace_back(notes_of(directory, c));
  }

  std::size_t rewards() const { return accepted_; }
  std::size_t decisions() const { return stories_.size(); }
  std::size_t restored() const { return restored_; }
  std::size_t cancelled() const { return cancelled_; }
  std::size_t actions() const { return actions_.size(); }
  EventNumber events() const { return last_; }
  std::size_t trainings() const { return trainings_; }
  std::size_t cut_trainings() const { return cut_; }

  void check_after_kill() {
    if (!fs::exists(directory_ / "log" / "events.db")) return;
    {
      auto store = std::make_unique<SqliteStore>(directory_ / "log");
      killed_at_ = store->last();
      if (killed_at_ == 0) return;  // killed before it was created
      LiveBandit live(std::move(store));
      live.saved();  // after a training that was cut, too
    }
    // What it keeps at its end: windows that close meanwhile change the state until then.
    const SqliteStore store(directory_ / "log", Access::read);
    const Snapshot recovered = store.snapshot(store.snapshots().back().number);
    read_events(store);
    // The witness' own state after the kill before, and all events since. (An open learner would keep the file open,
    // and SQLite would have nothing to recover.)
    Learner learner = state_.bytes.empty() ? Learner(store) : Learner(store, state_);
    learner.follow(recovered.number);
    state_ = {.number = learner.number(), .bytes = learner.saved()};
    if (state_.bytes != recovered.bytes) throw failed("the recovered state differs from the replay");
    check_notes();
  }
  // All of it once more, from the first event and the first note.
  void check_all() const {
    const SqliteStore store(directory_ / "log", Access::read);
    Learner learner(store);
    learner.follow(state_.number);
    if (learner.saved() != state_.bytes) throw failed("the replay of all events differs");
    Witness again(directory_, rule_);
    again.read_events(store);
    again.check_notes();
    if (again.last_ != last_ || again.accepted_ != accepted_) throw failed("the log has changed");
  }

 private:
  void read_events(const Store& store) {
    if (store.last() < last_) throw failed("the log had {} events and has {}", last_, store.last());
    while (const auto group = store.group_holding(last_ + 1)) {
      for (; last_ < group->last(); ++last_) {
        const Event event = group->event(last_ + 1);
        read(event);
        read_training(last_ + 1, event);
      }
    }
  }
  void read(const Event& event) {
    if (const Decided* d = decision_in(event)) {
      if (stories_[d->id].action) throw failed("decision {} is in the log twice", d->id);
      stories_[d->id].action = d->action;
      stories_[d->id].restored = std::holds_alternative<Restored>(event);
      restored_ += stories_[d->id].restored ? 1U : 0U;
    } else if (const auto* r = std::get_if<Rewarded>(&event)) {
      Story& story = stories_[r->id];
      if (!story.action || story.settled > 0) throw failed("decision {} has a reward when it must not", r->id);
      if (r->value != value_of(r->id)) throw failed("decision {} has another's reward", r->id);
      if (++story.rewards[r->key] > 1) throw failed("decision {} has reward {} twice", r->id, r->key);
    } else if (const auto* s = std::get_if<Settled>(&event)) {
      Story& story = stories_[s->id];
      if (++story.settled > 1) throw failed("decision {} has settled twice", s->id);
      story.reason = s->reason;
      check_settled(*s, story);
      cancelled_ += s->reason == SettleReason::cancelled ? 1U : 0U;
    } else if (const auto* added = std::get_if<ActionsAdded>(&event)) {
      if (added->first != actions_.size())
        throw failed("actions are added at {}, not {}", added->first, actions_.size());
      actions_.insert(actions_.end(), added->names.begin(), added->names.end());
    }
  }
  void read_training(EventNumber number, const Event& event) {
    if (std::holds_alternative<TrainingBegan>(event)) {
      if (training_ != 0) throw failed("the training of event {} has not ended", training_);
      training_ = number;
    } else if (const auto* adopted = std::get_if<TrainingAdopted>(&event)) {
      if (adopted->began != training_) throw failed("event {} adopts another training", number);
      ++trainings_;
      if (training_ <= killed_at_ && number > killed_at_) ++cut_;
      training_ = 0;
    } else if (const auto* skipped = std::get_if<TrainingSkipped>(&event); skipped != nullptr && skipped->began > 0) {
      training_ = 0;
    }
  }
  void check_settled(const Settled& s, const Story& story) const {
    if (s.reason == SettleReason::cancelled) {
      if (s.value != 0.0F) throw failed("decision {} was cancelled with a value", s.id);
      return;
    }
    const auto n = static_cast<float>(story.rewards.size());
    const float one = value_of(s.id);
    double sum = 0.0;
    for (int i = 0; i < static_cast<int>(n); ++i) sum += one;
    const float expected = n == 0 ? 0.0F : rule_ == RewardRule::sum ? static_cast<float>(sum) : one;
    const SettleReason reason = story.restored ? SettleReason::lost
                                : n == 0       ? SettleReason::expired
                                               : SettleReason::reward;
    if (s.value != expected || s.reason != reason) throw failed("decision {} has settled wrongly", s.id);
    if (rule_ == RewardRule::first && n > 1) throw failed("decision {} has {} rewards", s.id, n);
  }

  // What clients were told since the last check.
  void check_notes() {
    for (NoteReader& reader : notes_) reader.read(told_);
    for (const auto& [id, action] : told_.flushed) {
      if (!stories_.contains(id)) throw failed("decision {} was flushed and is lost", id);
      if (stories_[id].action != action) throw failed("decision {} has another action", id);
    }
    for (const auto& [id, key, answer] : told_.rewards) check_answer(id, key, answer);
    told_.rewards.clear();
    for (const auto& [id, answer] : told_.cancels) check_cancel(id, answer);
    told_.cancels.clear();
    for (const auto& [id, story] : stories_) {
      const bool cancelled = story.settled > 0 && story.reason == SettleReason::cancelled;
      if (cancelled && !told_.cancelling.contains(id)) throw failed("decision {} was cancelled by nobody", id);
    }
    check_actions();
  }
  void check_cancel(DecisionId id, const std::string& answer) {
    const auto story = stories_.find(id);
    if (answer == "unknown") throw failed("decision {} was unknown, with its record", id);
    if (story == stories_.end() && answer == "expired") return;  // lost, and came back too late
    const bool settled = story != stories_.end() && story->second.settled == 1;
    const bool cancelled = settled && story->second.reason == SettleReason::cancelled;
    if (!settled || cancelled == (answer == "expired")) throw failed("the cancellation of {} was {}", id, answer);
  }
  void check_actions() const {
    const std::set<std::string> names(actions_.begin(), actions_.end());
    if (names.size() != actions_.size()) throw failed("an action was added twice");
    for (const auto& [name, action] : told_.added) {
      if (action >= actions_.size() || actions_[action] != name) throw failed("action '{}' is lost", name);
    }
    for (std::size_t a = first_actions.size(); a < actions_.size(); ++a) {
      if (!told_.adding.contains(actions_[a])) throw failed("action '{}' was added by nobody", actions_[a]);
    }
  }
  // The same key may be accepted for a decision once.
  void check_answer(DecisionId id, const std::string& key, const std::string& answer) {
    const auto story = stories_.find(id);
    const bool known = story != stories_.end();
    if (answer == "unknown") throw failed("decision {} was unknown, with its record", id);
    if (!known && answer == "expired" && !told_.flushed.contains(id)) return;  // lost, and came back too late
    if (!known) throw failed("decision {} had a reward and is lost", id);
    if (answer == "duplicate" && story->second.rewards.empty()) throw failed("decision {} had no reward", id);
    if (answer == "expired" && story->second.settled != 1) throw failed("decision {} had not settled", id);
    if (answer != "accepted") return;
    ++accepted_;
    if (!story->second.rewards.contains(key)) throw failed("reward {} {} is lost", id, key);
    if (!accepted_keys_.emplace(id, key).second) throw failed("{} {} was accepted twice", id, key);
  }

  fs::path directory_;
  RewardRule rule_;
  Snapshot state_;
  std::vector<NoteReader> notes_;
  Told told_;
  std::set<std::pair<DecisionId, std::string>> accepted_keys_;
  std::map<DecisionId, Story> stories_;
  EventNumber last_ = 0, killed_at_ = 0, training_ = 0;
  std::vector<std::string> actions_ = first_actions;
  std::size_t accepted_ = 0, restored_ = 0, cancelled_ = 0, trainings_ = 0, cut_ = 0;
};

}  // namespace pits::test
