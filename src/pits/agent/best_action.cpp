// The best of the actions that are allowed, and one of them at random.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pits/agent/agent.h"
#include "pits/core/error.h"

namespace pits {
namespace {

constexpr std::size_t lanes = 16, block = 256;

template <class T>
T largest_in(std::span<const T> values) {
  std::array<T, lanes> most;
  most.fill(-std::numeric_limits<T>::infinity());
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) most[l] = values[i + l] > most[l] ? values[i + l] : most[l];
  }
  T all = *std::ranges::max_element(most);
  for (; i < values.size(); ++i) all = values[i] > all ? values[i] : all;
  return all;
}

// Where nothing is masked: the largest of each block by loops that vectorise, then its place.
template <class T>
Action best_of_many(std::span<const T> values) {
  T best = values[0];
  std::size_t where = 0;
  for (std::size_t start = 0; start < values.size(); start += block) {
    const T largest = largest_in(values.subspan(start, std::min(block, values.size() - start)));
    if (!(largest > best)) continue;
    best = largest;
    where = start;
  }
  while (values[where] != best && !std::isnan(best)) ++where;
  return static_cast<Action>(where);
}

template <class T>
Action best_of(std::span<const T> values, const ActionSet& actions) {
  if (actions.allowed.empty() && values.size() > block) return best_of_many(values);
  if (actions.allowed.empty() && !values.empty()) {  // selects instead of branches that nobody can predict
    T most = values[0];
    Action where = 0;
    for (Action a = 1; a < values.size(); ++a) {
      const bool better = values[a] > most;
      most = better ? values[a] : most;
      where = better ? a : where;
    }
    return where;
  }
  std::optional<Action> best;
  for (Action a = 0; a < values.size(); ++a) {
    if (actions.admits(a) && (!best || values[a] > values[*best])) best = a;
  }
  if (!best) throw bad_input("no action is allowed");
  return *best;
}

}  // namespace

Action best_action(std::span<const float> values, const ActionSet& actions) { return best_of(values, actions); }
Action best_action(std::span<const double> values, const ActionSet& actions) { return best_of(values, actions); }

Action random_action(Stream& stream, const ActionSet& actions, std::size_t K) {
  std::uint32_t skip = stream.index(static_cast<std::uint32_t>(actions.count(K)));
  for (Action a = 0; a < K; ++a) {
    if (actions.admits(a) && skip-- == 0) return a;
  }
  throw bad_input("no action is allowed");
}

}  // namespace pits
