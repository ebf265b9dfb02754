#include "pits/cuda/last_layers.cuh"

#include <algorithm>

namespace pits::cuda {
namespace {

constexpr int threads = 256;        // that find features
constexpr int round_threads = 128;  // of a decision, or of one more observation

// Of rounds first .. first+count−1. Blocks (particle, realization).
__global__ void __launch_bounds__(threads)
    features_kernel(const Group group, const LastLayers layers, int first, int count) {
  extern __shared__ double memory[];
  const Block team;
  const int g = blockIdx.y, F = layers.settings.features;
  const std::int64_t particle = static_cast<std::int64_t>(g) * group.particles + blockIdx.x;
  const TileRounds o{.contexts = group.contexts + static_cast<std::size_t>(g) * group.rounds * group.context_stride,
                     .context_stride = group.context_stride,
                     .gained = nullptr,
                     .listed = nullptr,
                     .first = first,
                     .count = count};
  const Tile tile(group.network, F, layers.tile, memory);
  feature_rows(team, layers.settings, group.network, group.theta + particle * group.network.stride, o, tile);
  float* out = layers.features + particle * layers.tile * F;
  for (int e = team.thread; e < count * F; e += team.threads) {
    out[e] = static_cast<float>(tile.rows[e / F * row_stride(F) + e % F]);
  }
}

// m̄ of an action: the mean over a realization's particles; each warp by itself.
__device__ double agreed_mean(const Block& team, const Group& group, const LastLayers& layers, int g, int a,
                              int ahead) {
  const int K = group.actions, M = group.particles, F = layers.settings.features;
  if (layers.settings.disagreement == 1.0) return 0.0;
  double sum = 0.0;
  for (int i = 0; i < M; ++i) {
    const std::int64_t particle = static_cast<std::int64_t>(g) * M + i;
    sum += bounded_mean(team, layers.settings, group.reward_units[g], layers.regression(particle * K + a),
                        layers.features + (particle * layers.tile + ahead) * F);
  }
  return sum / M;
}

// Round t, number `ahead` of those whose features are known. Blocks (realization); shared memory: values (K).
__global__ void __launch_bounds__(round_threads)
    decide_kernel(const Group group, const LastLayers layers, const Choice choice, int t, int ahead) {
  extern __shared__ double values[];
  const Block team;
  const int g = blockIdx.x, K = group.actions, F = layers.settings.features;
  const Beginning begun = begin_decision(group, choice, g, t);
  int action = begun.action;
  if (action < 0) {
    const std::int64_t particle = static_cast<std::int64_t>(g) * group.particles + begun.particle;
    const float* features = layers.features + (particle * layers.tile + ahead) * F;
    const double shared = noise_variance(team, layers.settings, layers.totals + particle * K, K);
    for (int a = team.warp; a < K; a += team.warps) {
      const double agreed = agreed_mean(team, group, layers, g, a, ahead);
      const double value = action_value(team, layers.settings, group.reward_units[g],
                                        layers.regression(particle * K + a), features, agreed, shared);
      if (team.lane == 0) values[a] = value;
    }
    team.sync();
    action = 0;
    for (int a = 1; a < K; ++a) action = values[a] > values[action] ? a : action;
  }
  if (team.thread == 0) take_reward(group, g, static_cast<std::size_t>(g) * group.rounds + t, action);
}

// Blocks (particle, realization).
__global__ void __launch_bounds__(round_threads)
    observe_kernel(const Group group, const LastLayers layers, int t, int ahead) {
  extern __shared__ double memory[];
  const Block team;
  const int g = blockIdx.y, F = layers.settings.features;
  const std::int64_t particle = static_cast<std::int64_t>(g) * group.particles + blockIdx.x;
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + t;
  const float* features = layers.features + (particle * layers.tile + ahead) * F;
  for (int f = team.thread; f < F; f += team.threads) memory[f] = features[f];
  team.sync();
  observe(team, F, layers.regression(particle * group.actions + group.played[round]), memory, group.gained[round],
          memory + F);
}

// 1/σ² of the networks' likelihoods. Blocks (particle of a realization), a warp each.
__global__ void noise_kernel(const LastLayers layers, float own, float* out) {
  const Block team;
  const RegressionTotals* totals = layers.totals + static_cast<std::int64_t>(blockIdx.x) * layers.actions;
  const double variance = noise_variance(team, layers.settings, totals, layers.actions);
  if (team.thread == 0) out[blockIdx.x] = fminf(own, static_cast<float>(1.0 / variance));
}

struct Counts {
  std::size_t regressions, vectors, triangles, scratch, features;
};

Counts counts(const Settings& s, std::size_t G) {
  const int F = s.last_layer.features;
  const std::size_t particles = G * static_cast<std::size_t>(s.particles);
  const std::size_t regressions = particles * static_cast<std::size_t>(s.actions);
  const auto triangle = static_cast<std::size_t>(packed_size(F));
  return {.regressions = regressions,
          .vectors = regressions * static_cast<std::size_t>(F),
          .triangles = regressions * triangle,
          .scratch = factor_scratch(F, regressions),
          .features = particles * static_cast<std::size_t>(largest_tile(s.network, s.last_layer.features)) *
                      static_cast<std::size_t>(F)};
}

}  // namespace

std::size_t CardLastLayers::bytes(const Settings& s, std::size_t G, std::size_t T) {
  const Counts c = counts(s, G);
  const auto M = static_cast<std::size_t>(s.particles), K = static_cast<std::size_t>(s.actions);
  return sizeof(double) * (c.triangles + 4 * c.vectors + c.scratch + G * M * most_prior_groups) +
         c.regressions * (sizeof(RegressionTotals) + sizeof(Determined)) +
         sizeof(std::int32_t) * (G * T + G * (K + 2)) + sizeof(float) * (c.features + G * M);
}

CardLastLayers::CardLastLayers(const Settings& s, int realizations, int rounds) {
  const auto G = static_cast<std::size_t>(realizations), M = static_cast<std::size_t>(s.particles);
  const Counts c = counts(s, G);
  inverse_ = DeviceArray<double>(c.triangles);
  for (DeviceArray<double>* of : {&moment_, &mean_, &draw_, &deviation_}) *of = DeviceArray<double>(c.vectors);
  scratch_ = DeviceArray<double>(c.scratch);
  totals_ = DeviceArray<RegressionTotals>(c.regressions);
  determined_ = DeviceArray<Determined>(c.regressions);
  order_ = DeviceArray<std::int32_t>(G * static_cast<std::size_t>(rounds));
  start_ = DeviceArray<std::int32_t>(G * (static_cast<std::size_t>(s.actions) + 1));
  singular_ = DeviceArray<std::int32_t>(G);
  features_ = DeviceArray<float>(c.features);
  noise_precisions_ = DeviceArray<float>(std::vector<float>(G * M, s.noise_precision));
  std::vector<double> precision;
  for (std::size_t i = 0; i < G * M; ++i) {
    for (int g = 0; g < s.last_layer.groups; ++g) precision.push_back(s.last_layer.group[g].start);
  }
  precision_ = DeviceArray<double>(precision);
  inverse_.fill_zero();
  moment_.fill_zero();
  totals_.fill_zero();
  singular_.fill_zero();
  view_ = {.settings = s.last_layer,
           .actions = s.actions,
           .tile = largest_tile(s.network, s.last_layer.features),
           .inverse = inverse_.data(),
           .moment = moment_.data(),
           .mean = mean_.data(),
           .draw = draw_.data(),
           .deviation = deviation_.data(),
           .totals = totals_.data(),
           .determined = determined_.data(),
           .precision = precision_.data(),
           .order = order_.data(),
           .start = start_.data(),
           .features = features_.data(),
           .singular = singular_.data(),
           .scratch = scratch_.data()};
}

void CardLastLayers::start(const Group& group, cudaStream_t stream) { fit_sums(group, view_, fits_, stream); }

void CardLastLayers::find_noise(const Group& group, cudaStream_t stream) {
  if (!view_.settings.train_noise) return;
  const auto particles = static_cast<unsigned>(group.realizations * group.particles);
  noise_kernel<<<particles, 32, 0, stream>>>(view_, group.noise_precision, noise_precisions_.data());
  check(cudaGetLastError(), "last layers: noise");
}

void CardLastLayers::fit(const Group& group, int seen, cudaStream_t stream) {
  sum_history(group, view_, seen, stream);
  step_evidence(group, view_, stream);
  fit_sums(group, view_, ++fits_, stream);
}

void CardLastLayers::take_features(const Group& group, int first, int last, cudaStream_t stream) {
  const std::size_t bytes = tile_bytes(group.network, view_.settings.features, view_.tile);
  allow_shared(features_kernel, bytes);
  const dim3 grid(static_cast<unsigned>(group.particles), static_cast<unsigned>(group.realizations));
  features_kernel<<<grid, threads, bytes, stream>>>(group, view_, first, std::min(last - first, view_.tile));
  check(cudaGetLastError(), "last layers: features");
}

void CardLastLayers::observe_round(const Group& group, int t, int ahead, cudaStream_t stream) {
  const std::size_t bytes = (4 * static_cast<std::size_t>(view_.settings.features) + 1) * sizeof(double);
  const dim3 grid(static_cast<unsigned>(group.particles), static_cast<unsigned>(group.realizations));
  allow_shared(observe_kernel, bytes);
  observe_kernel<<<grid, round_threads, bytes, stream>>>(group, view_, t, ahead);
  check(cudaGetLastError(), "last layers: observe");
}

void CardLastLayers::play(const Group& group, const Choice& choice, int first, int last, bool fit_follows,
                          cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(group.actions) * sizeof(double);
  allow_shared(decide_kernel, bytes);
  for (int t = first; t < last; ++t) {
    const int ahead = (t - first) % view_.tile;
    if (ahead == 0) take_features(group, t, last, stream);
    decide_kernel<<<static_cast<unsigned>(group.realizations), round_threads, bytes, stream>>>(group, view_, choice, t,
                                                                                               ahead);
    check(cudaGetLastError(), "last layers: decide");
    if (t + 1 < last || !fit_follows) observe_round(group, t, ahead, stream);
  }
}

void CardLastLayers::observe(const Group& group, int first, int last, cudaStream_t stream) {
  for (int t = first; t < last; ++t) {
    const int ahead = (t - first) % view_.tile;
    if (ahead == 0) take_features(group, t, last, stream);
    observe_round(group, t, ahead, stream);
  }
}

}  // namespace pits::cuda
