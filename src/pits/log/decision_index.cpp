#include "pits/log/decision_index.h"

#include <algorithm>
#include <cstring>

#include "pits/core/damaged.h"

namespace pits {

Standing settled_by(SettleReason reason) {
  switch (reason) {
    case SettleReason::reward: return Standing::rewarded;
    case SettleReason::expired: return Standing::expired;
    case SettleReason::lost: return Standing::lost;
    case SettleReason::cancelled: break;
  }
  return Standing::cancelled;
}

DecisionIndex::Page& DecisionIndex::load(std::uint64_t number) {
  const auto found = pages_.find(number);
  if (found != pages_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second.place);
    return found->second;
  }
  const std::string bytes = store_.page(number);
  Page page;
  if (!bytes.empty()) {
    if (bytes.size() != sizeof page.entries) throw damaged("page {} of the index of decisions is damaged", number);
    std::memcpy(page.entries.data(), bytes.data(), bytes.size());
  }
  page.place = recent_.insert(recent_.begin(), number);
  return pages_.emplace(number, page).first->second;
}

IndexEntry DecisionIndex::find(DecisionId id) {
  const std::uint64_t entry = load(id / page_size).entries[id % page_size];
  return {.standing = static_cast<Standing>(entry & 7U), .latest = entry >> 3U};
}

void DecisionIndex::set(DecisionId id, IndexEntry entry) {
  Page& page = load(id / page_size);
  std::uint64_t& place = page.entries[id % page_size];
  undo_.emplace_back(id, place);
  place = entry.latest << 3U | static_cast<std::uint64_t>(entry.standing);
  if (page.changed_at != 0) return;
  page.changed_at = entry.latest;
  dirty_.emplace_back(entry.latest, id / page_size);
  ++new_dirty_;
}

bool DecisionIndex::is_dirty(const std::pair<EventNumber, std::uint64_t>& change) const {
  const auto page = pages_.find(change.second);
  return page != pages_.end() && page->second.changed_at == change.first;
}

std::vector<std::pair<std::uint64_t, std::string>> DecisionIndex::due(EventNumber before) {
  due_.clear();
  while (!dirty_.empty() && !is_dirty(dirty_.front())) dirty_.pop_front();
  for (const auto& change : dirty_) {
    if (change.first > before) break;
    if (is_dirty(change)) due_.push_back(change.second);
  }
  std::size_t excess = pages_.size() - std::min(pages_.size(), most_);
  for (auto number = recent_.rbegin(); excess > 0; ++number, --excess) {
    if (pages_.at(*number).changed_at > before) due_.push_back(*number);
  }
  std::vector<std::pair<std::uint64_t, std::string>> pages;
  for (const std::uint64_t number : due_) {
    const auto& entries = pages_.at(number).entries;
    pages.emplace_back(number, std::string(reinterpret_cast<const char*>(entries.data()), sizeof entries));
  }
  return pages;
}

EventNumber DecisionIndex::oldest_change() const {
  for (const auto& change : dirty_) {
    if (is_dirty(change) && std::ranges::find(due_, change.second) == due_.end()) return change.first;
  }
  return 0;
}

void DecisionIndex::committed() {
  undo_.clear();
  new_dirty_ = 0;
  for (const std::uint64_t number : due_) pages_.at(number).changed_at = 0;
  due_.clear();
  while (pages_.size() > most_ && pages_.at(recent_.back()).changed_at == 0) {
    pages_.erase(recent_.back());
    recent_.pop_back();
  }
}

void DecisionIndex::undo() {
  for (auto change = undo_.rbegin(); change != undo_.rend(); ++change) {
    load(change->first / page_size).entries[change->first % page_size] = change->second;
  }
  undo_.clear();
  due_.clear();
  for (; new_dirty_ > 0; --new_dirty_, dirty_.pop_back()) pages_.at(dirty_.back().second).changed_at = 0;
}

}  // namespace pits
