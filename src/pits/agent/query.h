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

// The actions a decision may take: all K unless a mask says otherwise.
struct ActionSet {
  std::span<const std::uint8_t> allowed{};  // (K) non-zero: allowed; empty: all
  ConstMatrixView<float> features{};        // (K, features): what an agent that scores actions by features sees

  bool admits(Action a) const { return allowed.empty() || allowed[a] != 0; }
  std::size_t count(std::size_t K) const {
    const auto admitted = std::ranges::count_if(allowed, [](auto m) { return m != 0; });
    return allowed.empty() ? K : static_cast<std::size_t>(admitted);
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
