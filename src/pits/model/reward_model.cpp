#include "pits/model/reward_model.h"

#include <algorithm>
#include <cmath>

namespace pits {
namespace {

float sigmoid(float z) { return 1.0F / (1.0F + std::exp(-z)); }

std::vector<int> hidden_layers(const ModelConfig& config) {
  const bool flat = config.kind == ModelKind::linear || config.kind == ModelKind::logistic;
  return flat ? std::vector<int>{} : config.hidden;
}

}  // namespace

Fields fields(ModelConfig& c) {
  return Fields{}
      .add("model", c.kind, "linear, logistic, mlp or mlp-logistic (Bernoulli rewards in 0..1)")
      .add("hidden", c.hidden, "widths of the hidden layers of an mlp, e.g. 50 or 50x50", at_least(1))
      .add("activation", c.activation, "relu or tanh")
      .add("noise", c.noise, "noise of the Gaussian likelihood: fixed, learned or learned-per-action")
      .add("noise_sd", c.noise_sd, "its standard deviation; where learned, the centre of its prior", above(0))
      .add("noise_log_sd", c.noise_log_sd, "learned noise: prior standard deviation of log sigma", above(0))
      .add("prior", c.prior, "prior precision: the same for all parameters, or times the layer's fan-in")
      .add("prior_precision", c.prior_precision, "precision of the Gaussian prior; 0: none", at_least(0))
      .add("init", c.init, "first particles: prior, fan-in (variance 1/(inputs+1), biases 0) or uniform")
      .add("init_range", c.init_range, "init=uniform draws weights from (-range, range), biases are 0", above(0));
}

RewardModel::RewardModel(const ModelConfig& config, std::size_t context_size, std::size_t actions)
    : config_(checked(config)),
      network_(context_size, hidden_layers(config), actions, config.activation, config.heads) {
  if (context_size == 0) throw bad_input("the agent needs contexts of at least 1 number: a schema, or context_size");
  if (config.init == Init::prior && config.prior_precision == 0.0) {
    throw bad_input("prior_precision must be above 0 where init=prior draws from it; init=fan-in needs no prior");
  }
  if (actions == 0) throw bad_input("a model needs at least 1 action");
}

bool RewardModel::bernoulli() const {
  return config_.kind == ModelKind::logistic || config_.kind == ModelKind::mlp_logistic;
}

std::size_t RewardModel::noise_parameters() const {
  if (bernoulli() || config_.noise == Noise::fixed) return 0;
  return config_.noise == Noise::learned ? 1 : actions();
}

std::size_t RewardModel::noise_index(std::size_t action) const {
  return network_.parameters() + (config_.noise == Noise::learned_per_action ? action : 0);
}

float RewardModel::noise_sd(std::span<const float> theta, std::size_t action) const {
  return noise_parameters() > 0 ? std::exp(theta[noise_index(action)]) : static_cast<float>(config_.noise_sd);
}

float RewardModel::prior_precision_of(const Layer& layer) const {
  const double factor = config_.prior == PriorScale::fan_in ? static_cast<double>(layer.inputs) : 1.0;
  return static_cast<float>(config_.prior_precision * factor);
}

void RewardModel::initialise(Stream& stream, MatrixView<float> theta) const {
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    const std::span<float> particle = theta.row(i);
    for (const Layer& layer : network_.layers()) {
      const auto weights = particle.subspan(layer.weights, layer.inputs * layer.outputs);
      const auto biases = particle.subspan(layer.biases, layer.outputs);
      if (config_.init == Init::prior) {
        const float sd = 1.0F / std::sqrt(prior_precision_of(layer));
        stream.fill_normal(weights, sd);
        stream.fill_normal(biases, sd);
      } else if (config_.init == Init::fan_in) {
        stream.fill_normal(weights, 1.0F / std::sqrt(static_cast<float>(layer.inputs) + 1.0F));
        std::ranges::fill(biases, 0.0F);
      } else {
        const auto range = static_cast<float>(config_.init_range);
        const auto draw = [&] { return range * (2.0F * stream.uniform_float() - 1.0F); };
        std::ranges::generate(weights, draw);
        std::ranges::fill(biases, 0.0F);
      }
    }
    for (float& log_sd : particle.subspan(network_.parameters())) {
      const double spread = config_.init == Init::prior ? config_.noise_log_sd * stream.normal() : 0.0;
      log_sd = static_cast<float>(std::log(config_.noise_sd) + spread);
    }
  }
}

void RewardModel::predict(std::span<const float> theta, std::span<const float> x, Network::Workspace& w,
                          std::span<float> out) const {
  network_.evaluate(theta, x, w, out);
  if (bernoulli()) std::ranges::transform(out, out.begin(), sigmoid);
}

void RewardModel::predict(ParticlesView theta, std::span<const float> x, Network::Workspace& w,
                          MatrixView<float> out) const {
  for (std::size_t i = 0; i < theta.rows(); ++i) predict(theta.row(i), x, w, out.row(i));
}

void RewardModel::score(ParticlesView theta, const Minibatch& batch, Network::Workspace& w, MatrixView<float> score,
                        ParticlesView anchors, std::span<const float> noise_sd) const {
  const auto row = [](const Matrix<float>& marks, std::size_t i) {
    return marks.size() == 0 ? std::span<const float>{} : marks.row(i);
  };
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    prior_score(theta.row(i), anchors.size() == 0 ? std::span<const float>{} : anchors.row(i), score.row(i));
    const float sd = noise_sd.empty() ? static_cast<float>(config_.noise_sd) : noise_sd[i];
    likelihood_score(theta.row(i), batch, {row(batch.weights, i), row(batch.offsets, i), sd}, w, score.row(i));
  }
}

// scale · ∇ Σ_b w_b log p(r_b | m_b): Bernoulli ∂/∂m = r − σ(m); Gaussian ∂/∂m = (r − m)/σ², ∂/∂log σ = (r − m)²/σ²
// − 1.
void RewardModel::likelihood_score(std::span<const float> theta, const Minibatch& batch, const Marks& marks,
                                   Network::Workspace& w, std::span<float> gradient) const {
  w.output.resize(batch.size());
  network_.forward(theta, batch, w, w.output);
  const float scale = batch.likelihood_scale;
  const bool learned = noise_parameters() > 0;
  for (std::size_t a = 0; a + 1 < batch.group_start.size(); ++a) {
    const float sd = learned ? noise_sd(theta, a) : marks.noise_sd;
    const float precision = 1.0F / (sd * sd);
    if (!bernoulli() && !learned && marks.weights.empty() && marks.offsets.empty()) {
      for (std::size_t b = batch.group_start[a]; b < batch.group_start[a + 1]; ++b) {
        w.output[b] = scale * precision * (batch.rewards[b] - w.output[b]);
      }
      continue;
    }
    float noise_gradient = 0.0F;
    for (std::size_t b = batch.group_start[a]; b < batch.group_start[a + 1]; ++b) {
      float& m = w.output[b];
      const float weight = marks.weights.empty() ? 1.0F : marks.weights[b];
      const float r = marks.offsets.empty() ? batch.rewards[b] : batch.rewards[b] + marks.offsets[b];
      if (bernoulli()) {
        m = scale * weight * (r - sigmoid(m));
      } else {
        noise_gradient += weight * ((r - m) * (r - m) * precision - 1.0F);
        m = scale * weight * precision * (r - m);
      }
    }
    if (learned) gradient[noise_index(a)] += scale * noise_gradient;
  }
  network_.backward(theta, batch, w.output, w, gradient);
}

// ∇ log p0: weights and biases N(0, 1/precision), log σ N(log noise_sd, noise_log_sd²), or the same centred at an
// anchor.
void RewardModel::prior_score(std::span<const float> theta, std::span<const float> anchor,
                              std::span<float> score) const {
  const auto pull = [&](std::size_t first, std::size_t end, float precision, float centre) {
    if (anchor.empty()) {
      for (std::size_t l = first; l < end; ++l) score[l] = precision * (centre - theta[l]);
    } else {
      for (std::size_t l = first; l < end; ++l) score[l] = precision * (anchor[l] - theta[l]);
    }
  };
  for (const Layer& layer : network_.layers()) {
    pull(layer.weights, layer.biases + layer.outputs, prior_precision_of(layer), 0.0F);
  }
  pull(network_.parameters(), theta.size(), static_cast<float>(1.0 / (config_.noise_log_sd * config_.noise_log_sd)),
       static_cast<float>(std::log(config_.noise_sd)));
}

}  // namespace pits
