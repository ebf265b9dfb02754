// How a live bandit is doing, for people who look at it: counts, rates, rewards over time, shares of actions,
// propensities and what other policies would have earned. It reads the log and keeps sums: the bandit does not know of
// it, and memory is bounded.
//
//   pits::Monitor monitor(live.store(), 0);
//   monitor.follow(live.status().committed, 100'000);  // about once per second
//   reply(monitor.statistics().dump());
//
// Rewards belong to the time of their decision, and other policies are judged in the order of the decisions, up to the
// oldest one that waits: where clicks settle at once and their absence only when the window closes, what has settled
// lately is too good. Without a window (0: for ever) outcomes are judged as they come. Where very many decisions wait,
// rewards and values are those of a sample, one decision in 2, 4, ...; the counts are of all.
#pragma once

#include <map>
#include <mutex>
#include <unordered_map>

#include "pits/log/clock.h"
#include "pits/log/live_config.h"
#include "pits/log/store.h"
#include "pits/serve/policy_values.h"
#include "pits/serve/timeline.h"

namespace pits {

// Upper ends of the bins of propensities; the first one starts at 0.
inline constexpr std::array propensity_edges{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9, 1.0};

class Monitor {
 public:
  // Counts events from number `from` on. `config` is the bandit's at that event; none: as it was created. Values have
  // intervals where it has a reward_range; where that changes, values are judged anew from there.
  Monitor(const Store& store, EventNumber from, const std::optional<LiveConfig>& config = {},
          const Clock& clock = system_clock(), std::size_t most_waiting = std::size_t{1} << 18U);

  // Reads events up to `until`, at most so many. For one thread.
  void follow(EventNumber until, std::size_t most_events);
  EventNumber number() const;  // of the last event that was read
  // From any thread. Times are seconds since 1970, UTC; actions are given by number.
  nlohmann::json statistics() const;

 private:
  enum class Fate : std::uint8_t { waits, counts, nothing };
  struct Waiting {
    DecisionId id;
    Microseconds elapsed;
    JudgedRound round;
    std::uint32_t actions;  // that there were
    bool judged;            // false: a certain decision at the start
    Fate fate = Fate::waits;
    float value = 0.0F;
  };
  struct Version {
    std::uint64_t decisions = 0;
    Microseconds first = 0;  // elapsed
  };
  struct Training {
    EventNumber adopted, began;
    Microseconds elapsed;
    std::string problem;
  };
  // Pairs of a decision and an action it could take.
  struct Decile {
    std::uint64_t pairs = 0, chosen = 0;
    double expected = 0.0, variance = 0.0;  // Σp, Σp(1−p)
  };

  void use(const LiveConfig& config);
  void see(EventNumber number, const Event& event);
  void see(const Decided& decided);
  void see(const Settled& settled);
  void count_version(EventNumber model);
  void count_propensities(const Decided& decided);
  JudgedRound judged_round(const Decided& decided) const;
  bool is_sampled(DecisionId id) const;
  void thin_sample();
  void judge_settled();
  void judge(Waiting& decision);
  void refresh_intervals();
  template <class Change>
  void in_series(Microseconds elapsed, Change&& change);
  nlohmann::json rates() const;
  nlohmann::json propensities() const;
  nlohmann::json calibration() const;
  nlohmann::json models() const;

  const Store& store_;
  const Clock& clock_;
  const EventNumber from_;
  const std::size_t most_waiting_;
  bool named_actions_;        // false: candidates come with each decision
  mutable std::mutex mutex_;  // of what follows
  EventNumber number_;
  GroupTime time_{};                  // of the last group
  Microseconds now_ = 0;              // elapsed, up to which the log has been read
  bool window_ = true;                // decisions settle by themselves
  std::optional<RewardRange> range_;  // of rewards, as the config has it

  std::uint64_t decisions_ = 0, rewards_ = 0;
  std::uint64_t restored_ = 0, unlogged_ = 0;                             // decisions: not in the others, nor judged
  std::array<std::uint64_t, enum_names<SettleReason>.size()> settled_{};  // by reason
  std::uint64_t waiting_count_ = 0;                                       // in the sample
  Timeline all_, recent_, seconds_;

  std::deque<Waiting> waiting_;  // sampled decisions, from the oldest one that waits
  std::uint64_t first_place_ = 0;
  std::unordered_map<DecisionId, std::uint64_t> places_;  // first_place_ + index in waiting_
  unsigned sample_bits_ = 0;                              // one decision in 2^bits

  std::vector<std::uint8_t> retired_;
  bool started_ = false;  // a decision was left to chance
  std::uint64_t left_out_ = 0, estimated_ = 0, certain_ = 0;
  double least_ = 1.0;  // propensity that was taken
  std::array<std::uint64_t, propensity_edges.size()> histogram_{};
  std::array<Decile, 10> deciles_{};

  std::map<EventNumber, Version> versions_;  // the last ones
  std::uint64_t version_count_ = 0;
  EventNumber oldest_version_ = 0;  // those before are not kept
  std::deque<Training> trainings_;  // the last ones
  std::uint64_t adopted_ = 0, skipped_ = 0;

  PolicyValues values_;
  std::vector<Interval> intervals_;
  std::uint64_t interval_rounds_ = 0;  // that they are of
};

}  // namespace pits
