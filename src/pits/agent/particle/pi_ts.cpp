#include "pits/agent/particle/pi_ts.h"

#include <algorithm>

#include "pits/agent/particle/votes.h"
#include "pits/posterior/prepared_values.h"

namespace pits {

PiTs::PiTs(const PiTsConfig& config, const AgentSetup& setup)
    : Cloned(setup, checked(config).exploration),
      config_(config),
      posterior_(config.posterior, setup.context_size, setup.actions,
                 {.seed = setup.seed, .realization = setup.realization}) {}

// One forward pass where the particle decides alone; the probabilities need a pass of every particle.
Action PiTs::decide(const Query& query, Stream& stream, ActionProbabilities* exact) const {
  const std::span<const double> weights = posterior_.row_weights();
  const std::size_t drawn = weights.empty() ? stream.index(static_cast<std::uint32_t>(posterior_.particles().rows()))
                                            : stream.categorical(weights);
  if (posterior_.draws_per_decision()) {
    thread_local std::vector<double> rewards;
    rewards.resize(actions());
    posterior_.sample(drawn, query.x, stream, rewards);
    if (exact != nullptr) find_probabilities(query, *exact);
    return best_action(rewards, query.actions);
  }
  if (exact == nullptr && (!posterior_.coupled() || posterior_.mixture() != nullptr)) {
    thread_local std::vector<float> rewards;
    rewards.resize(actions());
    posterior_.values(drawn, query.x, rewards);
    return best_action(rewards, query.actions);
  }
  const Matrix<float>& rewards = posterior_.all_values(query.x);
  if (exact != nullptr) count_votes(rewards, weights, query.actions, *exact);
  return best_action(rewards.row(drawn), query.actions);
}

std::shared_ptr<void> PiTs::prepare(std::span<const ContextView> contexts) const {
  if (posterior_.mixture() == nullptr || contexts.size() < 2) return nullptr;
  return std::make_shared<PreparedValues>(posterior_, contexts);
}

// The mean over the particles: each is as likely to decide.
void PiTs::find_probabilities(const Query& query, ActionProbabilities& exact) const {
  const std::size_t M = posterior_.particles().rows();
  thread_local Network::Workspace workspace;
  thread_local std::vector<ValueLaw> laws;
  thread_local std::vector<double> p;
  laws.resize(actions());
  p.resize(actions());
  std::ranges::fill(exact.p, 0.0);
  for (std::size_t i = 0; i < M; ++i) {
    posterior_.last_layers()->laws(posterior_.model().network(), posterior_.particles(), i,
                                   posterior_.standardiser().context(query.x), workspace, laws);
    if (!best_probabilities(laws, query.actions, p)) return;
    for (Action a = 0; a < p.size(); ++a) exact.p[a] += p[a] / static_cast<double>(M);
  }
  exact.exact = true;
  exact.tolerance = best_tolerance;
}

bool PiTs::draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const {
  const std::size_t M = posterior_.particles().rows();
  if (posterior_.draws_per_decision()) {
    Stream stream = posterior_stream(setup(), draw);
    posterior_.sample(draw % M, x, stream, out);
  } else {
    if (M == 1 && posterior_.mixture() == nullptr) return false;  // one particle is a point, not a distribution
    std::vector<float> values(actions());
    posterior_.values(draw % posterior_.rows(), x, values);
    std::ranges::copy(values, out.begin());
  }
  std::ranges::transform(out, out.begin(), [&](double r) { return posterior_.standardiser().raw_reward(r); });
  return true;
}

}  // namespace pits
