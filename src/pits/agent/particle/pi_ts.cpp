#include "pits/agent/particle/pi_ts.h"

#include <algorithm>
#include <numeric>

#include "pits/agent/particle/votes.h"
#include "pits/posterior/prepared_values.h"

namespace pits {
namespace {

// The row in which draw n falls: draws go round a circle of the rows' weights by the golden section, so that any first
// draws have of every set of neighbours as many as its weight says, up to a few (Weyl 1916).
std::size_t even_row(std::span<const double> weights, std::uint32_t n) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double left = 0x1p-32 * (n * 0x9e3779b9U) * total;
  std::size_t last = 0;
  for (std::size_t row = 0; row < weights.size(); ++row) {
    if (weights[row] == 0.0) continue;
    last = row;
    left -= weights[row];
    if (left < 0.0) break;
  }
  return last;
}

}  // namespace

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

void PiTs::to_raw(std::span<double> rewards) const {
  for (double& r : rewards) r = posterior_.standardiser().raw_reward(r);
}

void PiTs::row_rewards(std::size_t row, std::uint32_t draw, ContextView x, std::span<double> out) const {
  if (posterior_.draws_per_decision()) {
    Stream stream = posterior_stream(setup(), draw);
    posterior_.sample(row, x, stream, out);
  } else {
    std::vector<float> values(actions());
    posterior_.values(row, x, values);
    std::ranges::copy(values, out.begin());
  }
  to_raw(out);
}

bool PiTs::draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const {
  const std::size_t M = posterior_.particles().rows();
  const std::span<const double> weights = posterior_.row_weights();
  if (M == 1 && weights.empty() && !posterior_.draws_per_decision()) return false;  // a point, not a distribution
  row_rewards(weights.empty() ? draw % M : even_row(weights, draw), draw, x, out);
  return true;
}

bool PiTs::mean_rewards(ContextView x, std::span<double> out) const {
  if (posterior_.mixture() == nullptr) return false;
  posterior_.mean_values(x, out);
  to_raw(out);
  return true;
}

void PiTs::particle_rewards(std::uint32_t i, ContextView x, std::span<double> out) const {
  row_rewards(posterior_.first_row(i), i, x, out);
}

}  // namespace pits
