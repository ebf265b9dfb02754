// What happened when, in buckets of equal length over the time that a log has counted (GroupTime::elapsed, which never
// falls). Memory is bounded: where the buckets run out, their length doubles or the oldest go.
#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <vector>

#include "pits/log/event.h"

namespace pits {

inline constexpr std::size_t shown_actions = 50;  // the others are summed

struct Bucket {
  std::uint64_t decisions = 0, rewards = 0, settled = 0;  // events of this time
  // Of the decisions of this time, where they are in the monitor's sample: those that wait, and outcomes learned.
  std::uint64_t waiting = 0, outcomes = 0;
  double sum = 0.0, squares = 0.0;       // of the outcomes' values
  std::vector<std::uint64_t> actions{};  // decisions for action 0, 1, ...; one more for those beyond `shown_actions`

  void add(const Bucket& other);
  void count_action(std::size_t action);
};

enum class WhenFull { merge, drop };

class Timeline {
 public:
  Timeline(Microseconds length, std::size_t most, WhenFull when_full)
      : length_(length), most_(most), when_full_(when_full) {}

  // The bucket of a time, after making room for it; null: it has been dropped.
  Bucket* at(Microseconds elapsed);
  // Sum of the `n` buckets before the one of a time.
  Bucket before(Microseconds elapsed, std::size_t n) const;
  Microseconds length() const { return length_; }
  std::size_t size() const { return buckets_.size(); }
  // Lists over the buckets; `offset` is UTC less elapsed.
  nlohmann::json json(Microseconds offset) const;

 private:
  void make_room(std::int64_t key);
  void double_length();

  Microseconds length_;
  std::size_t most_;
  WhenFull when_full_;
  std::int64_t first_ = 0;  // bucket i has the times [first_ + i, first_ + i + 1) · length
  std::deque<Bucket> buckets_;
};

inline double seconds(Microseconds time) { return static_cast<double>(time) / 1e6; }

}  // namespace pits
