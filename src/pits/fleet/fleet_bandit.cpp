#include "pits/fleet/fleet_bandit.h"

#include <future>

namespace pits {
namespace {

// Few events are read before a server that takes over goes on; more pages are written for it.
LedgerLimits limits(const std::stop_token& stop) {
  return {.recovery_events = 4096, .stop = stop, .patience = std::chrono::seconds(2)};
}
constexpr Microseconds lease_problem_for = 10'000'000;  // it is tried again sooner

}  // namespace

Holding::Holding(std::unique_ptr<PostgresStore> to, const Clock& clock, const SharedServing& shared,
                 const std::stop_token& stop)
    : store(*to), live(std::move(to), clock, limits(stop), shared), since(system_clock().steady()), used(since) {}

FleetBandit::FleetBandit(BanditId id, std::string name, std::shared_ptr<PostgresPool> pool,
                         std::shared_ptr<FleetLink> link)
    : id_(id),
      name_(std::move(name)),
      link_(std::move(link)),
      store_(std::move(pool), id),
      pin_(newest_engine(store_)) {
  const Created created = created_event(store_);
  config_ = as_text(live_config(created.config));
  const Learner first(store_);
  decider_ = std::make_shared<Decider>(created, first.bandit().policy().copy(), 0, [this](bool) { return next_id(); });
  decider_->publish(first.bandit().policy(), 0, created.engine);
  load();
}

bool FleetBandit::needs_ids() const {
  const std::scoped_lock lock(ids_);
  return next_block_ == 0 && ids_end_ - next_id_ < id_block / 2;
}

void FleetBandit::add_ids(DecisionId end) {
  const std::scoped_lock lock(ids_);
  next_block_ = end;
}

DecisionId FleetBandit::next_id() {
  const std::scoped_lock lock(ids_);
  if (next_id_ == ids_end_) {
    if (next_block_ == 0)
      throw failed("there are no ids for decisions until the database is there: {}", link_->problem());
    ids_end_ = std::exchange(next_block_, 0);
    next_id_ = ids_end_ - id_block;
  }
  return next_id_++;
}

std::shared_ptr<Holding> FleetBandit::holding() const {
  const std::scoped_lock lock(mutex_);
  return holding_;
}

void FleetBandit::set_holding(std::shared_ptr<Holding> holding) {
  const auto config = holding ? std::optional(as_text(holding->live.config())) : std::nullopt;
  const std::scoped_lock lock(mutex_);
  holding_.swap(holding);
  if (config) config_ = *config;
  if (config) lease_problem_.clear();
}

void FleetBandit::set_lease_problem(const std::string& problem) {
  const std::scoped_lock lock(mutex_);
  lease_problem_ = problem;
  lease_problem_at_ = system_clock().steady();
}

void FleetBandit::set_config(const TextFields& config) {
  const std::scoped_lock lock(mutex_);
  config_ = config;
}

void FleetBandit::count_unlogged() {
  ++unlogged_;
  ++gap_;
}

void FleetBandit::record_gap() {
  const std::uint64_t decisions = gap_.exchange(0);
  if (decisions == 0) return;
  // Nobody waits for it, however long it takes: what the outbox has taken is carried out once.
  if (!link_->outbox.add(id_, {.kind = CallKind::gap, .number = decisions})) gap_ += decisions;
}

bool FleetBandit::write(Decided&& decided) {
  const auto held = holding();
  if (!held || held->store.lost()) return write_elsewhere(std::move(decided));
  held->called = true;
  const bool taken = held->live.writer().add(std::move(decided));
  if (!taken) count_unlogged();
  return taken;
}

bool FleetBandit::write_elsewhere(Decided decided) {
  const bool taken = link_->outbox.add(
      id_, {.kind = CallKind::decided, .decided = std::make_shared<const Decided>(std::move(decided))});
  if (!taken) count_unlogged();
  return taken;
}

void FleetBandit::write(Decided decided, Written done) {
  const auto made = std::make_shared<const Decided>(std::move(decided));
  call({.kind = CallKind::decided, .decided = made},
       [made, done = std::move(done)](const CallAnswer* answer, std::exception_ptr error) {
         if (!error && !answer->refusal.empty()) error = std::make_exception_ptr(bad_input("{}", answer->refusal));
         if (error) return done(nullptr, error);
         done(answer->decided ? answer->decided.get() : made.get(), nullptr);
       });
}

CallDone FleetBandit::answered(Answered done) {
  return [done = std::move(done)](const CallAnswer* answer, std::exception_ptr error) {
    if (!error && !answer->refusal.empty()) error = std::make_exception_ptr(bad_input("{}", answer->refusal));
    done(error ? std::vector<Answer>() : answer->answers, error);
  };
}

void FleetBandit::reward(std::vector<Reward> rewards, Answered done) {
  call({.kind = CallKind::reward, .rewards = std::move(rewards)},
       answered([this, done = std::move(done)](std::vector<Answer> answers, const std::exception_ptr& error) {
         rewards_ += static_cast<std::uint64_t>(std::ranges::count(answers, Answer::accepted));
         done(std::move(answers), error);
       }));
}

void FleetBandit::activate(DecisionId id, Record record, Answered done) {
  call({.kind = CallKind::activate, .rewards = {{.id = id, .value = 0.0F, .record = std::move(record)}}},
       answered(std::move(done)));
}

void FleetBandit::cancel(DecisionId id, Record record, Answered done) {
  call({.kind = CallKind::cancel, .rewards = {{.id = id, .value = 0.0F, .record = std::move(record)}}},
       answered(std::move(done)));
}

// Those who ask share one thread, which must not wait for a database that does not answer.
std::optional<DecisionId> FleetBandit::find(std::string_view key) const {
  if (const std::string problem = link_->problem(LinkPart::session); !problem.empty()) throw failed("{}", problem);
  try {
    return store_.decision_of(key);
  } catch (const ConnectionError& e) {  // the watching thread may not know yet, and says when it is over
    link_->report(LinkPart::session, e.what());
    throw;
  }
}

CallAnswer FleetBandit::call_and_wait(Call asked) {
  const auto promise = std::make_shared<std::promise<CallAnswer>>();
  call(std::move(asked), [promise](const CallAnswer* answer, const std::exception_ptr& error) {
    error ? promise->set_exception(error) : promise->set_value(*answer);
  });
  CallAnswer answer = promise->get_future().get();
  if (!answer.refusal.empty()) throw bad_input("{}", answer.refusal);
  return answer;
}

Action FleetBandit::add_actions(const std::vector<std::string>& names) {
  return static_cast<Action>(call_and_wait({.kind = CallKind::add_actions, .actions = names}).number);
}

void FleetBandit::retire(Action action) { call_and_wait({.kind = CallKind::retire, .number = action}); }

void FleetBandit::change_config(const LiveConfig& config) {
  call_and_wait({.kind = CallKind::config, .config = as_text(config)});
}

LiveConfig FleetBandit::config() {
  const std::scoped_lock lock(mutex_);
  return live_config(config_);
}

LiveStatus FleetBandit::status() const {
  LiveStatus status;
  status.held = false;
  if (const auto held = holding(); held && !held->store.lost()) status = held->live.status();
  if (!status.held) status.model_age = model_age();
  const std::string problem = status.held ? link_->problem(LinkPart::session) : link_->problem_of_calls();
  const std::scoped_lock lock(mutex_);
  status.committed = std::max(status.committed, last_);
  status.learned = std::max({status.learned, decider_->model(), EventNumber{1}});
  status.made = decider_->made();
  status.queued += link_->outbox.queued();
  status.unlogged += unlogged_;
  status.durable.rewards = rewards_;
  if (!status.held && !unread_policy_.empty()) status.problem = unread_policy_;
  if (status.problem.empty()) status.problem = bad_row_;
  const bool recent = system_clock().steady() - lease_problem_at_ < lease_problem_for;
  if (!status.held && recent && !lease_problem_.empty()) status.store_problem = status.problem = lease_problem_;
  if (!problem.empty()) status.store_problem = status.problem = problem;
  return status;
}

}  // namespace pits
