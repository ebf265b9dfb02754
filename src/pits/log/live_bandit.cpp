#include "pits/log/live_bandit.h"

#include <algorithm>
#include <random>

#include "pits/log/first_id.h"

namespace pits {
namespace {

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

void check_names(const std::vector<std::string>& names) {
  if (std::ranges::find(names, "") != names.end()) throw bad_input("an action needs a name");
}

Choice choice_of(const Decided& decided) {
  return {.id = decided.id,
          .action = decided.action,
          .propensity = decided.propensities.at(decided.action),
          .propensity_error = decided.propensity_error};
}

// That is not empty.
std::string first_of(std::initializer_list<std::string_view> problems) {
  const auto found = std::ranges::find_if(problems, [](std::string_view problem) { return !problem.empty(); });
  return found == problems.end() ? std::string() : std::string(*found);
}

std::string damage_of_index(const LedgerCounts& counts) {
  if (counts.mended == 0) return {};
  return fmt::format(
      "{} pages of the index of decisions were damaged and were made again from the events: the disk is "
      "perhaps failing",
      counts.mended);
}

}  // namespace

Created created_by(const LiveSetup& setup) {
  check(setup.config);
  check_names(setup.actions);
  for (std::size_t i = 0; i < setup.actions.size(); ++i) {
    if (std::ranges::count(setup.actions, setup.actions[i]) > 1) {
      throw bad_input("two actions have the name '{}'", setup.actions[i]);
    }
  }
  const auto schema = setup.schema.empty() ? std::nullopt : std::optional<Schema>(std::in_place, setup.schema);
  const std::size_t context_size = schema ? schema->width() : setup.context_size;
  if (schema && setup.context_size != 0 && setup.context_size != context_size) {
    throw bad_input("the schema makes contexts of {} numbers, not {}", context_size, setup.context_size);
  }
  Created created{.agent = {},
                  .context_size = context_size,
                  .seed = setup.seed ? *setup.seed : random_seed(),
                  .actions = setup.actions,
                  .config = as_text(setup.config),
                  .schema = schema ? schema->text() : std::string(),
                  .engine = engine_name()};
  // Every field is spelled out: defaults of a later version do not change it.
  created.agent = Bandit(setup.agent, {.context_size = context_size, .actions = setup.actions.size()}).describe();
  return created;
}

void LiveBandit::create(Store& store, const LiveSetup& setup, const Clock& clock) {
  Ledger::create(store, clock, created_by(setup), setup.seed ? 0 : first_id(clock.utc()));
}

LiveBandit::LiveBandit(std::unique_ptr<Store> store, const Clock& clock, const LedgerLimits& limits,
                       const SharedServing& shared)
    : store_(std::move(store)),
      clock_(clock),
      limits_(limits),
      pin_(newest_engine(*store_)),
      learner_(recovered(*store_, damage_, limits.stop)),
      shared_(shared),
      decider_(shared.decider),
      published_to_(learner_.number()),
      committed_(learner_.number()),
      learned_to_(learner_.number()),
      snapshot_number_(damage_.empty() ? learner_.number() : 0) {  // what took long to learn again is kept soon
  if (!decider_) {
    decider_ = std::make_shared<Decider>(created_event(*store_), learner_.bandit().policy().copy(), learner_.number(),
                                         [this](bool wait) { return next_id(wait); });
  }
  writer_ = std::make_unique<LogWriter>(
      *store_, clock, limits, [this](EventNumber number) { committed(number); }, shared.elsewhere);
  const std::string engine = writer_->call([this](Ledger& ledger) {
    decider_->publish_names(ledger.actions());
    return ledger.engine();
  });
  decider_->publish(learner_.bandit().policy(), learner_.number(), engine);
  record_engine();
  if (!shared_.decider) {
    // Ids that may have been given before a crash are not given again; nor those that this log does not know of,
    // because it is an older copy.
    const DecisionId reserved = writer_->call([](Ledger& ledger) { return ledger.reserved_ids(); });
    next_id_ = reserved == 0 ? 0 : std::max(reserved, first_id(clock.utc()));
    reserve_ids(next_id_ + id_block);
  }
  learner_thread_ = std::thread([this] { learn(); });
}

LiveBandit::~LiveBandit() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  to_learner_.notify_all();
  learner_thread_.join();
  try {
    close_training();
  } catch (const std::exception&) {  // it starts again where it began, when the log is opened again
  }
  try {
    if (shared_.model_age > 0 && learner_.number() > version_number_) publish_version();
    if (learner_.training() == nullptr && learner_.number() > snapshot_number_) keep_snapshot(false);
  } catch (const std::exception&) {  // the events are durable
  }
  writer_.reset();
}

// The state that another engine left is where this one starts: it is kept, since replaying would not give it again. The
// same where that state was lost, and this engine has learned it again, with bits of its own.
void LiveBandit::record_engine() {
  const std::string engine = engine_name();
  const bool same = writer_->call([](Ledger& ledger) { return ledger.engine(); }) == engine;
  if (same && !learner_.engine_changed()) return;
  const EventNumber number = writer_->call_then(
      [&](Ledger& ledger) {
        ledger.change_engine(engine);
        return 0;
      },
      [](Ledger& ledger, int) { return ledger.last(); });
  learner_.follow(number);
  keep_snapshot(true);
  publish();
}

void LiveBandit::reserve_ids(DecisionId end) {
  const DecisionId reserved = writer_->call([end](Ledger& ledger) { return ledger.reserve_ids(end); });
  for (DecisionId now = reserved_ids_; now < reserved && !reserved_ids_.compare_exchange_weak(now, reserved);) {
  }
}

// The next block is reserved when half of the last one is used.
DecisionId LiveBandit::next_id(bool wait) {
  const DecisionId id = next_id_.fetch_add(1);
  const bool none_left = id >= reserved_ids_;
  if (none_left && wait) {
    reserve_ids(id + id_block);
    return id;
  }
  if (id + id_block / 2 >= reserved_ids_ && !reserving_.exchange(true)) {
    writer_->add({.apply = [end = id + id_block](Ledger& ledger) { ledger.reserve_ids(end); },
                  .finish =
                      [this](Ledger& ledger, const std::exception_ptr& error) {
                        if (!error) reserved_ids_ = ledger.reserved_ids();
                        reserving_ = false;
                      }});
  }
  if (none_left) throw failed("there are no ids for decisions until the log is written again: {}", writer_->problem());
  return id;
}

Choice LiveBandit::decide(ContextView x, const ActionSet& actions, const DecisionLabels& labels) {
  Decided made = decider_->make(x, actions, labels, nullptr, true);
  const Choice choice = choice_of(made);
  if (!made.key.empty()) {
    return writer_->call_then([&](Ledger& ledger) { return ledger.decide(made); },
                              [](Ledger& ledger, DecisionId id) { return choice_of(ledger.find(id).value()); });
  }
  if (!writer_->add(std::move(made))) {
    const std::string reason = writer_->problem();
    throw failed("{} decisions are not written yet, and no more are taken{}{}", writer_->queued(),
                 reason.empty() ? "" : ": ", reason);
  }
  return choice;
}

double LiveBandit::probabilities(ContextView x, std::span<float> p, const ActionSet& actions) const {
  return decider_->probabilities(x, actions, next_id_.load(), p);
}

void LiveBandit::flush() {
  writer_->call([](Ledger&) { return 0; });
}

Action LiveBandit::add_actions(const std::vector<std::string>& names) {
  check_names(names);
  const Action first = writer_->call([&](Ledger& ledger) {
    const Action added = ledger.add_actions(names);
    decider_->publish_names(ledger.actions());  // before the learner can know of them
    return added;
  });
  catch_up(limits_.patience);
  return first;
}

void LiveBandit::retire(Action action) {
  writer_->call([action](Ledger& ledger) {
    ledger.retire(action);
    return 0;
  });
  catch_up(limits_.patience);
}

void LiveBandit::change_config(const LiveConfig& config) {
  writer_->call([&](Ledger& ledger) {
    ledger.change_config(config);
    return 0;
  });
}

LiveConfig LiveBandit::config() {
  return writer_->call([](Ledger& ledger) { return ledger.config(); });
}

std::string LiveBandit::saved() {
  {
    std::unique_lock lock(mutex_);
    learned_.wait(lock, [&] { return idle_ && learned_to_ >= committed_; });
  }
  const std::scoped_lock lock(learning_);
  return learner_.saved();
}

LiveStatus LiveBandit::status() const {
  const std::string store_problem = writer_->problem();
  const LedgerCounts counts = writer_->counts();
  const std::scoped_lock lock(mutex_);
  const std::string damage = damage_.empty() ? damage_of_index(counts) : damage_;
  return {.committed = committed_,
          .learned = learned_to_,
          .made = decider_->made(),
          .queued = writer_->queued(),
          .waiting = writer_->waiting(),
          .unlogged = writer_->unlogged(),
          .durable = counts,
          .refused = refused_,
          .trainings = trainings_,
          .training = !idle_,
          .learning_problem = learning_problem_,
          .store_problem = store_problem,
          .damage = damage,
          .problem = first_of({store_problem, learning_problem_, snapshot_problem_, refusal_, damage})};
}

}  // namespace pits
