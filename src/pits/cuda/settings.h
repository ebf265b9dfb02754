// A particle agent as nvcc can compile it: the settings of a PiTsConfig, and the memory layout of its particles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pits/agent/cold_start.h"
#include "pits/core/host_device.h"
#include "pits/flow/flow_config.h"
#include "pits/flow/optimizer_config.h"
#include "pits/posterior/last_layer_config.h"
#include "pits/posterior/likelihood_scale.h"
#include "pits/posterior/standardise.h"

namespace pits::cuda {

constexpr int most_layers = 8;
constexpr int most_gpu_particles = 46340;  // whose pairs an int can number
constexpr int context_slack = 448;         // floats after the last context that kernels may read and ignore
PITS_HOST_DEVICE constexpr int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// Row o of a layer holds the weights of output o, then its bias, then zeros up to `stride`, a multiple of four: an
// input that is always 1 makes the bias one more weight, and every row starts where 16 bytes can be loaded at once.
// Rows of zeros follow up to `rows`, a multiple of four: products of such sizes are the fast ones.
struct LayerLayout {
  int inputs;
  int outputs;
  int stride;
  int rows;
  std::int64_t offset;    // of row 0 in a particle
  float prior_precision;  // of its weights and biases
};

// The parameters of a particle on the GPU: layer after layer, then log σ where the noise is learned.
struct NetworkLayout {
  int layers = 0;
  LayerLayout layer[most_layers]{};
  int noise_parameters = 0;  // 0, 1 or K
  std::int64_t noise_offset = 0;
  std::int64_t stride = 0;  // floats of a particle, a multiple of four; what is no parameter is 0 and stays so
  bool tanh = false;        // else ReLU
  bool bernoulli = false;   // else Gaussian
};

// Where a parameter of the CPU's order lies on the GPU, and how it begins: centre + scale · draw number `rank` of the
// particle; no draw where rank is negative.
struct ParameterLayout {
  std::int64_t at;
  std::int64_t rank;
  double centre;
  double scale;
};

// float32: products of tensor cores are split in three, so that they are those of float32. tf32: one product, with 10
// bits of mantissa.
enum class GpuPrecision { float32, tf32 };

// Whether particles act on each other, and whether those of the earlier cloud act on them.
PITS_HOST_DEVICE inline bool has_pairs(const FlowConfig& f) { return f.kind != FlowKind::ensemble; }
PITS_HOST_DEVICE inline bool has_transport(const FlowConfig& f) {
  return f.kind == FlowKind::dgf || f.kind == FlowKind::dgf_released;
}

constexpr int most_prior_groups = 3;
constexpr int most_features = 2048;  // of exact last layers

// Exact last layers (posterior/last_layers.h).
struct LastLayerSettings {
  LastLayerConfig config{};
  int features = 0;  // F: units, the context where it is a feature, 1; 0: the last layer is trained
  int units = 0;     // of the last hidden layer; linear: the context
  bool inputs = false;
  int groups = 0;
  CoefficientGroup group[most_prior_groups]{};

  PITS_HOST_DEVICE bool exact() const { return features > 0; }
};

// What a mixture has beside last layers of the networks (posterior/mixture.h).
struct MixtureSettings {
  LastLayerSettings linear{};              // features: the context, 1
  bool adaptive = false;                   // forgets where the world has changed
  std::vector<std::uint32_t> intervals{};  // (T+1) rounds to the next training, after a training on t observations
};

struct Settings {
  NetworkLayout network{};
  std::vector<ParameterLayout> parameters{};  // (P), in the CPU's order
  std::int64_t draws_per_particle = 0;
  bool uniform_init = false;

  int particles = 0;         // M
  int raw_context_size = 0;  // d
  int context_size = 0;      // in units: d, and level columns
  int actions = 0;           // K
  int batch = 0;             // B; 0: all observations kept
  int capacity = 0;          // observations kept; 0: all
  LikelihoodScale likelihood = LikelihoodScale::data;
  float noise_precision = 1.0F;  // 1/σ² where it is fixed
  float noise_centre = 0.0F;     // of log σ, with its prior's precision
  float noise_prior = 0.0F;
  FlowConfig flow{};  // of kind ensemble where a particle is alone
  OptimizerConfig optimizer{};
  std::vector<StepFactors<float>> steps{};  // of every training step to come

  UnitsKind units = UnitsKind::raw;  // of contexts and rewards
  LastLayerSettings last_layer{};
  MixtureSettings mixture{};

  int initial_pulls = 0;
  ColdStart cold_start = ColdStart::round_robin;
  std::vector<std::uint32_t> trainings{};  // the rounds after which a training is due; a mixture decides that itself
  int train_steps = 1;
  double floor = 0.0;
  double floor_decay = 0.0;
  std::uint64_t seed = 0;
  GpuPrecision precision = GpuPrecision::tf32;

  bool trains() const { return train_steps > 0; }
  bool is_mixture() const { return last_layer.config.kind == LastLayerKind::mixture; }
  bool has_exact_layers() const { return last_layer.exact() && !is_mixture(); }
  int level_columns() const { return context_size - raw_context_size; }
  // S, sets of regressions of a realization: particles of a linear model have the same features, and so share one.
  int sets() const { return network.layers == 1 ? 1 : particles; }
  int context_stride() const { return round_up(context_size + 1, 16); }  // floats of a context on the GPU
  // Of the contexts of G realizations of T rounds.
  std::size_t context_floats(std::size_t G, std::size_t T) const {
    return G * T * static_cast<std::size_t>(context_stride()) + context_slack;
  }
};

}  // namespace pits::cuda
