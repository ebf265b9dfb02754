#include "pits/agent/vi_ts.h"

#include <algorithm>

namespace pits {
namespace {

void draw_values(const GaussianNetwork& network, const GaussianWeights& q, ContextView x, Stream& stream,
                 std::span<float> out) {
  thread_local GaussianNetwork::Workspace workspace;
  network.sample(q, x, stream, workspace, out);
}

}  // namespace

Fields fields(ViTsConfig& c) {
  return Fields{}
      .merge(fields(c.posterior))
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .add("train_every", c.train_every, "rounds between trainings", at_least(1))
      .add("train_steps", c.train_steps, "steps in a training", at_least(1));
}

ViTs::ViTs(const ViTsConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      posterior_(config.posterior, setup.context_size, setup.actions, setup.seed, setup.realization) {}

Decision ViTs::choose(const Query& query) const {
  return play_best(stage(), query, [this](ContextView x, Stream& stream, std::span<float> out) {
    draw_values(posterior_.network(), posterior_.weights(), x, stream, out);
  });
}

void ViTs::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    posterior_.observe({.context = event.x, .action = event.action, .reward = event.reward});
    const auto every = static_cast<std::uint64_t>(config_.train_every);
    if (posterior_.history().seen() % every == 0) posterior_.train(config_.train_steps);
  }
}

bool ViTs::draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const {
  Stream stream = posterior_stream(setup_, draw);
  std::vector<float> values(out.size());
  draw_values(posterior_.network(), posterior_.weights(), x, stream, values);
  std::ranges::copy(values, out.begin());
  return true;
}

std::unique_ptr<const Policy> ViTs::snapshot() const {
  const GaussianWeights q = posterior_.weights();
  return frozen(stage(), [network = posterior_.network(), mean = std::vector<float>(q.mean.begin(), q.mean.end()),
                          variance = std::vector<float>(q.variance.begin(), q.variance.end())](
                             ContextView x, Stream& stream, std::span<float> out) {
    draw_values(network, {mean, variance}, x, stream, out);
  });
}

}  // namespace pits
