// The bodies of requests: those of decide, rewards, cancel and activate are read by simdjson. An Error names the field.
#pragma once

#include <nlohmann/json.hpp>

#include "pits/log/live_bandit.h"

namespace pits {

// A whole body, for the calls that are rare. Throws where it is no JSON object, or nested too deep.
nlohmann::json read_object(std::string_view body);

// One {...}, or many: {"decisions": [{...}, ...]} and {"rewards": [{...}, ...]}.
template <class Request>
struct OneOrMany {
  std::vector<Request> requests;
  bool many = false;
};

constexpr std::size_t most_in_batch = 1000;

struct DecideRequest {
  std::vector<float> x;           // (d) encoded
  DecisionLabels labels;          // key, context as JSON, allowed names
  std::vector<float> features{};  // (candidates, f), row by row
  std::size_t candidates = 0;

  // allowed and features of the request; valid as long as it is.
  ActionSet actions() const;
};
// Contexts are objects where there is a schema, and lists of numbers where there is none; they may be left out where
// they have no numbers. At least 64 readable bytes follow the body.
OneOrMany<DecideRequest> read_decide(std::string_view body, const std::optional<Schema>& schema,
                                     std::size_t context_size);

struct RewardRequest {
  std::optional<DecisionId> id{};
  std::string decision{};  // the caller's key of the decision, instead of its id
  std::string token{};
  float value = 0.0F;
  std::string key{};  // of the reward
};
// With values, or without, for cancel and activate.
OneOrMany<RewardRequest> read_rewards(std::string_view body);
RewardRequest read_decision(std::string_view body);

}  // namespace pits
