#include "pits/experiment/loop.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "pits/agent/training_beside.h"
#include "pits/core/error.h"

namespace pits {
namespace {

constexpr std::size_t curve_points = 200;
constexpr std::size_t rounds_between_calls = 50;

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// CPU time of this thread since it was made.
class Stopwatch {
 public:
  double seconds() const { return thread_cpu_seconds() - start_; }
  // Does work that is not counted.
  template <class Work>
  void without(const Work& work) {
    const double before = thread_cpu_seconds();
    work();
    start_ += thread_cpu_seconds() - before;
  }

 private:
  double start_ = thread_cpu_seconds();
};

struct Played {
  Round round;
  Action action = 0;
};

// The rounds whose rewards are outstanding, and the one being played: a ring of delay + batch rounds.
class Outstanding {
 public:
  Outstanding(RewardTiming timing, std::size_t rounds, FeedbackKind feedback)
      : delay_(static_cast<std::size_t>(timing.delay)),
        batch_(static_cast<std::size_t>(timing.batch)),
        feedback_(feedback),
        ring_(std::min(rounds, delay_ + batch_)) {}

  Played& at(std::size_t t) { return ring_[t % ring_.size()]; }

  // The events to be learned after the decision of round t: none, or those of a batch of rounds.
  std::span<const Feedback> due(std::size_t t) {
    events_.clear();
    if (t < learned_ + delay_ + batch_ - 1) return {};
    for (const std::size_t end = learned_ + batch_; learned_ < end; ++learned_) add_events(learned_);
    return events_;
  }

 private:
  void add_events(std::size_t t) {
    const auto& [round, played] = at(t);
    for (Action a = 0; a < round.rewards.size(); ++a) {
      if (feedback_ == FeedbackKind::all ? !round.admits(a) : a != played) continue;
      events_.push_back({.x = round.context, .action = a, .reward = static_cast<float>(round.rewards[a]), .id = t});
    }
  }

  std::size_t delay_, batch_;
  FeedbackKind feedback_;
  std::vector<Played> ring_;
  std::size_t learned_ = 0;  // rounds
  std::vector<Feedback> events_;
};

// An agent that learns, in line or with trainings that are adopted late. Observers know the one that it starts with.
class Player {
 public:
  Player(Agent& agent, std::size_t training_delay) : agent_(&agent), delay_(training_delay) {
    if (delay_ == 0) return;
    own_ = agent.clone();
    own_->train_beside();
    agent_ = own_.get();
  }

  const Agent& agent() const { return *agent_; }
  void learn(std::span<const Feedback> events) {
    if (delay_ == 0) return agent_->learn(events);
    for (const Feedback& event : events) learn_beside(event);
  }

 private:
  void learn_beside(const Feedback& event) {
    own_->learn({&event, 1});
    if (training_) {
      training_->learned(event);
      if (++since_ < delay_) return;
      own_ = training_->finish();
      agent_ = own_.get();
      training_.reset();
    }
    if (!own_->training_due()) return;
    training_.emplace(*own_);
    since_ = 0;
  }

  Agent* agent_;
  std::size_t delay_;
  std::unique_ptr<Agent> own_;
  std::optional<TrainingBeside> training_;
  std::size_t since_ = 0;  // observations since it began
};

// Calls `observe` with the events of each round.
template <class Observe>
void for_each_round(std::span<const Feedback> events, const Observe& observe) {
  while (!events.empty()) {
    const auto next = std::ranges::find_if(events, [&](const Feedback& e) { return e.id != events.front().id; });
    const auto count = static_cast<std::size_t>(next - events.begin());
    observe(events.first(count));
    events = events.subspan(count);
  }
}

Action allowed(Action action, const Round& round) {
  if (!round.admits(action)) throw failed("the agent played action {}, which is not allowed in this round", action);
  return action;
}

}  // namespace

std::vector<std::size_t> curve_rounds(std::size_t rounds) {
  const std::size_t points = std::min(rounds, curve_points);
  std::vector<std::size_t> at(points);
  for (std::size_t i = 0; i < points; ++i) at[i] = (i + 1) * rounds / points;
  return at;
}

Trajectory run_rounds(Agent& agent, const Environment& environment, std::size_t steps, const RoundsDone& done,
                      std::span<const std::unique_ptr<Observer>> observers, FeedbackKind feedback, RegretOf regret,
                      std::size_t training_delay) {
  if (training_delay > 0 && !observers.empty()) {
    throw bad_input("diagnostics follow an agent that trains in line: training_delay=0");
  }
  Player player(agent, training_delay);
  Trajectory path;
  path.rounds = std::min(steps, environment.horizon());
  if (path.rounds == 0) throw bad_input("the environment has no rounds");
  path.pulls.resize(environment.actions());
  const std::vector<std::size_t> recorded = curve_rounds(path.rounds);
  Outstanding outstanding(environment.timing(), path.rounds, feedback);
  for (std::size_t t = 0; t < path.rounds; ++t) {
    auto& [round, action] = outstanding.at(t);
    environment.draw(t, round);
    Stopwatch stopwatch;
    const Query query{.x = round.context, .actions = {.allowed = round.allowed}, .id = t};
    action = player.agent().choose(query).action;
    for (const auto& observer : observers) {
      stopwatch.without([&, &now = round, &taken = action] { observer->decided(query, now, taken); });
    }
    const std::span<const Feedback> events = outstanding.due(t);
    for (const auto& observer : observers) {
      stopwatch.without([&] { for_each_round(events, [&](auto one) { observer->before_learning(one); }); });
    }
    player.learn(events);
    path.seconds += stopwatch.seconds();

    for (const auto& observer : observers) for_each_round(events, [&](auto one) { observer->after_learning(one); });
    const std::vector<double>& paid = regret == RegretOf::means ? round.mean_rewards : round.rewards;
    path.regret += round.best_mean() - paid[allowed(action, round)];
    path.uniform_regret += round.best_mean() - round.even(paid);
    ++path.pulls[action];
    if (t + 1 == recorded[path.curve.size()]) path.curve.push_back(path.regret);
    if ((t + 1) % rounds_between_calls == 0) done(rounds_between_calls);
  }
  if (!std::isfinite(path.regret) || !std::isfinite(path.uniform_regret)) {
    throw bad_input("the regret is not finite: the rewards are too large");
  }
  for (const auto& observer : observers) path.observed.update(observer->finish());
  done(path.rounds % rounds_between_calls);
  return path;
}

}  // namespace pits
