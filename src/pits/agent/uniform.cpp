#include "pits/agent/uniform.h"

namespace pits {

Fields fields(UniformConfig&) { return {}; }

Decision Uniform::choose(const Query& query) const {
  check_query(query, setup_);
  Stream stream = decision_stream(setup_, query);
  skip_to_place(stream, query, 1);
  const auto allowed = static_cast<float>(query.actions.count(setup_.actions));
  return {.action = random_action(stream, query.actions, setup_.actions),
          .propensity = query.want_propensity ? std::optional(1.0F / allowed) : std::nullopt};
}

double Uniform::propensities(const Query& query, std::uint32_t, std::span<float> p) const {
  check_query(query, setup_);
  check_places(p, setup_.actions);
  const auto allowed = static_cast<float>(query.actions.count(setup_.actions));
  for (Action a = 0; a < p.size(); ++a) p[a] = query.actions.admits(a) ? 1.0F / allowed : 0.0F;
  return 0.0;
}

void Uniform::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) check_feedback(event, setup_);
}

}  // namespace pits
