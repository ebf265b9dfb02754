#include "pits/log/erase.h"

#include <algorithm>
#include <unordered_map>

#include "pits/log/audit.h"
#include "pits/log/ledger.h"

namespace pits {
namespace {

bool can_be_blanked(const Decided& d) {
  return !d.x.empty() || !d.features.empty() || !d.context.empty() || !d.key.empty();
}

// Of the decisions that were learned by event `base`, those that are chosen, by their events.
std::vector<EventNumber> find_chosen(const Store& store, EventNumber base,
                                     const std::function<bool(DecisionId, const GroupTime&)>& chosen) {
  std::unordered_map<DecisionId, EventNumber> candidates;
  std::vector<EventNumber> found;
  for_each_event(store, [&](EventNumber number, const GroupTime& time, const Event& event) {
    const Decided* decided = decision_in(event);
    GroupTime made = time;
    if (const auto* restored = std::get_if<Restored>(&event)) made.utc = restored->utc;
    if (decided != nullptr && can_be_blanked(*decided) && chosen(decided->id, made)) candidates[decided->id] = number;
    const auto* settled = std::get_if<Settled>(&event);
    if (settled == nullptr || number > base) return;
    if (const auto one = candidates.find(settled->id); one != candidates.end()) found.push_back(one->second);
  });
  std::ranges::sort(found);
  return found;
}

void blank(Store& store, const GroupReader& group, std::span<const EventNumber> decisions) {
  GroupWriter blanked;
  std::vector<std::string> keys;
  for (EventNumber number = group.first(); number <= group.last(); ++number) {
    Event event = group.event(number);
    if (Decided* decided = decision_in(event); std::ranges::binary_search(decisions, number)) {
      if (!decided->key.empty()) keys.push_back(decided->key);
      decided->key.clear();
      decided->x.clear();
      decided->features.clear();
      decided->context.clear();
    }
    std::visit([&](const auto& e) { blanked.add(e); }, event);
  }
  store.rewrite(group.first(), blanked.finish(group.time()), keys);
}

// Calls see(number, group) for the events from first to last whose tag is one of `tags`, while go_on(group).
template <class GoOn, class See>
EventNumber for_each_of(const Store& store, EventNumber first, EventNumber last, std::initializer_list<int> tags,
                        const GoOn& go_on, const See& see) {
  while (first <= last) {
    const auto group = store.group_from(first);
    if (!group || !go_on(*group)) break;
    first = std::max(first, group->first());
    for (; first <= std::min(last, group->last()); ++first) {
      if (std::ranges::find(tags, group->tag(first)) != tags.end()) see(first, *group);
    }
  }
  return first - 1;
}

// The event that made the decision, given its last one.
EventNumber decision_of(const Store& store, EventNumber latest) {
  EventNumber first = 0;
  for (const Event& event : chain(store, latest)) {
    std::visit(
        [&](const auto& e) {
          if constexpr (requires { e.previous; }) first = first == 0 ? e.previous : first;
        },
        event);
  }
  return first;
}

// Settlements since the last look of decisions that were old already.
void add_late(const Store& store, const RetentionLook& look, const RetentionMarks& marks,
              std::vector<EventNumber>& found) {
  if (marks.decided == 0) return;
  const EventNumber dropped = store.oldest();
  const auto always = [](const GroupReader&) { return true; };
  for_each_of(store, marks.settled + 1, look.base, {Settled::tag}, always,
              [&](EventNumber number, const GroupReader& group) {
                if (std::get<Settled>(group.event(number)).id > marks.newest) return;
                const EventNumber decided = decision_of(store, number);
                if (decided <= marks.decided && decided >= dropped) found.push_back(decided);
              });
}

// Decisions that have become old; those that have settled are found.
void add_old(const Store& store, const RetentionLook& look, const Standings& standings, RetentionMarks& marks,
             std::vector<EventNumber>& found) {
  std::vector<DecisionId> ids;
  std::vector<EventNumber> numbers;
  const auto ask = [&] {
    const std::vector<IndexEntry> entries = standings(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (entries[i].settled() && entries[i].latest <= look.base) found.push_back(numbers[i]);
    }
    ids.clear(), numbers.clear();
  };
  constexpr std::size_t at_once = 4096;
  const auto is_old = [&](const GroupReader& group) { return group.time().elapsed < look.before; };
  marks.decided = for_each_of(store, marks.decided + 1, look.base, {Decided::tag, Restored::tag}, is_old,
                              [&](EventNumber number, const GroupReader& group) {
                                const Event event = group.event(number);
                                const Decided& decided = *decision_in(event);
                                marks.newest = std::max(marks.newest, decided.id);
                                if (!can_be_blanked(decided)) return;
                                ids.push_back(decided.id), numbers.push_back(number);
                                if (ids.size() == at_once) ask();
                              });
  ask();
}

}  // namespace

std::vector<EventNumber> overdue_decisions(const Store& store, const RetentionLook& look, const Standings& standings,
                                           RetentionMarks& marks) {
  std::vector<EventNumber> found;
  add_late(store, look, marks, found);
  add_old(store, look, standings, marks, found);
  marks.settled = look.base;
  std::ranges::sort(found);
  return found;
}

std::uint64_t erase_contexts(Store& store, const std::string& reason,
                             const std::function<bool(DecisionId, const GroupTime&)>& chosen,
                             const RecordErased& record) {
  const auto base = newest_snapshot(store, store.last());
  const std::vector<EventNumber> found = find_chosen(store, base ? base->number : 0, chosen);
  erase_decisions(store, reason, found, record);
  return found.size();
}

void erase_decisions(Store& store, const std::string& reason, const std::vector<EventNumber>& decisions,
                     const RecordErased& record) {
  if (store.snapshots().empty()) throw bad_input("a snapshot must be kept before contexts are erased");
  if (decisions.empty()) return;
  const EventNumber base = keep_base(store);
  // Recorded first: a replay never starts before the base from now on.
  const Erased event{.base = base, .decisions = decisions.size(), .reason = reason};
  if (record) {
    record(event);
  } else {
    Ledger ledger(store, system_clock());
    ledger.begin_group();
    ledger.record(event);
    ledger.commit();
  }
  for (auto next = decisions.begin(); next != decisions.end();) {
    const GroupReader group = store.group_holding(*next).value();
    const auto end = std::upper_bound(next, decisions.end(), group.last());
    blank(store, group, {next, end});
    next = end;
  }
  drop_snapshots_before(store, base);
}

EventNumber keep_base(Store& store) {
  auto newest = newest_snapshot(store, store.last());
  if (!newest) throw bad_input("the store has no snapshot");
  newest->base = true;
  store.keep(*newest);
  return newest->number;
}

void drop_snapshots_before(Store& store, EventNumber base) {
  for (const Snapshot& snapshot : store.snapshots()) {
    if (snapshot.number < base) store.drop_snapshot(snapshot.number);
  }
}

}  // namespace pits
