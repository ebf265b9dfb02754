#include "pits/serve/monitor.h"

#include <algorithm>

#include "pits/log/learner.h"

namespace pits {
namespace {

constexpr Microseconds second = 1'000'000;
constexpr std::size_t kept = 20;  // versions of the model, and trainings

}  // namespace

Monitor::Monitor(const Store& store, EventNumber from, const std::optional<LiveConfig>& config, const Clock& clock,
                 std::size_t most_waiting)
    : store_(store),
      clock_(clock),
      from_(std::max<EventNumber>(from, 1)),
      most_waiting_(most_waiting),
      number_(from_ - 1),
      all_(second, 200, WhenFull::merge),
      recent_(20 * second, 180, WhenFull::drop),
      seconds_(second, 64, WhenFull::drop) {
  const Created created = created_event(store);
  named_actions_ = !created.actions.empty();
  use(config ? *config : live_config(created.config));
  if (const auto group = store_.group(from_)) time_ = group->time();
  now_ = time_.elapsed;
}

void Monitor::use(const LiveConfig& config) {
  window_ = config.window > 0.0;
  if (!window_) std::ranges::for_each(waiting_, [this](Waiting& decision) { judge(decision); });
  if (config.reward_range == range_) return;
  range_ = config.reward_range;
  values_ = {};
  intervals_.clear();
  interval_rounds_ = 0;
  if (range_) values_.set_range(*range_);
}

EventNumber Monitor::number() const {
  const std::scoped_lock lock(mutex_);
  return number_;
}

void Monitor::follow(EventNumber until, std::size_t most_events) {
  const EventNumber end = std::min<EventNumber>(until, number_ + most_events);
  while (number_ < end) {
    const auto group = store_.group_from(number_ + 1);
    if (!group) break;
    const std::scoped_lock lock(mutex_);
    number_ = std::max(number_, group->first() - 1);
    time_ = group->time();
    for (const EventNumber last = std::min(end, group->last()); number_ < last; ++number_) {
      see(number_ + 1, group->event(number_ + 1));
    }
    now_ = std::max(now_, time_.elapsed);
  }
  if (number_ >= until) {
    const std::scoped_lock lock(mutex_);
    now_ = std::max(now_, clock_.utc() - (time_.utc - time_.elapsed));
  }
  refresh_intervals();
}

// What was computed at any time holds at any time: the effort is small where many rounds have gone before.
void Monitor::refresh_intervals() {
  if (values_.rounds() == interval_rounds_ || values_.rounds() * 50 < interval_rounds_ * 51) return;
  const PolicyValues values = values_;  // this thread alone changes it
  std::vector<Interval> intervals = values.intervals();
  const std::scoped_lock lock(mutex_);
  intervals_ = std::move(intervals);
  interval_rounds_ = values.rounds();
}

template <class Change>
void Monitor::in_series(Microseconds elapsed, Change&& change) {
  for (Timeline* series : {&all_, &recent_, &seconds_}) {
    if (Bucket* bucket = series->at(elapsed)) change(*bucket);
  }
}

void Monitor::see(EventNumber number, const Event& event) {
  if (const auto* decided = std::get_if<Decided>(&event)) {
    see(*decided);
  } else if (const auto* settled = std::get_if<Settled>(&event)) {
    see(*settled);
  } else if (std::holds_alternative<Rewarded>(event)) {
    ++rewards_;
    in_series(time_.elapsed, [](Bucket& bucket) { ++bucket.rewards; });
  } else if (const auto* retired = std::get_if<ActionRetired>(&event)) {
    if (retired->action >= retired_.size()) retired_.resize(retired->action + 1);
    retired_[retired->action] = 1;
  } else if (const auto* changed = std::get_if<ConfigChanged>(&event)) {
    use(live_config(changed->config));
  } else if (const auto* adopted = std::get_if<TrainingAdopted>(&event)) {
    ++adopted_;
    trainings_.push_back({number, adopted->began, time_.elapsed, adopted->problem});
    if (trainings_.size() > kept) trainings_.pop_front();
  } else if (std::holds_alternative<TrainingSkipped>(event)) {
    ++skipped_;
  } else if (std::holds_alternative<Restored>(event)) {
    ++restored_;
  } else if (const auto* gap = std::get_if<Gap>(&event)) {
    unlogged_ += gap->decisions;
  }
}

void Monitor::see(const Decided& decided) {
  ++decisions_;
  in_series(time_.elapsed, [&](Bucket& bucket) {
    ++bucket.decisions;
    if (named_actions_) bucket.count_action(decided.action);
  });
  count_version(decided.model);
  const JudgedRound round = judged_round(decided);
  const bool certain = round.propensity == 1.0F && round.allowed > 1;
  started_ = started_ || !certain;
  count_propensities(decided);
  if (!is_sampled(decided.id)) return;
  if (!places_.try_emplace(decided.id, first_place_ + waiting_.size()).second) {
    throw bad_input("the log is damaged: two decisions have the id {}", decided.id);
  }
  waiting_.push_back({.id = decided.id,
                      .elapsed = time_.elapsed,
                      .round = round,
                      .actions = static_cast<std::uint32_t>(named_actions_ ? decided.propensities.size() : 0),
                      .judged = started_});
  ++waiting_count_;
  in_series(time_.elapsed, [](Bucket& bucket) { ++bucket.waiting; });
  thin_sample();
}

// Those of policies published in between come late: numbers are not always those of before or higher.
void Monitor::count_version(EventNumber model) {
  if (model < oldest_version_) return;
  const auto [place, is_new] = versions_.try_emplace(model, Version{.decisions = 0, .first = time_.elapsed});
  version_count_ += is_new ? 1 : 0;
  ++place->second.decisions;
  if (versions_.size() <= kept) return;
  versions_.erase(versions_.begin());
  oldest_version_ = versions_.begin()->first;
}

// With a floor every action that a decision could take has a chance, unless it was certain. Without one the mask says
// which they were; a retired action is none of them.
JudgedRound Monitor::judged_round(const Decided& decided) const {
  const std::vector<float>& p = decided.propensities;
  JudgedRound round{.action = decided.action};
  if (decided.action >= p.size() || !(p[decided.action] > 0.0F)) {
    throw bad_input("the log is damaged: decision {} has no propensity of its action", decided.id);
  }
  round.propensity = p[decided.action];
  round.allowed = 0;
  const bool by_chance = decided.floor > 0.0F && round.propensity < 1.0F;
  for (std::size_t a = 0; a < p.size(); ++a) {
    const bool masked = a < decided.allowed.size() && decided.allowed[a] == 0;
    const bool retired = a < retired_.size() && retired_[a] != 0;
    if (!(p[a] > 0.0F) && (by_chance || masked || retired)) continue;
    ++round.allowed;
    if (a < shown_actions) round.mask |= std::uint64_t{1} << a;
  }
  return round;
}

void Monitor::count_propensities(const Decided& decided) {
  const float taken = decided.propensities[decided.action];
  const auto bin = std::ranges::find_if(propensity_edges, [&](double edge) { return taken <= edge * (1.0 + 1e-6); });
  ++histogram_[std::min<std::size_t>(static_cast<std::size_t>(bin - propensity_edges.begin()), histogram_.size() - 1)];
  least_ = std::min(least_, static_cast<double>(taken));
  certain_ += taken == 1.0F ? 1 : 0;
  estimated_ += decided.propensity_error > 0.0F ? 1 : 0;
  for (std::size_t a = 0; a < decided.propensities.size(); ++a) {
    const float p = decided.propensities[a];
    if (!(p > 0.0F && p < 1.0F)) continue;
    Decile& decile = deciles_[std::min<std::size_t>(static_cast<std::size_t>(p * 10.0F), deciles_.size() - 1)];
    ++decile.pairs;
    decile.chosen += a == decided.action ? 1 : 0;
    decile.expected += static_cast<double>(p);
    decile.variance += static_cast<double>(p) * (1.0 - static_cast<double>(p));
  }
}

void Monitor::see(const Settled& settled) {
  ++settled_[static_cast<std::size_t>(settled.reason)];
  in_series(time_.elapsed, [](Bucket& bucket) { ++bucket.settled; });
  const auto found = places_.find(settled.id);
  if (found == places_.end()) return;  // made before the first event that is counted, or not in the sample
  Waiting& decision = waiting_[found->second - first_place_];
  places_.erase(found);
  --waiting_count_;
  const bool counts = settled.reason != SettleReason::cancelled;
  const double value = counts ? static_cast<double>(settled.value) : 0.0;
  decision.fate = counts ? Fate::counts : Fate::nothing;
  decision.value = settled.value;
  in_series(decision.elapsed, [&](Bucket& bucket) {
    --bucket.waiting;
    bucket.outcomes += counts ? 1 : 0;
    bucket.sum += value, bucket.squares += value * value;
  });
  if (!window_) judge(decision);
  judge_settled();
}

bool Monitor::is_sampled(DecisionId id) const {
  const std::uint64_t mixed = id * 0x9E3779B97F4A7C15U >> 32U;
  return (mixed & ((std::uint64_t{1} << sample_bits_) - 1)) == 0;
}

void Monitor::thin_sample() {
  if (waiting_.size() <= most_waiting_) return;
  ++sample_bits_;
  std::deque<Waiting> left;
  for (const Waiting& decision : waiting_) {
    if (is_sampled(decision.id)) {
      left.push_back(decision);
    } else if (decision.fate == Fate::waits) {
      --waiting_count_;
      in_series(decision.elapsed, [](Bucket& bucket) { --bucket.waiting; });
    }
  }
  waiting_ = std::move(left);
  places_.clear();
  first_place_ = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].fate == Fate::waits) places_.emplace(waiting_[i].id, i);
  }
}

void Monitor::judge_settled() {
  while (!waiting_.empty() && waiting_.front().fate != Fate::waits) {
    judge(waiting_.front());
    waiting_.pop_front();
    ++first_place_;
  }
}

void Monitor::judge(Waiting& decision) {
  if (decision.fate != Fate::counts) return;
  decision.fate = Fate::nothing;
  if (decision.judged) {
    values_.add(decision.round, decision.actions, static_cast<double>(decision.value));
  } else {
    ++left_out_;
  }
}

}  // namespace pits
