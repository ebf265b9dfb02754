#include "pits/log/decision_index.h"

#include <algorithm>
#include <cstring>

#include "pits/core/damaged.h"

namespace pits {

namespace {

constexpr char page_format = 1;
constexpr std::size_t page_head = 1 + checksum_size;

std::string_view bytes_of(const IndexPage& page) { return {reinterpret_cast<const char*>(page.data()), sizeof page}; }

// By its number too: one that lies at another's place is damage.
std::string checksum_of(std::uint64_t number, std::string_view entries) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return checksum(bytes.append(entries));
}

// Of the store's events.
IndexPage made_again(const Store& store, std::uint64_t number) {
  IndexPage page{};
  for_each_event(store, [&](EventNumber at, const GroupTime&, const Event& event) {
    const auto change = index_change(at, event);
    if (change && change->id / ids_per_page == number) page[change->id % ids_per_page] = packed(change->entry);
  });
  return page;
}

}  // namespace

Standing settled_by(SettleReason reason) {
  switch (reason) {
    case SettleReason::reward: return Standing::rewarded;
    case SettleReason::expired: return Standing::expired;
    case SettleReason::lost: return Standing::lost;
    case SettleReason::cancelled: break;
  }
  return Standing::cancelled;
}

std::uint64_t packed(const IndexEntry& entry) {
  return entry.latest << 3U | static_cast<std::uint64_t>(entry.standing);
}

IndexEntry unpacked(std::uint64_t entry) {
  return {.standing = static_cast<Standing>(entry & 7U), .latest = entry >> 3U};
}

std::optional<IndexChange> index_change(EventNumber number, const Event& event) {
  if (const auto* decided = std::get_if<Decided>(&event)) return {{decided->id, {Standing::decided, number}}};
  if (const auto* restored = std::get_if<Restored>(&event)) return {{restored->id, {Standing::restored, number}}};
  if (const auto* activated = std::get_if<Activated>(&event)) return {{activated->id, {Standing::touched, number}}};
  if (const auto* rewarded = std::get_if<Rewarded>(&event)) return {{rewarded->id, {Standing::touched, number}}};
  if (const auto* settled = std::get_if<Settled>(&event)) {
    return {{settled->id, {settled_by(settled->reason), number}}};
  }
  return std::nullopt;
}

std::string page_bytes(std::uint64_t number, const IndexPage& page) {
  const std::string_view entries = bytes_of(page);
  return std::string(1, page_format).append(checksum_of(number, entries)).append(entries);
}

IndexPage read_page(std::uint64_t number, std::string_view bytes) {
  IndexPage page{};
  if (bytes.empty()) return page;
  if (bytes.size() != sizeof page) {
    const bool whole = bytes.size() == page_head + sizeof page && bytes.front() == page_format &&
                       bytes.substr(1, checksum_size) == checksum_of(number, bytes.substr(page_head));
    if (!whole) throw damaged("page {} of the index of decisions is damaged: its checksum does not match", number);
    bytes.remove_prefix(page_head);
  }
  std::memcpy(page.data(), bytes.data(), bytes.size());
  return page;
}

// A damaged page is made again from the events, where they are all there, and is written soon.
IndexPage DecisionIndex::read(std::uint64_t number, EventNumber& changed_at) {
  const std::string bytes = store_.page(number);
  try {
    return read_page(number, bytes);
  } catch (const Damaged& why) {
    if (store_.oldest() > 0) {
      throw damaged("{}, and events from which it could be made again were dropped: restore a backup", why.what());
    }
  }
  const IndexPage page = made_again(store_, number);
  ++mended_;
  changed_at = 1;
  dirty_.emplace_front(changed_at, number);
  return page;
}

DecisionIndex::Page& DecisionIndex::load(std::uint64_t number) {
  const auto found = pages_.find(number);
  if (found != pages_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second.place);
    return found->second;
  }
  Page page;
  page.entries = read(number, page.changed_at);
  page.place = recent_.insert(recent_.begin(), number);
  return pages_.emplace(number, page).first->second;
}

IndexEntry DecisionIndex::find(DecisionId id) { return unpacked(load(id / ids_per_page).entries[id % ids_per_page]); }

void DecisionIndex::set(DecisionId id, IndexEntry entry) {
  Page& page = load(id / ids_per_page);
  std::uint64_t& place = page.entries[id % ids_per_page];
  undo_.emplace_back(id, place);
  place = packed(entry);
  if (page.changed_at != 0) return;
  page.changed_at = entry.latest;
  dirty_.emplace_back(entry.latest, id / ids_per_page);
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
    pages.emplace_back(number, page_bytes(number, pages_.at(number).entries));
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
    load(change->first / ids_per_page).entries[change->first % ids_per_page] = change->second;
  }
  undo_.clear();
  due_.clear();
  for (; new_dirty_ > 0; --new_dirty_, dirty_.pop_back()) pages_.at(dirty_.back().second).changed_at = 0;
}

}  // namespace pits
