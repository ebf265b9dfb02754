#include "pits/fleet/call.h"

#include <algorithm>

#include "pits/core/damaged.h"

namespace pits {
namespace {

template <class Event>
void event_state(Archive& archive, std::shared_ptr<const Event>& event) {
  bool there = event != nullptr;
  archive(there);
  if (!there) return;
  Event fields = event ? *event : Event{};
  const auto both_ways = [&](std::string_view, auto& field) { archive(field); };
  fields.visit(both_ways);
  if constexpr (Event::version > 1) fields.visit_added(both_ways);
  event = std::make_shared<const Event>(std::move(fields));
}

struct SavedReward {
  Reward& reward;
  void state(Archive& archive) {
    archive(reward.id, reward.value, reward.key);
    event_state(archive, reward.record);
  }
};

CallAnswer decide(Ledger& ledger, const Call& call, bool patient) {
  Decided made = *call.decided;
  // One that has come before: sent again after a connection was lost, or brought by a token.
  if (ledger.knows(made.id)) return {};
  if (made.id >= ledger.reserved_ids()) ledger.reserve_ids(made.id + id_block);
  const DecisionId id = ledger.decide(made);
  if (id == made.id) return {};
  if (const auto earlier = ledger.find(id)) return {.decided = std::make_shared<const Decided>(*earlier)};
  if (patient) throw NotYet();  // it is in this group
  throw failed("the earlier decision with this key is not in the log yet");
}

CallAnswer reward(Ledger& ledger, const Call& call) {
  for (const Reward& one : call.rewards) ledger.check(one);
  CallAnswer done;
  for (const Reward& one : call.rewards) done.answers.push_back(ledger.reward(one));
  return done;
}

// Who asks may not know yet what is there, and may ask again: what is there stays as it is.
CallAnswer add_actions(Ledger& ledger, Decider& decider, const std::vector<std::string>& names) {
  const auto known = [actions = ledger.actions()](const std::string& name) {
    return std::ranges::find(actions, name) != actions.end();
  };
  std::vector<std::string> missing;
  std::ranges::remove_copy_if(names, std::back_inserter(missing), known);
  ledger.add_actions(missing);
  const std::vector<std::string> all = ledger.actions();
  decider.publish_names(all);
  const auto first = names.empty() ? all.end() : std::ranges::find(all, names.front());
  return {.number = static_cast<std::uint64_t>(first - all.begin())};
}

CallAnswer change_config(Ledger& ledger, const LiveConfig& config) {
  if (as_text(config) != as_text(ledger.config())) ledger.change_config(config);
  return {};
}

CallAnswer carry_out(Ledger& ledger, Decider& decider, const Call& call, bool patient) {
  switch (call.kind) {
    case CallKind::decided: return decide(ledger, call, patient);
    case CallKind::reward: return reward(ledger, call);
    case CallKind::activate: return {.answers = {ledger.activate(call.rewards.at(0).id, call.rewards[0].record.get())}};
    case CallKind::cancel: return {.answers = {ledger.cancel(call.rewards.at(0).id, call.rewards[0].record.get())}};
    case CallKind::add_actions: return add_actions(ledger, decider, call.actions);
    case CallKind::retire: ledger.retire(static_cast<Action>(call.number)); return {};
    case CallKind::config: return change_config(ledger, live_config(call.config));
    case CallKind::gap: ledger.record(Gap{.decisions = call.number}); return {};
  }
  throw bad_input("a call has the unknown kind {}: it is of a newer pits", static_cast<int>(call.kind));
}

}  // namespace

void Call::state(Archive& archive) {
  archive(kind, waits, actions, number, config);
  std::uint64_t n = archive.count(rewards.size(), 1);
  if (archive.reading()) rewards.assign(n, Reward{.id = 0, .value = 0.0F});
  for (Reward& one : rewards) SavedReward{one}.state(archive);
  event_state(archive, decided);
}

void CallAnswer::state(Archive& archive) {
  std::vector<std::uint8_t> codes;
  for (const Answer answer : answers) codes.push_back(static_cast<std::uint8_t>(answer));
  archive(codes, number, refusal, failure);
  event_state(archive, decided);
  answers.clear();
  for (const std::uint8_t code : codes) answers.push_back(static_cast<Answer>(code));
}

CallAnswer perform(Ledger& ledger, Decider& decider, const Call& call, bool patient) {
  const auto unknown = [&](const Reward& one) { return !ledger.knows(one.id); };
  if (patient && std::ranges::any_of(call.rewards, unknown)) throw NotYet();
  try {
    return carry_out(ledger, decider, call, patient);
  } catch (const NotYet&) {
    throw;
  } catch (const Error& e) {
    if (!is_refusal(e)) throw;
    return {.refusal = e.what()};
  }
}

}  // namespace pits
