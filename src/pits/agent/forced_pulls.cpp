#include "pits/agent/forced_pulls.h"

#include <algorithm>

#include "pits/core/error.h"

namespace pits {

ForcedPulls::ForcedPulls(ColdStart rule, int pulls, std::size_t actions, std::size_t first)
    : rule_(rule), pulls_(static_cast<std::uint64_t>(pulls)), actions_(0), first_(first) {
  add_actions(actions, 0);
}

void ForcedPulls::find(const Query& query, std::uint64_t events, std::vector<Action>& out) const {
  out.clear();
  if (rule_ == ColdStart::round_robin) {
    if (events >= pulls_ * first_) return;
    const auto turn = static_cast<Action>(query.id % first_);
    if (query.actions.admits(turn)) out.push_back(turn);
    return;
  }
  for (const Cold& c : cold_) {
    if (query.actions.admits(c.action)) out.push_back(c.action);
  }
  if (events > 0 && query.id > newest_ && query.id - newest_ > pulls_ * out.size()) out.clear();
}

void ForcedPulls::learned(const Feedback& event, std::uint64_t events) {
  if (rule_ == ColdStart::round_robin) return;  // the turn goes by the decision's id
  newest_ = std::max(newest_, event.id);
  for (Cold& c : cold_) c.rewards += c.action == event.action ? 1 : 0;
  std::erase_if(cold_, [&](const Cold& c) { return c.rewards >= pulls_ || events >= c.until; });
}

void ForcedPulls::add_actions(std::size_t count, std::uint64_t events) {
  const std::size_t from = actions_;
  actions_ += count;
  if (rule_ == ColdStart::round_robin || pulls_ == 0) return;
  for (std::size_t a = from; a < actions_; ++a) {
    cold_.push_back({.action = static_cast<Action>(a), .until = events + cold_patience * pulls_ * count});
  }
}

void ForcedPulls::state(Archive& archive) {
  if (archive.reading()) cold_.clear();
  archive.version("ForcedPulls", 1)(newest_, cold_);
  const auto after = [](const Cold& a, const Cold& b) { return a.action >= b.action; };
  if (std::ranges::adjacent_find(cold_, after) != cold_.end() || (!cold_.empty() && cold_.back().action >= actions_)) {
    throw bad_input("the saved state forces pulls of actions that are not there");
  }
}

}  // namespace pits
