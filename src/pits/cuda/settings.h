// A particle agent in words that nvcc can compile: the numbers of a PiTsConfig, and how its particles lie on the card.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef __CUDACC__
#define PITS_CARD_CALL __host__ __device__
#else
#define PITS_CARD_CALL
#endif

namespace pits::cuda {

constexpr int most_layers = 8;
constexpr int most_particles = 46340;  // whose pairs an int can number
constexpr int context_slack = 448;     // floats after the last context that kernels may read and ignore
PITS_CARD_CALL constexpr int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// Row o of a layer holds the weights of output o, then its bias, then zeros up to `stride`, a multiple of four: an
// input that is always 1 makes the bias one more weight, and every row starts where 16 bytes can be loaded at once.
// Rows of zeros follow up to `rows`, a multiple of four: products of such sizes are the fast ones.
struct CardLayer {
  int inputs;
  int outputs;
  int stride;
  int rows;
  std::int64_t offset;    // of row 0 in a particle
  float prior_precision;  // of its weights and biases
};

// The parameters of a particle on the card: layer after layer, then log σ where the noise is learned.
struct CardNetwork {
  int layers = 0;
  CardLayer layer[most_layers]{};
  int noise_parameters = 0;  // 0, 1 or K
  std::int64_t noise_offset = 0;
  std::int64_t stride = 0;  // floats of a particle, a multiple of four; what is no parameter is 0 and stays so
  bool tanh = false;        // else ReLU
  bool bernoulli = false;   // else Gaussian
};

// Where a parameter of the CPU's order lies on the card, and how it begins: centre + scale · draw number `rank` of the
// particle; no draw where rank is negative.
struct CardParameter {
  std::int64_t at;
  std::int64_t rank;
  double centre;
  double scale;
};

enum class CardScaleRule { median, median_off_diagonal, fixed };
struct CardScale {
  CardScaleRule rule = CardScaleRule::median;
  double value = 0.0;
};

enum class CardFlow { independent, svgd, blob, gfsd, dgf, dgf_released };
enum class CardRule { sgd, adagrad, rmsprop, adam, sign };
enum class CardLikelihood { data, minibatch, mean };

// float32: products of tensor cores are split in three, so that they are those of float32. tf32: one product, with 10
// bits of mantissa.
enum class CardPrecision { float32, tf32 };

struct FlowSettings {
  CardFlow kind = CardFlow::independent;
  CardScale bandwidth{}, lambda{};
  bool own_score = false;
  bool blob_drive = false;
  double entropy = 1.0;
  double gamma = 1.0;
  int inner_steps = 1;

  PITS_CARD_CALL bool pairs() const { return kind != CardFlow::independent; }
  PITS_CARD_CALL bool transports() const { return kind == CardFlow::dgf || kind == CardFlow::dgf_released; }
};

struct RuleSettings {
  CardRule rule = CardRule::sgd;
  float momentum = 0.0F, second_moment = 0.0F, epsilon = 0.0F, first_square = 0.0F;
};

// The step sizes of training step k.
struct StepSize {
  float eta;              // Adam: with the correction of its mean
  float root_correction;  // Adam's
};

// Consecutive features whose coefficients share a prior precision, as CoefficientGroup of posterior/evidence.h.
struct PriorGroup {
  int first, count;
  double start, expected, weight, low, high;
};
constexpr int most_prior_groups = 3;
constexpr int most_features = 2048;  // of exact last layers

// Exact last layers (posterior/last_layers.h).
struct LastLayerSettings {
  int features = 0;  // F: units, the context where it is a feature, 1; 0: the last layer is trained
  int units = 0;     // of the last hidden layer; linear: the context
  bool inputs = false;
  int groups = 0;
  PriorGroup group[most_prior_groups]{};
  double exploration = 0.0, disagreement = 1.0, noise_shape = 1.0, noise_scale = 1.0;
  double margin = 0.0, doubt = 0.0, most_doubt = 0.0, doubt_weight = 0.0, own_weight = 0.0;
  bool optimistic = false;
  bool train_noise = false;

  PITS_CARD_CALL bool exact() const { return features > 0; }
};

struct Settings {
  CardNetwork network{};
  std::vector<CardParameter> parameters{};  // (P), in the CPU's order
  std::int64_t draws_per_particle = 0;
  bool uniform_init = false;

  int particles = 0;     // M
  int context_size = 0;  // d
  int actions = 0;       // K
  int batch = 0;         // B; 0: all observations kept
  int capacity = 0;      // observations kept; 0: all
  CardLikelihood likelihood = CardLikelihood::data;
  float noise_precision = 1.0F;  // 1/σ² where it is fixed
  float noise_centre = 0.0F;     // of log σ, with its prior's precision
  float noise_prior = 0.0F;
  FlowSettings flow{};
  RuleSettings rule{};
  std::vector<StepSize> step_sizes{};  // of every training step to come

  bool standardised = false;  // contexts and rewards, by what has arrived so far
  LastLayerSettings last_layer{};

  int initial_pulls = 0;
  std::vector<std::uint32_t> trainings{};  // the rounds after which a training is due
  int train_steps = 1;
  double floor = 0.0;
  double floor_decay = 0.0;
  std::uint64_t seed = 0;
  CardPrecision precision = CardPrecision::tf32;

  bool trains() const { return train_steps > 0; }
  // S, sets of regressions of a realization: particles of a linear model have the same features, and so share one.
  int sets() const { return network.layers == 1 ? 1 : particles; }
  int context_stride() const { return round_up(context_size + 1, 16); }  // floats of a context on the card
  // Of the contexts of G realizations of T rounds.
  std::size_t context_floats(std::size_t G, std::size_t T) const {
    return G * T * static_cast<std::size_t>(context_stride()) + context_slack;
  }
};

}  // namespace pits::cuda
