// The body of a decide or reward request, and of any other. A named context has the vector that the schema gives its
// text, which another parser reads.
#include "pits/serve/requests.h"

#include <cmath>

#include "fuzz/target.h"

namespace pits::fuzz {
namespace {

const std::optional<Schema>& schema() {
  static const std::optional<Schema> made(std::in_place,
                                          R"({"features": [{"name": "age", "kind": "number", "missing": "level"},
                         {"name": "country", "kind": "category", "levels": ["de", "fr"], "unknown": "level", "missing": "level"},
                         {"name": "page", "kind": "category", "buckets": 8, "missing": "level", "unknown": "level"},
                         {"name": "member", "kind": "boolean", "missing": "level"}], "others": "ignore"})");
  return made;
}

std::string read_decisions(std::string_view body) {
  for (const DecideRequest& request : read_decide(body, schema(), schema()->width()).requests) {
    if (request.labels.context.empty()) throw std::logic_error("a context is lost");
    if (schema()->encode(request.labels.context) != request.x) throw std::logic_error("a context has two vectors");
  }
  return {};
}

std::string read_all_rewards(std::string_view body) {
  for (const RewardRequest& request : read_rewards(body).requests) {
    if (!std::isfinite(request.value)) throw std::logic_error("a reward is not finite");
    if (!request.id && request.decision.empty() && request.token.empty()) throw std::logic_error("of no decision");
  }
  return {};
}

std::string read_whole(std::string_view body) {
  const nlohmann::json json = read_object(body);
  if (nlohmann::json::parse(json.dump()) != json) throw std::logic_error("a body has two meanings");
  return {};
}

std::string read_vectors(std::string_view body) {
  for (const DecideRequest& request : read_decide(body, {}, 2).requests) {
    if (request.candidates * (request.candidates > 0 ? request.features.size() / request.candidates : 0) !=
        request.features.size()) {
      throw std::logic_error("rows of candidates have different lengths");
    }
  }
  return {};
}

}  // namespace

bool reads(std::string_view bytes) {
  const std::string padded = std::string(bytes) + std::string(64, '\0');
  const std::string_view body = std::string_view(padded).substr(0, bytes.size());
  const bool named = outcome_of([&] { return read_decisions(body); }).read;
  const bool numbers = outcome_of([&] { return read_vectors(body); }).read;
  const bool rewards = outcome_of([&] { return read_all_rewards(body); }).read;
  outcome_of([&] { return read_whole(body); });  // what is in it is nobody's question here
  return named || numbers || rewards;
}

}  // namespace pits::fuzz
