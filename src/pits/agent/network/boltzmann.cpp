#include "pits/agent/network/boltzmann.h"

#include <cmath>
#include <limits>

namespace pits {

Fields fields(BoltzmannConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .add("temperature", c.temperature, "of the softmax, in units of the reward", above(0))
      .add("gumbel", c.gumbel, "Gumbel noise that falls with an action's pulls, instead of one temperature")
      .add("gumbel_scale", c.gumbel_scale, "C: the noise of an action pulled N times is multiplied by C/sqrt(N)",
           at_least(0));
}

void softmax(std::span<const double> values, double temperature, const ActionSet& actions, std::span<double> out) {
  const double largest = values[best_action(values, actions)];
  double total = 0.0;
  for (Action a = 0; a < out.size(); ++a) {
    out[a] = actions.admits(a) ? std::exp((values[a] - largest) / temperature) : 0.0;
    total += out[a];
  }
  for (double& p : out) p /= total;
}

// An action without pulls has unbounded noise: it comes first.
void Boltzmann::add_gumbel_noise(Stream& stream, std::span<double> values) const {
  for (Action a = 0; a < values.size(); ++a) {
    const double gumbel = -std::log(-std::log(stream.uniform()));
    const auto n = static_cast<double>(pulls_[a]);
    values[a] =
        n > 0.0 ? values[a] + config_.gumbel_scale / std::sqrt(n) * gumbel : std::numeric_limits<double>::infinity();
  }
}

Action Boltzmann::decide(const Query& query, Stream& stream, ActionProbabilities* exact) const {
  std::vector<double> values(actions());
  predict(query.x, values);
  if (config_.gumbel) {
    add_gumbel_noise(stream, values);
    return best_action(values, query.actions);
  }
  std::vector<double> p(actions());
  softmax(values, config_.temperature, query.actions, p);
  if (exact != nullptr) {
    exact->p = p;
    exact->exact = true;
  }
  skip_to_position(stream, query, 2);
  return static_cast<Action>(stream.categorical(p));
}

}  // namespace pits
