#include "pits/log/drop.h"

#include <algorithm>

#include "pits/log/learner.h"

namespace pits {
namespace {

constexpr std::size_t events_at_once = 65536;

// What the events say that later ones build on.
struct Summary {
  Created created;
  DecisionId reserved_ids = 0;
  std::vector<Action> retired;

  void add(const Event& event) {
    if (const auto* first = std::get_if<Created>(&event)) {
      created = *first;
    } else if (const auto* ids = std::get_if<IdsReserved>(&event)) {
      reserved_ids = std::max(reserved_ids, ids->end);
    } else if (const auto* added = std::get_if<ActionsAdded>(&event)) {
      created.actions.insert(created.actions.end(), added->names.begin(), added->names.end());
    } else if (const auto* gone = std::get_if<ActionRetired>(&event)) {
      retired.push_back(gone->action);
    } else if (const auto* changed = std::get_if<ConfigChanged>(&event)) {
      created.config = changed->config;
    } else if (const auto* other = std::get_if<EngineChanged>(&event)) {
      created.engine = other->engine;
    }
  }
  std::size_t events() const { return 2 + retired.size(); }
  std::string group(const GroupTime& time) const {
    GroupWriter writer;
    writer.add(created);
    writer.add(IdsReserved{.end = reserved_ids});
    for (const Action action : retired) writer.add(ActionRetired{.action = action});
    return writer.finish(time);
  }
};

// Groups in a row whose decisions were asked about together.
struct Stretch {
  std::vector<GroupReader> groups{};
  bool ended = false;  // the next group is too new
};

Stretch old_groups(const Store& store, const RetentionLook& look, EventNumber number) {
  Stretch found;
  for (std::size_t events = 0; events < events_at_once;) {
    auto group = store.group_from(number);
    found.ended = !group || group->last() > look.base || group->time().elapsed >= look.before;
    if (found.ended) break;
    number = group->last() + 1;
    events += group->last() - group->first() + 1;
    found.groups.push_back(*std::move(group));
  }
  return found;
}

// The first event whose decision is still needed; none: `end`.
EventNumber first_needed(const Stretch& stretch, const RetentionLook& look, const Standings& standings,
                         EventNumber end) {
  std::vector<DecisionId> ids;
  std::vector<EventNumber> numbers;
  for (const GroupReader& group : stretch.groups) {
    for (EventNumber n = group.first(); n <= group.last(); ++n) {
      if (group.tag(n) != Decided::tag && group.tag(n) != Restored::tag) continue;
      ids.push_back(decision_in(group.event(n))->id), numbers.push_back(n);
    }
  }
  const std::vector<IndexEntry> entries = standings(ids);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!entries[i].settled() || entries[i].latest > look.base) return numbers[i];
  }
  return end;
}

}  // namespace

Droppable droppable_events(const Store& store, const RetentionLook& look, const Standings& standings) {
  const auto head = store.group_holding(1);
  if (!head) return {};
  Summary summary;
  for (EventNumber n = 1; n <= head->last(); ++n) summary.add(head->event(n));
  const Stretch stretch = old_groups(store, look, head->last() + 1);
  if (stretch.groups.empty()) return {};
  const EventNumber needed = first_needed(stretch, look, standings, stretch.groups.back().last() + 1);
  Droppable found;
  for (const GroupReader& group : stretch.groups) {
    if (group.last() >= needed) break;
    for (EventNumber n = group.first(); n <= group.last(); ++n) {
      const Event event = group.event(n);
      summary.add(event);
      const Decided* decided = decision_in(event);
      found.decisions += decided != nullptr ? 1 : 0;
      if (decided != nullptr && !decided->key.empty()) found.keys.push_back(decided->key);
    }
    found.oldest = group.last() + 1;
  }
  if (found.oldest <= summary.events() + 1) return {};  // it would not get shorter
  found.summary = summary.group(head->time());
  found.more = !stretch.ended && needed > stretch.groups.back().last();
  return found;
}

}  // namespace pits
