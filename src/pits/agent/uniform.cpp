#include "pits/agent/uniform.h"

namespace pits {

Fields fields(UniformConfig&) { return {}; }

Decision Uniform::choose(const Query& query) const {
  check_query(query, setup_);
  Stream stream = decision_stream(setup_, query.id);
  const auto allowed = static_cast<float>(query.actions.count(setup_.actions));
  return {.action = random_action(stream, query.actions, setup_.actions),
          .propensity = query.want_propensity ? std::optional(1.0F / allowed) : std::nullopt};
}

void Uniform::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) check_feedback(event, setup_);
}

}  // namespace pits
