#include "pits/log/store.h"

#include <algorithm>
#include <limits>

#include "pits/core/damaged.h"

namespace pits {

EventNumber Store::last() const {
  const auto newest = group(std::numeric_limits<std::int64_t>::max());
  return newest ? newest->last() : 0;
}

std::optional<GroupReader> Store::group_holding(EventNumber number) const {
  auto found = group(number);
  if (found && found->last() < number) return std::nullopt;
  return found;
}

std::optional<GroupReader> Store::group_from(EventNumber number) const {
  auto found = group_holding(number);
  if (found) return found;
  const EventNumber kept = oldest();
  return kept > number ? group_holding(kept) : std::nullopt;
}

Created created_event(const Store& store) {
  const auto group = store.group_holding(1);
  if (!group) throw bad_input("the store holds no log");
  Event first = group->event(1);
  auto* created = std::get_if<Created>(&first);
  if (created == nullptr) throw damaged("the log is damaged: its first event does not create it");
  return std::move(*created);
}

std::vector<Event> chain(const Store& store, EventNumber latest) {
  std::vector<Event> events;
  for (EventNumber number = latest; number != 0;) {
    const auto group = store.group_holding(number);
    if (!group && number < store.oldest()) break;
    if (!group) throw damaged("the log is damaged: event {} is missing", number);
    events.push_back(group->event(number));
    const auto previous = [number](const auto& event) -> EventNumber {
      if constexpr (requires { event.previous; }) {
        if (event.previous < number && event.previous > 0) return event.previous;
      } else if constexpr (requires { event.propensities; }) {
        return 0;
      }
      throw damaged("the log is damaged: event {} belongs to no decision", number);
    };
    number = std::visit(previous, events.back());
  }
  std::ranges::reverse(events);
  return events;
}

void for_each_event(const Store& store, const std::function<void(EventNumber, const GroupTime&, const Event&)>& see) {
  const EventNumber last = store.last();
  for (EventNumber number = 1; number <= last;) {
    const auto group = store.group_from(number);
    if (!group || (group->first() != number && group->first() != store.oldest()))
      throw bad_input("event {}: is missing", number);
    number = group->first();
    for (; number <= group->last(); ++number) see(number, group->time(), group->event(number));
  }
}

}  // namespace pits
