#include "pits/agent/particle/bootstrap_heads.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pits/agent/particle/votes.h"

namespace pits {
namespace {

// A setting that counts for one head, for all of them.
int for_all_heads(const char* field, int value, double times) {
  constexpr double most = std::numeric_limits<int>::max();
  const double largest = std::floor(most / times);
  if (value > largest) {
    throw bad_input("{} must be at most {:.0f}, not {}: all heads together take {} times as many", field, largest,
                    value, times);
  }
  return static_cast<int>(std::min(std::ceil(value * times), most));
}

PosteriorConfig with_heads(const BootstrapHeadsConfig& config) {
  PosteriorConfig c = checked(config).network.posterior;
  c.model.heads = config.heads;
  c.batch = for_all_heads("batch", c.batch, config.heads);
  const double observations = config.heads * config.keep;  // per round
  c.memory.discount = std::pow(c.memory.discount, 1.0 / observations);
  c.memory.capacity = for_all_heads("capacity", c.memory.capacity, observations);
  return c;
}

}  // namespace

Fields fields(BootstrapHeadsConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .add("heads", c.heads, "heads on the shared body", between(1, 1000))
      .add("keep", c.keep, "probability that a head keeps an observation",
           Range{.low = 0, .high = 1, .low_open = true});
}

BootstrapHeads::BootstrapHeads(const BootstrapHeadsConfig& config, const AgentSetup& setup)
    : Cloned(setup, checked(config).network.exploration),
      heads_(config.heads),
      keep_(config.keep),
      memory_(config.network.posterior.memory),
      network_(with_heads(config), setup.context_size, static_cast<std::size_t>(config.heads) * setup.actions,
               {.seed = setup.seed, .realization = setup.realization}) {}

Action BootstrapHeads::decide(const Query& query, Stream& stream, ActionProbabilities* exact) const {
  const std::size_t drawn = stream.index(static_cast<std::uint32_t>(heads_));
  const ConstMatrixView<float> rewards(network_.all_values(query.x).data(), static_cast<std::size_t>(heads_),
                                       actions());
  if (exact != nullptr) count_votes(rewards, {}, query.actions, *exact);
  return best_action(rewards.row(drawn), query.actions);
}

void BootstrapHeads::observe(const Feedback& event) {
  Stream stream({.seed = setup().seed,
                 .realization = setup().realization,
                 .purpose = Purpose::observation_marks,
                 .step = static_cast<std::uint32_t>(events())});
  const auto K = static_cast<Action>(actions());
  for (Action h = 0; h < static_cast<Action>(heads_); ++h) {
    if (stream.uniform() >= keep_) continue;
    network_.observe({.context = event.x, .action = h * K + event.action, .reward = event.reward});
  }
  if (trains_in_line() && due(events() + 1)) train(events() + 1);
}

void BootstrapHeads::train(std::uint64_t t) {
  trained_at_ = t;
  if (network_.history().size() > 0) network_.train();
}

}  // namespace pits
