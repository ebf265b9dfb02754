// A store in memory, which may be told to fail; and a clock that is set by hand.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "pits/log/clock.h"
#include "pits/log/store.h"

namespace pits::test {

class MemoryStore : public Store {
 public:
  std::atomic<bool> fails = false;          // commits
  std::atomic<bool> fails_to_read = false;  // groups
  std::atomic<bool> fails_to_keep = false;  // snapshots

  void commit(const Commit& commit) override {
    if (fails) throw failed("cannot write 'memory': No space left on device");
    const std::scoped_lock lock(mutex_);
    if (!commit.group.empty()) groups_[commit.first] = commit.group;
    for (const auto& [page, bytes] : commit.pages) pages_[page] = bytes;
    for (const auto& [key, id] : commit.keys) keys_.emplace(key, id);
    if (commit.recovery) recovery_ = *commit.recovery;
    pages_written += commit.pages.size();
  }
  std::optional<GroupReader> group(EventNumber number) const override {
    if (fails_to_read) throw failed("cannot read 'memory': Input/output error");
    const std::scoped_lock lock(mutex_);
    ++groups_read;
    const auto next = groups_.upper_bound(number);
    if (next == groups_.begin()) return std::nullopt;
    return GroupReader(std::prev(next)->second, std::prev(next)->first);
  }
  std::string page(std::uint64_t page) const override {
    const std::scoped_lock lock(mutex_);
    const auto found = pages_.find(page);
    return found == pages_.end() ? "" : found->second;
  }
  std::string recovery() const override { return recovery_; }
  std::optional<DecisionId> decision_of(std::string_view key) const override {
    const std::scoped_lock lock(mutex_);
    const auto found = keys_.find(key);
    return found == keys_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(const Snapshot& snapshot) override {
    if (fails_to_keep) throw failed("cannot write 'memory of snapshots': Input/output error");
    const std::scoped_lock lock(mutex_);
    snapshots_[snapshot.number] = snapshot;
  }
  void drop_snapshot(EventNumber number) override {
    const std::scoped_lock lock(mutex_);
    snapshots_.erase(number);
  }
  std::vector<Snapshot> snapshots() const override {
    const std::scoped_lock lock(mutex_);
    std::vector<Snapshot> all;
    for (const auto& [number, snapshot] : snapshots_) all.push_back(snapshot);
    return all;
  }
  Snapshot snapshot(EventNumber number) const override {
    const std::scoped_lock lock(mutex_);
    return snapshots_.at(number);
  }
  void rewrite(EventNumber first, std::string_view group, const std::vector<std::string>& forgotten) override {
    const std::scoped_lock lock(mutex_);
    groups_.at(first) = group;
    for (const std::string& key : forgotten) keys_.erase(key);
  }

  void drop_events(EventNumber oldest, std::string_view summary, const std::vector<std::string>& forgotten) override {
    const std::scoped_lock lock(mutex_);
    oldest_ = oldest;
    groups_.erase(groups_.upper_bound(1), groups_.lower_bound(oldest));
    groups_.at(1) = summary;
    for (const std::string& key : forgotten) keys_.erase(key);
  }
  EventNumber oldest() const override { return oldest_; }
  std::string bytes(EventNumber first) const { return groups_.at(first); }
  // One bit of the group that holds this event. Twice is whole again.
  void damage(EventNumber number) {
    const std::scoped_lock lock(mutex_);
    std::prev(groups_.upper_bound(number))->second.back() ^= 1;
  }

  std::size_t pages_written = 0;
  mutable std::atomic<std::size_t> groups_read = 0;

 private:
  mutable std::mutex mutex_;
  std::map<EventNumber, std::string> groups_;
  std::map<std::uint64_t, std::string> pages_;
  std::map<std::string, DecisionId, std::less<>> keys_;
  std::map<EventNumber, Snapshot> snapshots_;
  std::string recovery_;
  EventNumber oldest_ = 0;
};

constexpr Microseconds second = 1'000'000;

class FakeClock : public Clock {
 public:
  Microseconds utc() const override { return utc_; }
  Microseconds steady() const override { return steady_; }

  void pass(double seconds) {
    utc_ += static_cast<Microseconds>(seconds * 1e6);
    steady_ += static_cast<Microseconds>(seconds * 1e6);
  }
  void jump(double seconds) { utc_ += static_cast<Microseconds>(seconds * 1e6); }

 private:
  std::atomic<Microseconds> utc_{1'800'000'000 * second}, steady_{5 * second};
};

inline std::vector<pits::Event> events_of(const Store& store) {
  std::vector<pits::Event> events;
  EventNumber next = 1;
  while (const auto group = store.group_from(next)) {
    for (EventNumber n = group->first(); n <= group->last(); ++n) events.push_back(group->event(n));
    next = group->last() + 1;
  }
  return events;
}

template <class Kind>
std::vector<Kind> all_of(const Store& store) {
  std::vector<Kind> found;
  for (const pits::Event& event : events_of(store)) {
    if (const auto* one = std::get_if<Kind>(&event)) found.push_back(*one);
  }
  return found;
}

}  // namespace pits::test
