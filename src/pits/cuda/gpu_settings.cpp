#include "pits/cuda/gpu_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pits/cuda/last_layer/features.h"

namespace pits::cuda {
namespace {

std::vector<StepFactors<float>> steps(const PiTsConfig& config, std::size_t trainings) {
  const OptimizerConfig& c = config.posterior.optimizer;
  const std::int64_t per_training = training_steps(config.posterior);
  std::vector<StepFactors<float>> list;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(trainings) * per_training; ++k) {
    list.push_back(step_factors<float>(c, step_size(c, c.restart ? k % per_training : k), k + 1));
  }
  return list;
}

// The interval after the last training never falls as rounds go by: a round that is too early for its own interval is
// followed by none before the last training and that interval.
std::vector<std::uint32_t> trainings(const PiTsConfig& config, std::uint64_t rounds) {
  const PosteriorConfig& c = config.posterior;
  std::vector<std::uint32_t> list;
  std::uint64_t last = 0;
  for (std::uint64_t t = 1; t <= rounds;) {
    const std::uint64_t due = last + c.training.interval(t, c.memory);
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
  LastLayerSettings s{
      .config = c, .units = static_cast<int>(network.features()), .inputs = inputs_are_features(c, network)};
  const bool mixture = c.kind == LastLayerKind::mixture;
  for (const CoefficientGroup& g : mixture ? network_groups(c, network) : coefficient_groups(c, network)) {
    s.group[s.groups++] = g;
    s.features += static_cast<int>(g.count);
  }
  return s;
}

// The linear model of a mixture, on contexts of d numbers in units.
LastLayerSettings linear_settings(const LastLayerConfig& c, std::size_t d) {
  LastLayerSettings s{.config = c, .units = static_cast<int>(d)};
  for (const CoefficientGroup& g : linear_groups(d)) {
    s.group[s.groups++] = g;
    s.features += static_cast<int>(g.count);
  }
  return s;
}

MixtureSettings mixture_settings(const PosteriorConfig& c, const Network& network, std::uint64_t rounds) {
  MixtureSettings s{.linear = linear_settings(c.last_layer, network.inputs()), .adaptive = c.memory.adaptive};
  for (std::uint64_t t = 0; t <= rounds; ++t) {
    s.intervals.push_back(static_cast<std::uint32_t>(c.training.interval(t, c.memory)));
  }
  return s;
}

// The most trainings of a realization that forgets: those that are due, and those after a change, which so many
// observations must have shown.
std::size_t most_trainings(const MixtureSettings& s, std::size_t rounds) {
  using C = ForgettingConstants;
  const std::size_t least = *std::ranges::min_element(s.intervals);
  return rounds / std::max<std::size_t>(1, least) +
         static_cast<std::size_t>(static_cast<double>(rounds) * C::largest_gain / C::margin) + 1;
}

NetworkLayout network_layout(const ModelConfig& c, const RewardModel& model) {
  NetworkLayout n;
  std::int64_t offset = 0;
  for (const Layer& layer : model.network().layers()) {
    const double factor = c.prior == PriorScale::fan_in ? static_cast<double>(layer.inputs) : 1.0;
    LayerLayout& l = n.layer[n.layers++];
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
  Parameters(const ModelConfig& config, const NetworkLayout& network) : config_(config) {
    for (int l = 0; l < network.layers; ++l) add_layer(network.layer[l]);
    for (int i = 0; i < network.noise_parameters; ++i) {
      const bool drawn = config.init == Init::prior;
      list.push_back({.at = network.noise_offset + i,
                      .rank = drawn ? draws++ : -1,
                      .centre = std::log(config.noise_sd),
                      .scale = config.noise_log_sd});
    }
  }

  std::vector<ParameterLayout> list;
  std::int64_t draws = 0;

 private:
  double weight_scale(const LayerLayout& layer) const {
    if (config_.init == Init::prior) return 1.0F / std::sqrt(layer.prior_precision);
    if (config_.init == Init::fan_in) return 1.0F / std::sqrt(static_cast<float>(layer.inputs) + 1.0F);
    return config_.init_range;
  }

  void add_layer(const LayerLayout& layer) {
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

namespace {

std::string why_not_exact(const PosteriorConfig& c, const AgentSetup& setup) {
  if (c.last_layer.draws != HeadDraws::held) return "draws=per-decision";
  if (!c.last_layer.evidence || !c.last_layer.intercept) return "exact last layers without evidence or intercept";
  const Standardiser units(c.units, setup.context_size);
  const RewardModel model(c.model, units.size(), setup.actions);
  const int features = last_layer_settings(c.last_layer, model.network()).features,
            linear = c.last_layer.kind == LastLayerKind::mixture ? static_cast<int>(units.size()) + 1 : 0,
            widest = std::max(features, linear);
  if (widest > most_features || largest_tile(network_layout(c.model, model), widest) == 0) {
    return fmt::format("exact last layers with {} features, or on layers this wide (at most {} features)", widest,
                       most_features);
  }
  return {};
}

}  // namespace

std::string why_not_on_gpu(const PiTsConfig& config, const AgentSetup& setup) {
  const PosteriorConfig& c = config.posterior;
  const FlowKind kind = c.flow.kind;
  constexpr std::array on_gpu = {FlowKind::ensemble,     FlowKind::svgd, FlowKind::dgf,
                                 FlowKind::dgf_released, FlowKind::blob, FlowKind::gfsd};
  if (std::ranges::find(on_gpu, kind) == on_gpu.end()) {
    return fmt::format("flow={} has no GPU version", format_value(kind));
  }
  const DataPerturbation& p = c.perturbation;
  if (p.weights != BootstrapWeights::none || p.rewards || p.anchors)
    return "particles with data or priors of their own";
  if (c.particles > most_gpu_particles) return fmt::format("more than {} particles", most_gpu_particles);
  if (c.keep_units < 1.0) return "dropout";
  if (c.products != Products::float32) return "products in bf16";
  if (c.memory.discount < 1.0) return "discount below 1";
  if (c.model.heads > 1) return "several heads";
  if (c.optimizer.clip > 0.0) return "clip above 0";
  if (c.model.hidden.size() + 1 > most_layers) return fmt::format("more than {} hidden layers", most_layers - 1);
  const bool mixture = c.last_layer.kind == LastLayerKind::mixture;
  if (c.units == UnitsKind::robust && !mixture) return "units=robust without last_layer=mixture";
  if (config.exploration.cold_start == ColdStart::uniform && !mixture) {
    return "cold_start=uniform without last_layer=mixture";
  }
  if (mixture && c.batch == 0) return "last_layer=mixture with batch=0";
  return c.last_layer.kind == LastLayerKind::trained ? std::string{} : why_not_exact(c, setup);
}

Settings gpu_settings(const PiTsConfig& config, const AgentSetup& setup, std::size_t rounds, GpuPrecision precision) {
  const PosteriorConfig& c = config.posterior;
  const Standardiser units(c.units, setup.context_size);
  const RewardModel model(c.model, units.size(), setup.actions);
  Settings s;
  s.network = network_layout(c.model, model);
  if (s.network.stride > std::numeric_limits<int>::max()) {
    throw failed("a particle of {} numbers on the GPU, which takes at most {}", s.network.stride,
                 std::numeric_limits<int>::max());
  }
  Parameters parameters(c.model, s.network);
  s.parameters = std::move(parameters.list);
  s.draws_per_particle = parameters.draws;
  s.uniform_init = c.model.init == Init::uniform;
  s.particles = c.particles;
  s.raw_context_size = static_cast<int>(setup.context_size);
  s.context_size = static_cast<int>(units.size());
  s.actions = static_cast<int>(setup.actions);
  s.batch = c.batch;
  s.capacity = c.memory.capacity;
  s.likelihood = c.scale;
  s.noise_precision = 1.0F / (static_cast<float>(c.model.noise_sd) * static_cast<float>(c.model.noise_sd));
  s.noise_centre = static_cast<float>(std::log(c.model.noise_sd));
  s.noise_prior = static_cast<float>(1.0 / (c.model.noise_log_sd * c.model.noise_log_sd));
  s.flow = c.flow;
  if (c.particles == 1) s.flow.kind = FlowKind::ensemble;
  s.optimizer = c.optimizer;
  s.units = c.units;
  s.last_layer = last_layer_settings(c.last_layer, model.network());
  if (s.is_mixture()) {
    s.mixture = mixture_settings(c, model.network(), rounds);
  } else {
    s.trainings = trainings(config, rounds);
  }
  s.steps = steps(config, s.is_mixture() ? most_trainings(s.mixture, rounds) : s.trainings.size());
  s.cold_start = config.exploration.cold_start;
  s.initial_pulls = config.exploration.initial_pulls;
  s.train_steps = training_steps(config.posterior);
  s.floor = config.exploration.floor;
  s.floor_decay = config.exploration.floor_decay;
  s.seed = setup.seed;
  s.precision = precision;
  return s;
}

}  // namespace pits::cuda
