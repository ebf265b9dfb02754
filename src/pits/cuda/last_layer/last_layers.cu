#include "pits/cuda/last_layer/last_layers.cuh"

#include <algorithm>

#include "pits/cuda/last_layer/factoring.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 256;  // that find features
constexpr int decide_threads = 512;
constexpr int round_threads = 128;     // of one more observation
constexpr int remaining_together = 8;  // particles of a block

// Of rounds first .. first+count−1. Blocks (set, realization).
__global__ void __launch_bounds__(threads)
    features_kernel(const GroupView group, const LastLayersView layers, int first, int count) {
  extern __shared__ double memory[];
  const Block team;
  const int g = blockIdx.y, F = layers.settings.features;
  const std::int64_t set = static_cast<std::int64_t>(g) * layers.sets + blockIdx.x;
  const TileRounds o{.contexts = group.contexts + static_cast<std::size_t>(g) * group.rounds * group.context_stride,
                     .context_stride = group.context_stride,
                     .rewards_received = nullptr,
                     .listed = nullptr,
                     .first = first,
                     .count = count};
  const Tile tile(group.network, F, layers.tile, memory);
  const float* theta = group.theta + set * layers.in_set() * group.network.stride;
  feature_rows(team, layers.settings, group.network, theta, o, tile);
  float* out = layers.features_of(set, 0);
  for (int e = team.thread; e < count * F; e += team.threads) {
    out[e] = static_cast<float>(tile.rows[e / F * row_stride(F) + e % F]);
  }
}

// What every set thinks of every action, where that counts: a warp takes one of each at a time.
__device__ void find_set_means(const Block& team, const GroupView& group, const LastLayersView& layers, int g,
                               int ahead) {
  const int K = group.actions;
  if (layers.settings.config.mean_shrinkage == 1.0) return;
  for (int e = team.warp; e < layers.sets * K; e += team.warps) {
    const std::int64_t set = static_cast<std::int64_t>(g) * layers.sets + e / K;
    const double mean = bounded_mean(team, layers.settings, group.reward_units[g],
                                     layers.regression(set * layers.in_set(), e % K), layers.features_of(set, ahead));
    if (team.lane == 0) layers.set_means[set * K + e % K] = mean;
  }
  team.sync();
}

// m̄ of an action: the mean over a realization's particles, which is that over its sets; each warp by itself.
__device__ double agreed_mean(const Block& team, const LastLayersView& layers, int g, int a) {
  if (layers.settings.config.mean_shrinkage == 1.0) return 0.0;
  const double* of_set = layers.set_means + static_cast<std::int64_t>(g) * layers.sets * layers.actions + a;
  double sum = 0.0;
  for (int s = team.lane; s < layers.sets; s += team.lanes)
    sum += of_set[static_cast<std::int64_t>(s) * layers.actions];
  return team.lane_sum(sum) / layers.sets;
}

// Round t, number `ahead` of those whose features are known. Blocks (realization); shared memory: values (K).
__global__ void __launch_bounds__(decide_threads)
    decide_kernel(const GroupView group, const LastLayersView layers, const DecisionSettings choice, int t, int ahead) {
  extern __shared__ double values[];
  const Block team;
  const int g = blockIdx.x, K = group.actions;
  const Beginning begun = begin_decision(group, choice, g, t);
  int action = begun.action;
  if (action < 0) {
    find_set_means(team, group, layers, g, ahead);
    const std::int64_t particle = static_cast<std::int64_t>(g) * group.particles + begun.particle;
    const float* features = layers.features_of(layers.set_of(particle), ahead);
    const double shared = noise_variance(team, layers.settings, layers.regression(particle, 0).totals, K);
    for (int a = team.warp; a < K; a += team.warps) {
      const double value = action_value(team, layers.settings, group.reward_units[g], layers.regression(particle, a),
                                        features, agreed_mean(team, layers, g, a), shared);
      if (team.lane == 0) values[a] = value;
    }
    team.sync();
    action = 0;
    for (int a = 1; a < K; ++a) action = values[a] > values[action] ? a : action;
  }
  if (team.thread == 0) take_reward(group, g, static_cast<std::size_t>(g) * group.rounds + t, action);
}

// Of a set, and of the first particle in it. Blocks (set, realization).
__global__ void __launch_bounds__(round_threads)
    observe_kernel(const GroupView group, const LastLayersView layers, int t, int ahead) {
  extern __shared__ double memory[];
  const Block team;
  const int g = blockIdx.y, F = layers.settings.features;
  const std::int64_t set = static_cast<std::int64_t>(g) * layers.sets + blockIdx.x;
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + t;
  const float* features = layers.features_of(set, ahead);
  for (int f = team.thread; f < F; f += team.threads) memory[f] = features[f];
  team.sync();
  observe(team, F, layers.regression(set * layers.in_set(), group.actions_taken[round]), memory,
          group.rewards_received[round], memory + F);
}

// The others of a set that a realization's particles share. Blocks (particles, realization).
__global__ void __launch_bounds__(round_threads)
    remaining_particles_kernel(const GroupView group, const LastLayersView layers, int t) {
  const int g = blockIdx.y, from = 1 + static_cast<int>(blockIdx.x) * remaining_together;
  const int action = group.actions_taken[static_cast<std::size_t>(g) * group.rounds + t];
  const std::int64_t first = static_cast<std::int64_t>(g) * group.particles;
  layers.deviate_remaining(Block(), first + from, min(remaining_together, group.particles - from), action,
                           layers.regression(first, action).inverse);
}

// σ² of the particles in the rewards' own units. Blocks (particle of a realization), a warp each.
__global__ void noise_kernel(const GroupView group, const LastLayersView layers, double* out) {
  const Block team;
  const RegressionTotals* totals = layers.regression(blockIdx.x, 0).totals;
  const double variance = noise_variance(team, layers.settings, totals, layers.actions);
  if (team.thread == 0) out[blockIdx.x] = in_raw_units(variance, group.reward_units[blockIdx.x / group.particles]);
}

// 1/σ² of the networks' likelihoods, in the units of now.
__global__ void training_noise_kernel(const GroupView group, const double* variances, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= group.realizations * group.particles) return;
  out[i] = training_precision(group.noise_precision, variances[i], group.reward_units[i / group.particles]);
}

struct Counts {
  std::size_t sets, regressions, of_sets, of_particles, triangles, scratch, features;
};

Counts counts(const Settings& s, std::size_t G) {
  const int F = s.last_layer.features;
  const std::size_t sets = G * static_cast<std::size_t>(s.sets()),
                    particles = G * static_cast<std::size_t>(s.particles);
  const auto K = static_cast<std::size_t>(s.actions), width = static_cast<std::size_t>(F);
  const std::size_t regressions = sets * K;
  return {.sets = sets,
          .regressions = regressions,
          .of_sets = regressions * width,
          .of_particles = particles * K * width,
          .triangles = regressions * static_cast<std::size_t>(packed_size(F)),
          .scratch = factor_scratch(F, regressions),
          .features = sets * static_cast<std::size_t>(largest_tile(s.network, F)) * width};
}

}  // namespace

std::size_t GpuLastLayers::bytes(const Settings& s, std::size_t G, std::size_t T) {
  const Counts c = counts(s, G);
  const auto M = static_cast<std::size_t>(s.particles), K = static_cast<std::size_t>(s.actions);
  return sizeof(double) * (c.triangles + 2 * c.of_sets + 2 * c.of_particles + c.scratch + c.sets * most_prior_groups) +
         c.regressions * (sizeof(double) + sizeof(RegressionTotals) + sizeof(EvidenceTerms)) +
         sizeof(std::int32_t) * (G * T + G * (K + 2)) + sizeof(float) * (c.features + G * M) + sizeof(double) * G * M;
}

GpuLastLayers::GpuLastLayers(const Settings& s, int realizations, int rounds) {
  const auto G = static_cast<std::size_t>(realizations), M = static_cast<std::size_t>(s.particles);
  const Counts c = counts(s, G);
  inverse_ = DeviceArray<double>(c.triangles);
  for (DeviceArray<double>* of : {&moment_, &mean_}) *of = DeviceArray<double>(c.of_sets);
  for (DeviceArray<double>* of : {&draw_, &deviation_}) *of = DeviceArray<double>(c.of_particles);
  sets_ = c.sets;
  scratch_ = DeviceArray<double>(c.scratch);
  totals_ = DeviceArray<RegressionTotals>(c.regressions);
  evidence_terms_ = DeviceArray<EvidenceTerms>(c.regressions);
  set_means_ = DeviceArray<double>(c.regressions);
  order_ = DeviceArray<std::int32_t>(G * static_cast<std::size_t>(rounds));
  start_ = DeviceArray<std::int32_t>(G * (static_cast<std::size_t>(s.actions) + 1));
  singular_ = DeviceArray<std::int32_t>(G);
  features_ = DeviceArray<float>(c.features);
  noise_precisions_ = DeviceArray<float>(std::vector<float>(G * M, s.noise_precision));
  noise_variances_ = DeviceArray<double>(G * M);
  std::vector<double> precision;
  for (std::size_t i = 0; i < sets_; ++i) {
    for (int g = 0; g < s.last_layer.groups; ++g) precision.push_back(s.last_layer.group[g].precision);
  }
  precision_ = DeviceArray<double>(precision);
  inverse_.fill_zero();
  moment_.fill_zero();
  totals_.fill_zero();
  singular_.fill_zero();
  view_ = {.settings = s.last_layer,
           .actions = s.actions,
           .particles = s.particles,
           .sets = s.sets(),
           .tile = largest_tile(s.network, s.last_layer.features),
           .inverse = inverse_.data(),
           .moment = moment_.data(),
           .mean = mean_.data(),
           .draw = draw_.data(),
           .deviation = deviation_.data(),
           .totals = totals_.data(),
           .evidence_terms = evidence_terms_.data(),
           .precision = precision_.data(),
           .set_means = set_means_.data(),
           .order = order_.data(),
           .start = start_.data(),
           .features = features_.data(),
           .singular = singular_.data(),
           .scratch = scratch_.data()};
}

void GpuLastLayers::start(const GroupView& group, cudaStream_t stream) { fit_sums(group, view_, fits_, stream); }

void GpuLastLayers::find_noise(const GroupView& group, cudaStream_t stream) {
  if (!view_.settings.config.train_noise || fits_ == 0) return;
  const auto particles = static_cast<unsigned>(group.realizations * group.particles);
  noise_kernel<<<particles, 32, 0, stream>>>(group, view_, noise_variances_.data());
  check(cudaGetLastError(), "last layers: noise");
}

void GpuLastLayers::use_noise(const GroupView& group, cudaStream_t stream) {
  if (!view_.settings.config.train_noise || fits_ == 0) return;
  training_noise_kernel<<<blocks_for(noise_precisions_.size(), threads), threads, 0, stream>>>(
      group, noise_variances_.data(), noise_precisions_.data());
  check(cudaGetLastError(), "last layers: noise in units");
}

void GpuLastLayers::fit(const GroupView& group, cudaStream_t stream) {
  sum_history(group, view_, stream);
  step_evidence(group, view_, stream);
  fit_sums(group, view_, ++fits_, stream);
}

void GpuLastLayers::take_features(const GroupView& group, int first, int last, cudaStream_t stream) {
  const std::size_t bytes = tile_bytes(group.network, view_.settings.features, view_.tile);
  allow_shared(features_kernel, bytes);
  const dim3 grid(static_cast<unsigned>(view_.sets), static_cast<unsigned>(group.realizations));
  features_kernel<<<grid, threads, bytes, stream>>>(group, view_, first, std::min(last - first, view_.tile));
  check(cudaGetLastError(), "last layers: features");
}

void GpuLastLayers::observe_round(const GroupView& group, int t, int ahead, cudaStream_t stream) {
  const std::size_t bytes = (4 * static_cast<std::size_t>(view_.settings.features) + 1) * sizeof(double);
  const auto G = static_cast<unsigned>(group.realizations);
  allow_shared(observe_kernel, bytes);
  observe_kernel<<<dim3(static_cast<unsigned>(view_.sets), G), round_threads, bytes, stream>>>(group, view_, t, ahead);
  check(cudaGetLastError(), "last layers: observe");
  if (view_.in_set() == 1) return;
  const unsigned blocks = blocks_for(static_cast<std::size_t>(view_.in_set() - 1), remaining_together);
  remaining_particles_kernel<<<dim3(blocks, G), round_threads, 0, stream>>>(group, view_, t);
  check(cudaGetLastError(), "last layers: draws");
}

void GpuLastLayers::play(const GroupView& group, const DecisionSettings& choice, int first, int last, bool fit_follows,
                         cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(group.actions) * sizeof(double);
  allow_shared(decide_kernel, bytes);
  for (int t = first; t < last; ++t) {
    const int ahead = (t - first) % view_.tile;
    if (ahead == 0) take_features(group, t, last, stream);
    decide_kernel<<<static_cast<unsigned>(group.realizations), decide_threads, bytes, stream>>>(group, view_, choice, t,
                                                                                                ahead);
    check(cudaGetLastError(), "last layers: decide");
    if (t + 1 < last || !fit_follows) observe_round(group, t, ahead, stream);
  }
}

void GpuLastLayers::observe(const GroupView& group, int first, int last, cudaStream_t stream) {
  for (int t = first; t < last; ++t) {
    const int ahead = (t - first) % view_.tile;
    if (ahead == 0) take_features(group, t, last, stream);
    observe_round(group, t, ahead, stream);
  }
}

}  // namespace pits::cuda
