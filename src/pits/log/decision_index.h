// Where each decision stands: its latest event, and whether it has settled. A cache of the log, in pages of 512 ids, of
// which a bounded number is in memory and the rest in the store. Pages are written some time after they change; after a
// crash the changes are made again from the events, and so is a page that is damaged.
#pragma once

#include <array>
#include <deque>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "pits/log/store.h"

namespace pits {

enum class Standing : std::uint8_t {
  unknown,  // no such decision
  decided,  // and nothing since
  touched,  // activated or rewarded, not settled
  rewarded,
  expired,
  cancelled,
  lost,      // settled, after it was restored
  restored,  // and nothing since
};

struct IndexEntry {
  Standing standing = Standing::unknown;
  EventNumber latest = 0;  // event of the decision

  bool settled() const { return standing >= Standing::rewarded && standing <= Standing::lost; }
};
Standing settled_by(SettleReason reason);

// What an event says of a decision; none: it is about something else.
struct IndexChange {
  DecisionId id;
  IndexEntry entry;
};
std::optional<IndexChange> index_change(EventNumber number, const Event& event);

inline constexpr std::size_t ids_per_page = 512;
using IndexPage = std::array<std::uint64_t, ids_per_page>;  // latest << 3 | standing
std::uint64_t packed(const IndexEntry& entry);
IndexEntry unpacked(std::uint64_t entry);
// A page as the store keeps it: format (u8), checksum of the page's number and entries, entries. Those of before there
// was a checksum are entries only. No bytes: nothing was decided there.
std::string page_bytes(std::uint64_t number, const IndexPage& page);
IndexPage read_page(std::uint64_t number, std::string_view bytes);  // throws Damaged

class DecisionIndex {
 public:
  DecisionIndex(const Store& store, std::size_t pages_in_memory) : store_(store), most_(pages_in_memory) {}

  IndexEntry find(DecisionId id);
  void set(DecisionId id, IndexEntry entry);

  // Pages to be written: those that changed first at an event up to `before`, and those for which there is no room.
  std::vector<std::pair<std::uint64_t, std::string>> due(EventNumber before);
  // The oldest change that no written page will hold once the due ones are written; 0: none.
  EventNumber oldest_change() const;
  void committed();                                 // since the last call; what was due has been written
  void undo();                                      // all changes since then
  std::uint64_t mended() const { return mended_; }  // pages that were damaged and were made again

 private:
  struct Page {
    IndexPage entries{};
    EventNumber changed_at = 0;                  // oldest change that is not written; 0: none
    std::list<std::uint64_t>::iterator place{};  // in recent_
  };

  Page& load(std::uint64_t number);
  IndexPage read(std::uint64_t number, EventNumber& changed_at);
  bool is_dirty(const std::pair<EventNumber, std::uint64_t>& change) const;

  const Store& store_;
  std::size_t most_;
  std::unordered_map<std::uint64_t, Page> pages_;
  std::list<std::uint64_t> recent_;                          // pages by their last use, latest first
  std::deque<std::pair<EventNumber, std::uint64_t>> dirty_;  // changed_at and page, oldest first; some were written
  std::vector<std::uint64_t> due_;                           // pages
  std::size_t new_dirty_ = 0;                                // of dirty_, the last ones: since the last commit
  std::vector<std::pair<DecisionId, std::uint64_t>> undo_;
  std::uint64_t mended_ = 0;
};

}  // namespace pits
