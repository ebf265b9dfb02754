#include "pits/agent/network/parameter_noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pits/model/kernels/layer_views.h"

namespace pits {
namespace {

double log_sum_exp(std::span<const float> x) {
  const double top = *std::ranges::max_element(x);
  double sum = 0.0;
  for (const float v : x) sum += std::exp(v - top);
  return top + std::log(sum);
}

}  // namespace

Fields fields(ParameterNoiseConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .add("sigma", c.sigma, "first standard deviation of the noise on every weight and bias", at_least(0))
      .add("greedy_epsilon", c.epsilon, "sigma follows the distance of an epsilon-greedy policy from the greedy one",
           between(0, 1))
      .add("greedy_decay", c.epsilon_decay, "factor of that epsilon at every training", between(0, 1))
      .add("growth", c.growth, "factor of sigma at a training, or its inverse", at_least(1))
      .add("samples", c.samples, "contexts of the history that the distance averages over", at_least(1));
}

void noisy_outputs(const Network& network, std::span<const float> theta, double sigma, std::span<const float> x,
                   Stream& stream, std::span<float> out) {
  thread_local std::vector<float> values[2];
  std::span<const float> input = x;
  for (std::size_t l = 0; l < network.layers().size(); ++l) {
    const Layer& layer = network.layers()[l];
    const bool last = l + 1 == network.layers().size();
    values[l % 2].resize(layer.outputs);
    const std::span<float> z = last ? out : std::span<float>(values[l % 2]);
    affine(layer, theta, input, z);
    const double square = std::inner_product(input.begin(), input.end(), input.begin(), 1.0);  // 1: the bias
    for (float& v : z) v += static_cast<float>(sigma * std::sqrt(square) * stream.normal());
    if (!last) activate(network.activation(), z);
    input = z;
  }
}

double softmax_divergence(std::span<const float> p, std::span<const float> q) {
  const double p_total = log_sum_exp(p);
  const double q_total = log_sum_exp(q);
  double sum = 0.0;
  for (std::size_t a = 0; a < p.size(); ++a) {
    const double log_p = p[a] - p_total;
    sum += std::exp(log_p) * (log_p - (q[a] - q_total));
  }
  return std::max(sum, 0.0);
}

double greedy_divergence(double epsilon, std::size_t K) {
  return -std::log1p(epsilon / static_cast<double>(K) - epsilon);
}

ParameterNoise::ParameterNoise(const ParameterNoiseConfig& config, const AgentSetup& setup)
    : Cloned(checked(config).network, setup), config_(config), sigma_(config.sigma), epsilon_(config.epsilon) {}

void ParameterNoise::values(ContextView x, Stream& stream, std::span<double> out) const {
  thread_local std::vector<float> rewards;
  rewards.resize(out.size());
  noisy_outputs(model().network(), theta(), sigma_, x, stream, rewards);
  std::ranges::copy(rewards, out.begin());
}

// Every context meets noise of its own; the showdown draws one for all of them, which has the same mean.
double ParameterNoise::mean_divergence() const {
  const History& history = posterior().history();
  Stream stream({.seed = setup().seed,
                 .realization = setup().realization,
                 .purpose = Purpose::agent_private,
                 .step = trainings_});
  std::vector<float> plain(setup().actions), noisy(setup().actions);
  Network::Workspace workspace;
  double sum = 0.0;
  for (int i = 0; i < config_.samples; ++i) {
    const Observation o = history[history.draw_slot(stream)];
    model().network().evaluate(theta(), o.context, workspace, plain);
    noisy_outputs(model().network(), theta(), sigma_, o.context, stream, noisy);
    sum += softmax_divergence(plain, noisy);
  }
  return sum / config_.samples;
}

void ParameterNoise::on_training() {
  const bool near = mean_divergence() < greedy_divergence(epsilon_, setup().actions);
  sigma_ *= near ? config_.growth : 1.0 / config_.growth;
  epsilon_ *= config_.epsilon_decay;
  ++trainings_;
}

}  // namespace pits
