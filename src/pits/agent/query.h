// What an agent is asked, what it answers, and what it learns from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "pits/core/matrix.h"
#include "pits/posterior/history.h"

namespace pits {

using Action = std::uint32_t;      // 0..K−1
using DecisionId = std::uint64_t;  // the address of a decision's random draws, given by the caller: 0, 1, 2, ...
using ContextView = std::span<const float>;

// The actions a decision may take: all K unless a mask says otherwise. Where an agent was made for K = 0 actions, each
// decision brings candidates, a row of features each; K is their number then, and an action is the place of one.
struct ActionSet {
  std::span<const std::uint8_t> allowed{};  // (K) non-zero: allowed; empty: all
  ConstMatrixView<float> features{};        // (K, features): what an agent that scores actions by features sees

  std::size_t size(std::size_t K) const { return K > 0 ? K : features.rows(); }
  bool admits(Action a) const { return allowed.empty() || allowed[a] != 0; }
  std::size_t count(std::size_t K) const {
    const auto admitted = std::ranges::count_if(allowed, [](auto m) { return m != 0; });
    return allowed.empty() ? size(K) : static_cast<std::size_t>(admitted);
  }
};

struct Query {
  ContextView x;
  ActionSet actions{};
  DecisionId id = 0;
  bool want_propensity = false;
  std::uint32_t rank_position = 0;  // in a ranking, whose earlier positions are masked
};

struct Decision {
  Action action;
  std::optional<float> propensity;  // none where it was not asked for or has no closed form
};

struct Feedback {
  ContextView x;
  Action action;
  float reward;
  DecisionId id = 0;
  std::span<const float> z{};  // the action's features, for agents that score actions by them

  Observation observation() const { return {.context = x, .action = action, .reward = reward}; }
};

}  // namespace pits
