#include "pits/log/teach.h"

#include <unordered_map>

#include "pits/core/interrupt.h"
#include "pits/log/audit.h"
#include "pits/log/live_bandit.h"

namespace pits {
namespace {

template <class Kind, class... Others>
constexpr bool one_of = (std::is_same_v<Kind, Others> || ...);
// Of the old model and its engine: they mean nothing in another log.
template <class Kind>
constexpr bool is_of_the_model =
    one_of<Kind, EngineChanged, Erased, TrainingBegan, TrainingAdopted, TrainingSkipped, Taught>;

LiveSetup new_setup(const Created& old, const TeachSetup& setup) {
  return {.agent = setup.agent.empty() ? old.agent : setup.agent,
          .context_size = setup.schema.empty() ? old.context_size : 0,
          .actions = old.actions,
          .seed = setup.seed,
          .config = live_config(old.config),
          .schema = setup.schema.empty() ? old.schema : setup.schema};
}

// The decisions of the old log as the new bandit sees them.
class Translation {
 public:
  Translation(const Created& old, const Created& created)
      : context_size_(created.context_size), candidates_(created.actions.empty()) {
    const bool same = old.schema.empty() ? created.schema.empty() : created.schema == Schema(old.schema).text();
    if (!same) schema_.emplace(created.schema);
  }

  // False where the new bandit cannot know the context.
  bool operator()(Decided& decided) const {
    decided.model = 0;
    if (!schema_) return !was_erased(decided, context_size_, candidates_);
    if (decided.context.empty() || was_erased(decided, 0, candidates_)) return false;
    try {
      decided.x = schema_->encode(decided.context);
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("the context of decision {}: {}", decided.id, e.what()));
    }
    return true;
  }

 private:
  std::size_t context_size_;
  bool candidates_;
  std::optional<Schema> schema_;  // where it is another one
};

// Writes group after group, and learns what it has written.
class Teacher {
 public:
  Teacher(Store& to, const Created& created, const Translation& translate)
      : to_(to), created_(created), translate_(translate) {}

  void take(const GroupReader& old) {
    time_ = old.time();
    for (EventNumber number = old.first(); number <= old.last(); ++number) {
      Event event = old.event(number);
      std::visit([&](auto& fields) { this->take(fields); }, event);
    }
    commit();
    if (learner_->training_due()) train();
  }

  Teaching finish(const Created& old, EventNumber events) {
    const Bandit& bandit = learner_->bandit();
    done_.learned = bandit.agent().events();
    done_.refused = learner_->refused();
    done_.waiting = latest_.size();
    if (done_.learned == 0 && done_.refused > 0) {
      throw bad_input("the agent refuses every outcome of the log; the last is {}", learner_->refusal());
    }
    add(Taught{.agent = old.agent,
               .seed = old.seed,
               .events = events,
               .decisions = done_.decisions,
               .left_out = done_.left_out});
    commit();
    to_.keep({.number = last_, .engine = created_.engine, .base = false, .bytes = learner_->saved()});
    return done_;
  }

 private:
  void take(Created&) {
    add(created_);
    commit();
    learner_.emplace(to_);
  }
  void take(Decided& decided) { take_decision(decided); }
  void take(Restored& restored) { take_decision(restored); }
  template <class Kind>
  void take_decision(Kind& decided) {
    if (!translate_(decided)) {
      ++done_.left_out;
      return;
    }
    if (!learner_->bandit().agent().takes_features()) decided.features.clear();
    latest_[decided.id] = add(decided);
    if (!decided.key.empty()) keys_.emplace_back(decided.key, decided.id);
    ++done_.decisions;
  }
  // The other events: some belong to a decision, which may have been left out.
  template <class Kind>
  void take(Kind& event) {
    if constexpr (requires { event.previous; }) {
      const auto found = latest_.find(event.id);
      if (found == latest_.end()) return;
      event.previous = found->second;
      found->second = add(event);
      if (std::is_same_v<Kind, Settled>) latest_.erase(found);
    } else if constexpr (!is_of_the_model<Kind>) {
      add(event);
    }
  }

  template <class Kind>
  EventNumber add(const Kind& event) {
    group_.add(event);
    return last_ + group_.count();
  }

  void commit() {
    check_interrupt();
    if (group_.count() > 0) to_.commit({.first = last_ + 1, .group = group_.finish(time_), .keys = keys_});
    last_ += group_.count();
    group_ = {};
    keys_.clear();
    if (learner_) learner_->follow(last_);
  }

  // Beside the rewards, but nobody waits for it: it is adopted at once.
  void train() {
    const EventNumber began = add(TrainingBegan{.observations = learner_->bandit().agent().events()});
    commit();
    learner_->training()->train();
    add(TrainingAdopted{.began = began, .problem = learner_->training()->problem()});
    commit();
    ++done_.trainings;
  }

  Store& to_;
  const Created& created_;
  const Translation& translate_;
  std::optional<Learner> learner_;
  EventNumber last_ = 0;
  GroupTime time_;
  GroupWriter group_;
  std::vector<std::pair<std::string, DecisionId>> keys_;  // of the group
  std::unordered_map<DecisionId, EventNumber> latest_;    // event of decisions that have not settled
  Teaching done_;
};

}  // namespace

Teaching teach(Store& to, const Store& from, const TeachSetup& setup) {
  if (to.last() != 0) throw bad_input("the store holds a log already");
  const std::uint64_t decisions = check_log(from).decisions;
  const Created old = created_event(from);
  const Created created = created_by(new_setup(old, setup));
  const Translation translate(old, created);
  std::uint64_t known = 0;
  for_each_event(from, [&](EventNumber, const GroupTime&, Event event) {
    if (Decided* decided = decision_in(event)) known += translate(*decided) ? 1 : 0;
  });
  if (decisions > 0 && known == 0) {
    throw bad_input(
        "none of the {} decisions of the log has a context to learn from: they were erased, or came as numbers",
        decisions);
  }
  Teacher teacher(to, created, translate);
  const EventNumber last = from.last();
  for (EventNumber number = 1; number <= last;) {
    const GroupReader group = from.group_from(number).value();
    teacher.take(group);
    number = group.last() + 1;
  }
  return teacher.finish(old, last);
}

}  // namespace pits
