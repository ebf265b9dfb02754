#include "pits/log/index_check.h"

#include <algorithm>

#include "pits/core/damaged.h"
#include "pits/log/ledger.h"

namespace pits {
namespace {

constexpr std::array standing_names{
    "unknown", "decided", "activated or rewarded", "settled by a reward", "expired", "cancelled", "lost", "restored"};

std::string words(const IndexEntry& entry) {
  const std::string_view name = standing_names[static_cast<std::size_t>(entry.standing)];
  return entry.standing == Standing::unknown ? std::string(name) : fmt::format("{} at event {}", name, entry.latest);
}

}  // namespace

IndexCheck::IndexCheck(const Store& store) : store_(store), written_to_(Ledger::recovery_start(store)) {}

void IndexCheck::see(EventNumber number, const Event& event) {
  last_ = number;
  if (const Decided* decided = decision_in(event)) check_key(number, *decided);
  const auto change = index_change(number, event);
  if (!change) return;
  std::uint64_t& entry = pages_[change->id / ids_per_page][change->id % ids_per_page];
  if (number > written_to_) {
    later_.emplace(change->id, packed(change->entry));
    return;
  }
  // A reward that settles at once is no change of its own: the one after it is, and may not be written.
  if (number == written_to_) later_.emplace(change->id, entry);
  entry = packed(change->entry);
}

// Its context, and with it the key, may have been erased since it was read.
void IndexCheck::check_key(EventNumber number, const Decided& decided) const {
  if (decided.key.empty()) return;
  const auto found = store_.decision_of(decided.key);
  if (found == decided.id) return;
  const auto group = store_.group_holding(number);
  if (!group) return;
  const Event now = group->event(number);
  if (decision_in(now)->key.empty()) return;
  const std::string other = found ? fmt::format("that of decision {}", *found) : "not known";
  throw damaged(
      "event {}: the key of decision {} is {}: the keys are damaged; restore a backup, or export the log and "
      "import it",
      number, decided.id, other);
}

void IndexCheck::finish(EventNumber oldest) const {
  for (const auto& [number, known] : pages_) {
    const IndexPage found = read_page(number, store_.page(number));
    for (std::size_t i = 0; i < ids_per_page; ++i) {
      if (found[i] == known[i]) continue;
      check_entry(number * ids_per_page + i, unpacked(found[i]), unpacked(known[i]), oldest);
    }
  }
}

void IndexCheck::check_entry(DecisionId id, const IndexEntry& found, const IndexEntry& known,
                             EventNumber oldest) const {
  if (found.latest > last_ && found.latest <= store_.last()) return;  // written meanwhile
  const auto [begin, end] = later_.equal_range(id);
  if (std::any_of(begin, end, [&](const auto& change) { return change.second == packed(found); })) return;
  const bool ended = found.settled() || begin != end;
  const bool dropped = known.standing == Standing::unknown && ended && found.latest < oldest;
  if (dropped) return;
  throw damaged(
      "the index of decisions is wrong: decision {} is {}, by the events it is {}; restore a backup, or "
      "export the log and import it",
      id, words(found), words(known));
}

}  // namespace pits
