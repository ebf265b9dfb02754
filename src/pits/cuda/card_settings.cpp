#include "pits/cuda/card_settings.h"

#include <cmath>
#include <limits>

#include "pits/cuda/features.h"

namespace pits::cuda {
namespace {

CardFlow card_flow(const FlowConfig& c) {
  switch (c.kind) {
    case FlowKind::ensemble: return CardFlow::independent;
    case FlowKind::svgd: return CardFlow::svgd;
    case FlowKind::blob: return CardFlow::blob;
    case FlowKind::gfsd: return CardFlow::gfsd;
    case FlowKind::dgf: return CardFlow::dgf;
    case FlowKind::dgf_released: return CardFlow::dgf_released;
    default: throw failed("card_flow: {} has no GPU version", format_value(c.kind));
  }
}

CardScale card_scale(const Scale& scale) {
  switch (scale.rule) {
    case Scale::Rule::median: return {CardScaleRule::median, 0.0};
    case Scale::Rule::median_off_diagonal: return {CardScaleRule::median_off_diagonal, 0.0};
    case Scale::Rule::fixed: return {CardScaleRule::fixed, scale.value};
  }
  throw failed("card_scale: rule {} is not in the enumeration", static_cast<int>(scale.rule));
}

CardRule card_rule(Rule rule) {
  switch (rule) {
    case Rule::sgd: return CardRule::sgd;
    case Rule::adagrad: return CardRule::adagrad;
    case Rule::rmsprop: return CardRule::rmsprop;
    case Rule::adam: return CardRule::adam;
    case Rule::sign: return CardRule::sign;
  }
  throw failed("card_rule: rule {} is not in the enumeration", static_cast<int>(rule));
}

CardLikelihood card_likelihood(LikelihoodScale scale) {
  switch (scale) {
    case LikelihoodScale::data: return CardLikelihood::data;
    case LikelihoodScale::minibatch: return CardLikelihood::minibatch;
    case LikelihoodScale::mean: return CardLikelihood::mean;
  }
  throw failed("card_likelihood: scale {} is not in the enumeration", static_cast<int>(scale));
}

// A particle alone has no pairs.
FlowSettings flow_settings(const ParticleConfig& c) {
  return {.kind = c.particles == 1 ? CardFlow::independent : card_flow(c.flow),
          .bandwidth = card_scale(c.flow.bandwidth),
          .lambda = card_scale(c.flow.lambda),
          .own_score = c.flow.score_at == ScoreAt::own,
          .blob_drive = c.flow.drive == Drive::blob,
          .entropy = c.flow.entropy,
          .gamma = c.flow.gamma,
          .inner_steps = c.flow.inner_steps};
}

// Adam's bias corrections go into the step and the root, as in core/optimizer.cpp.
std::vector<StepSize> step_sizes(const PiTsConfig& config, std::size_t trainings) {
  const OptimizerConfig& c = config.posterior.optimizer;
  const std::int64_t per_training = training_steps(config);
  std::vector<StepSize> sizes;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(trainings) * per_training; ++k) {
    double eta = step_size(c, c.restart ? k % per_training : k), correction = 1.0;
    if (c.rule == Rule::adam) {
      const auto steps = static_cast<double>(k + 1);
      eta /= 1.0 - std::pow(c.momentum, steps);
      correction = std::sqrt(1.0 / (1.0 - std::pow(c.second_moment, steps)));
    }
    sizes.push_back({static_cast<float>(eta), static_cast<float>(correction)});
  }
  return sizes;
}

// The interval after the last training never falls as rounds go by: a round that is too early for its own interval is
// followed by none before the last training and that interval.
std::vector<std::uint32_t> trainings(const PiTsConfig& config, std::uint64_t rounds) {
  std::vector<std::uint32_t> list;
  std::uint64_t last = 0;
  for (std::uint64_t t = 1; t <= rounds;) {
    const std::uint64_t due = last + training_interval(config, t);
    if (t >= due) {
      list.push_back(static_cast<std::uint32_t>(t));
      last = t++;
    } else {
      t = due;
    }
  }
  return list;
}

LastLayerSettings last_layer_settings(const LastLayerConfig& c, const Network& network) {
  if (c.kind == LastLayerKind::trained) return {};
  LastLayerSettings s{.units = static_cast<int>(network.features()),
                      .inputs = inputs_are_features(c, network),
                      .exploration = c.exploration,
                      .disagreement = c.disagreement,
                      .noise_shape = c.noise_shape,
                      .noise_scale = c.noise_scale,
                      .margin = LastLayerRules::margin,
                      .doubt = c.doubt,
                      .most_doubt = LastLayerRules::most_doubt,
                      .doubt_weight = LastLayerRules::doubt_weight,
                      .own_weight = LastLayerRules::own_weight,
                      .optimistic = c.optimistic,
                      .train_noise = c.train_noise};
  for (const CoefficientGroup& g : coefficient_groups(c, network)) {
    s.group[s.groups++] = {.first = static_cast<int>(g.first),
                           .count = static_cast<int>(g.count),
                           .start = g.precision,
                           .expected = g.expected,
                           .weight = g.weight,
                           .low = g.low,
                           .high = g.high};
    s.features += static_cast<int>(g.count);
  }
  return s;
}

CardNetwork card_network(const ModelConfig& c, const RewardModel& model) {
  CardNetwork n;
  std::int64_t offset = 0;
  for (const Layer& layer : model.network().layers()) {
    const double factor = c.prior == PriorScale::fan_in ? static_cast<double>(layer.inputs) : 1.0;
    CardLayer& l = n.layer[n.layers++];
    l = {.inputs = static_cast<int>(layer.inputs),
         .outputs = static_cast<int>(layer.outputs),
         .stride = round_up(static_cast<int>(layer.inputs) + 1, 4),
         .rows = round_up(static_cast<int>(layer.outputs), 4),
         .offset = offset,
         .prior_precision = static_cast<float>(c.prior_precision * factor)};
    offset += static_cast<std::int64_t>(l.rows) * l.stride;
  }
  n.noise_parameters = static_cast<int>(model.parameters() - model.network().parameters());
  n.noise_offset = offset;
  n.stride = offset + round_up(n.noise_parameters, 4);
  n.tanh = c.activation == Activation::tanh;
  n.bernoulli = model.bernoulli();
  return n;
}

// The parameters in the order of RewardModel::initialise, which is that of their draws.
class Parameters {
 public:
  Parameters(const ModelConfig& config, const CardNetwork& network) : config_(config) {
    for (int l = 0; l < network.layers; ++l) add_layer(network.layer[l]);
    for (int i = 0; i < network.noise_parameters; ++i) {
      const bool drawn = config.init == Init::prior;
      list.push_back({.at = network.noise_offset + i,
                      .rank = drawn ? draws++ : -1,
                      .centre = std::log(config.noise_sd),
                      .scale = config.noise_log_sd});
    }
  }

  std::vector<CardParameter> list;
  std::int64_t draws = 0;

 private:
  double weight_scale(const CardLayer& layer) const {
    if (config_.init == Init::prior) return 1.0F / std::sqrt(layer.prior_precision);
    if (config_.init == Init::fan_in) return 1.0F / std::sqrt(static_cast<float>(layer.inputs) + 1.0F);
    return config_.init_range;
  }

  void add_layer(const CardLayer& layer) {
    const double scale = weight_scale(layer);
    for (int o = 0; o < layer.outputs; ++o) {
      for (int i = 0; i < layer.inputs; ++i) {
        list.push_back(
            {.at = layer.offset + std::int64_t{o} * layer.stride + i, .rank = draws++, .centre = 0.0, .scale = scale});
      }
    }
    for (int o = 0; o < layer.outputs; ++o) {
      list.push_back({.at = layer.offset + std::int64_t{o} * layer.stride + layer.inputs,
                      .rank = config_.init == Init::prior ? draws++ : -1,
                      .centre = 0.0,
                      .scale = scale});
    }
  }

  const ModelConfig& config_;
};

}  // namespace

std::string why_not_on_card(const PiTsConfig& config, const AgentSetup& setup) {
  const ParticleConfig& c = config.posterior;
  const FlowKind kind = c.flow.kind;
  if (kind == FlowKind::dgf_sinkhorn || kind == FlowKind::gfsf || kind == FlowKind::spos || kind == FlowKind::sgld) {
    return fmt::format("flow={} has no GPU version", format_value(kind));
  }
  const Perturbation& p = c.perturbation;
  if (p.weights != MarkWeights::none || p.rewards || p.anchors) return "particles with data or priors of their own";
  if (c.particles > most_particles) return fmt::format("more than {} particles", most_particles);
  if (c.keep_units < 1.0) return "dropout";
  if (c.products != Products::float32) return "products in bf16";
  if (c.discount < 1.0) return "discount below 1";
  if (c.model.heads > 1) return "several heads";
  if (c.optimizer.clip > 0.0) return "clip above 0";
  if (c.model.hidden.size() + 1 > most_layers) return fmt::format("more than {} hidden layers", most_layers - 1);
  if (config.last_layer.kind == LastLayerKind::exact) {
    const RewardModel model(c.model, setup.context_size, setup.actions);
    const int features = last_layer_settings(config.last_layer, model.network()).features;
    if (features > most_features || largest_tile(card_network(c.model, model), features) == 0) {
      return fmt::format("exact last layers with {} features, or on layers this wide (at most {} features)", features,
                         most_features);
    }
  }
  return {};
}

Settings card_settings(const PiTsConfig& config, const AgentSetup& setup, std::size_t rounds, CardPrecision precision) {
  const ParticleConfig& c = config.posterior;
  const RewardModel model(c.model, setup.context_size, setup.actions);
  Settings s;
  s.network = card_network(c.model, model);
  if (s.network.stride > std::numeric_limits<int>::max()) {
    throw failed("a particle of {} numbers on the card, which takes at most {}", s.network.stride,
                 std::numeric_limits<int>::max());
  }
  Parameters parameters(c.model, s.network);
  s.parameters = std::move(parameters.list);
  s.draws_per_particle = parameters.draws;
  s.uniform_init = c.model.init == Init::uniform;
  s.particles = c.particles;
  s.context_size = static_cast<int>(setup.context_size);
  s.actions = static_cast<int>(setup.actions);
  s.batch = c.batch;
  s.capacity = c.capacity;
  s.likelihood = card_likelihood(c.scale);
  s.noise_precision = 1.0F / (static_cast<float>(c.model.noise_sd) * static_cast<float>(c.model.noise_sd));
  s.noise_centre = static_cast<float>(std::log(c.model.noise_sd));
  s.noise_prior = static_cast<float>(1.0 / (c.model.noise_log_sd * c.model.noise_log_sd));
  s.flow = flow_settings(c);
  s.rule = {.rule = card_rule(c.optimizer.rule),
            .momentum = static_cast<float>(c.optimizer.momentum),
            .second_moment = static_cast<float>(c.optimizer.second_moment),
            .epsilon = static_cast<float>(c.optimizer.epsilon),
            .first_square = static_cast<float>(c.optimizer.first_square)};
  s.standardised = c.units == UnitsKind::standardised;
  s.last_layer = last_layer_settings(config.last_layer, model.network());
  s.trainings = trainings(config, rounds);
  s.step_sizes = step_sizes(config, s.trainings.size());
  s.initial_pulls = config.initial_pulls;
  s.train_steps = training_steps(config);
  s.floor = config.floor;
  s.floor_decay = config.floor_decay;
  s.seed = setup.seed;
  s.precision = precision;
  return s;
}

}  // namespace pits::cuda
