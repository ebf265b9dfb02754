#include "pits/serve/timeline.h"

#include <algorithm>

namespace pits {

void Bucket::add(const Bucket& other) {
  decisions += other.decisions, rewards += other.rewards, settled += other.settled;
  waiting += other.waiting, outcomes += other.outcomes;
  sum += other.sum, squares += other.squares;
  actions.resize(std::max(actions.size(), other.actions.size()));
  for (std::size_t a = 0; a < other.actions.size(); ++a) actions[a] += other.actions[a];
}

void Bucket::count_action(std::size_t action) {
  const std::size_t place = std::min(action, shown_actions);
  if (place >= actions.size()) actions.resize(place + 1);
  ++actions[place];
}

Bucket* Timeline::at(Microseconds elapsed) {
  if (buckets_.empty()) first_ = elapsed / length_;
  make_room(elapsed / length_);
  const std::int64_t i = elapsed / length_ - first_;
  if (i < 0) return nullptr;
  if (i >= static_cast<std::int64_t>(buckets_.size())) buckets_.resize(static_cast<std::size_t>(i) + 1);
  return &buckets_[static_cast<std::size_t>(i)];
}

Bucket Timeline::before(Microseconds elapsed, std::size_t n) const {
  Bucket total;
  const std::int64_t end = elapsed / length_;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::int64_t key = first_ + static_cast<std::int64_t>(i);
    if (key < end && key >= end - static_cast<std::int64_t>(n)) total.add(buckets_[i]);
  }
  return total;
}

void Timeline::make_room(std::int64_t key) {
  const auto most = static_cast<std::int64_t>(most_);
  if (when_full_ == WhenFull::drop) {
    while (!buckets_.empty() && key - first_ >= most) buckets_.pop_front(), ++first_;
    first_ = buckets_.empty() ? std::max(first_, key - most + 1) : first_;
    return;
  }
  const Microseconds elapsed = key * length_;
  while (elapsed / length_ - first_ >= most) double_length();
}

void Timeline::double_length() {
  std::deque<Bucket> merged;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const auto place = static_cast<std::size_t>((first_ + static_cast<std::int64_t>(i)) / 2 - first_ / 2);
    if (place == merged.size()) merged.emplace_back();
    merged[place].add(buckets_[i]);
  }
  buckets_ = std::move(merged);
  first_ /= 2;
  length_ *= 2;
}

nlohmann::json Timeline::json(Microseconds offset) const {
  nlohmann::json out = {{"start", seconds(first_ * length_ + offset)}, {"seconds", seconds(length_)}};
  const auto list = [&](const char* name, auto field) {
    nlohmann::json& values = out[name] = nlohmann::json::array();
    for (const Bucket& bucket : buckets_) values.push_back(bucket.*field);
  };
  list("decisions", &Bucket::decisions), list("rewards", &Bucket::rewards), list("settled", &Bucket::settled);
  list("waiting", &Bucket::waiting), list("outcomes", &Bucket::outcomes);
  list("sum", &Bucket::sum), list("squares", &Bucket::squares);
  std::size_t actions = 0;
  for (const Bucket& bucket : buckets_) actions = std::max(actions, bucket.actions.size());
  out["actions"] = nlohmann::json::array();
  for (std::size_t a = 0; a < actions; ++a) {
    nlohmann::json counts = nlohmann::json::array();
    for (const Bucket& bucket : buckets_) counts.push_back(a < bucket.actions.size() ? bucket.actions[a] : 0);
    out["actions"].push_back(std::move(counts));
  }
  return out;
}

}  // namespace pits
