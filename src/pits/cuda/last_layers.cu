#include "pits/cuda/last_layers.cuh"

#include <algorithm>

namespace pits::cuda {
namespace {

constexpr int threads = 256;          // that sum and factor
constexpr int round_threads = 128;    // of a decision, or of one more observation
constexpr std::size_t workers = 528;  // blocks that factor in scratch memory
constexpr int work_vectors = 5;       // (F) of a block that factors

std::size_t work_bytes(int F) { return work_vectors * static_cast<std::size_t>(F) * sizeof(double); }
std::size_t triangle_bytes(int F) { return static_cast<std::size_t>(packed_size(F)) * sizeof(double); }
bool factors_in_shared(int F) { return work_bytes(F) + triangle_bytes(F) <= shared_limit; }
std::size_t factor_bytes(int F) { return work_bytes(F) + (factors_in_shared(F) ? triangle_bytes(F) : 0); }

template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "last layers: shared memory");
}

// The rounds first .. last−1 action by action, in order. Blocks (action, realization).
__global__ void __launch_bounds__(threads)
    order_kernel(const Group group, const LastLayers layers, int first, int last) {
  __shared__ int smaller, of_warp[threads / 32];
  const int a = blockIdx.x, g = blockIdx.y, thread = threadIdx.x, K = group.actions;
  const std::int32_t* played = group.played + static_cast<std::size_t>(g) * group.rounds;
  std::int32_t* order = layers.order + static_cast<std::size_t>(g) * group.rounds;
  if (thread == 0) smaller = 0;
  __syncthreads();
  int mine = 0;
  for (int t = first + thread; t < last; t += threads) mine += played[t] < a ? 1 : 0;
  atomicAdd(&smaller, mine);
  __syncthreads();
  int next = smaller;
  for (int from = first; from < last; from += threads) {
    const int t = from + thread;
    const bool here = t < last && played[t] == a;
    const unsigned ballot = __ballot_sync(0xFFFFFFFFU, here);
    if (thread % 32 == 0) of_warp[thread / 32] = __popc(ballot);
    __syncthreads();
    int before = __popc(ballot & ((1U << thread % 32) - 1)), total = 0;
    for (int w = 0; w < threads / 32; ++w) {
      before += w < thread / 32 ? of_warp[w] : 0;
      total += of_warp[w];
    }
    if (here) order[next + before] = t;
    next += total;
    __syncthreads();
  }
  std::int32_t* start = layers.start + static_cast<std::size_t>(g) * (K + 1);
  if (thread == 0) start[a] = smaller;
  if (thread == 0 && a == K - 1) start[K] = last - first;
}

// Blocks (action, particle, realization).
__global__ void __launch_bounds__(threads, 2) sums_kernel(const Group group, const LastLayers layers) {
  extern __shared__ double memory[];
  const int a = blockIdx.x, g = blockIdx.z, K = group.actions;
  const std::int64_t particle = static_cast<std::int64_t>(g) * group.particles + blockIdx.y;
  const std::size_t rounds = static_cast<std::size_t>(g) * group.rounds;
  const std::int32_t* start = layers.start + static_cast<std::size_t>(g) * (K + 1);
  const TileRounds all{.contexts = group.contexts + rounds * group.context_stride,
                       .context_stride = group.context_stride,
                       .gained = group.gained + rounds,
                       .listed = layers.order + rounds,
                       .first = start[a],
                       .count = start[a + 1] - start[a]};
  const Tile tile(group.network, layers.settings.features, layers.tile, memory);
  sum_up(Block(), layers.settings, group.network, group.theta + particle * group.network.stride, all, tile,
         layers.regression(particle * K + a));
}

// One block a regression, or a worker for many of them.
__global__ void __launch_bounds__(threads)
    evidence_kernel(const LastLayers layers, std::int64_t regressions, int per_realization) {
  extern __shared__ double memory[];
  const Block team;
  const int F = layers.settings.features, K = layers.actions;
  double* work = memory;
  double* place = layers.scratch == nullptr ? memory + work_vectors * F
                                            : layers.scratch + static_cast<std::int64_t>(blockIdx.x) * packed_size(F);
  for (std::int64_t r = blockIdx.x; r < regressions; r += gridDim.x) {
    const Regression regression = layers.regression(r);
    if (regression.totals->n == 0.0) {
      if (team.thread == 0) layers.determined[r] = {};
      continue;
    }
    const double* precision = layers.precision + r / K * layers.settings.groups;
    const bool usable = determine(team, layers.settings, regression, precision, place, work, layers.determined[r]);
    if (!usable && team.thread == 0) layers.singular[r / per_realization] = 1;
  }
}

__global__ void precision_kernel(const LastLayers layers, std::int64_t particles) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= particles) return;
  step_precisions(layers.settings, layers.determined + i * layers.actions, layers.actions,
                  layers.precision + i * layers.settings.groups);
}

// The posteriors of the sums, and their draws: those of the stream of fit number `fits`, particle by particle, action
// by action.
__global__ void __launch_bounds__(threads)
    fit_kernel(const Group group, const LastLayers layers, std::int64_t regressions, std::uint32_t fits) {
  extern __shared__ double memory[];
  const Block team;
  const int F = layers.settings.features, K = layers.actions, per_realization = group.particles * K;
  double *work = memory, *prior = memory + F;
  double* place = layers.scratch == nullptr ? memory + work_vectors * F
                                            : layers.scratch + static_cast<std::int64_t>(blockIdx.x) * packed_size(F);
  for (std::int64_t r = blockIdx.x; r < regressions; r += gridDim.x) {
    const Regression regression = layers.regression(r);
    const int g = static_cast<int>(r / per_realization);
    const Address address{
        .seed = group.seed, .realization = group.realization[g], .purpose = Purpose::last_layer, .step = fits};
    for (int f = team.thread; f < F; f += team.threads) {
      prior[f] = prior_of(layers.settings, layers.precision + r / K * layers.settings.groups, f);
      regression.draw[f] = normal(address, r % per_realization * F + f);
    }
    for (int q = team.thread; q < packed_size(F); q += team.threads) place[q] = regression.inverse[q];
    team.sync();
    const bool usable = fit(team, F, regression, prior, place, work);
    if (!usable && team.thread == 0) layers.singular[g] = 1;
    for (int q = team.thread; q < packed_size(F); q += team.threads) regression.inverse[q] = place[q];
    team.sync();
  }
}

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
      const double value = action_value(team, layers.settings, group.reward_units[g],
                                        layers.regression(particle * K + a), features, shared);
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
          .scratch = factors_in_shared(F) ? 0 : std::min(workers, regressions) * triangle,
          .features = particles * static_cast<std::size_t>(largest_tile(s.network, s.last_layer.features)) *
                      static_cast<std::size_t>(F)};
}

}  // namespace

std::size_t CardLastLayers::bytes(const Settings& s, std::size_t G, std::size_t T) {
  const Counts c = counts(s, G);
  const auto M = static_cast<std::size_t>(s.particles), K = static_cast<std::size_t>(s.actions);
  return sizeof(double) * (c.triangles + 4 * c.vectors + c.scratch + G * M * most_prior_groups) +
         c.regressions * (sizeof(RegressionTotals) + sizeof(Determined)) +
         sizeof(std::int32_t) * (G * T + G * (K + 2)) + sizeof(float) * c.features;
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

void CardLastLayers::factor(const Group& group, cudaStream_t stream) {
  const int F = view_.settings.features;
  const std::size_t bytes = factor_bytes(F), regressions = totals_.size();
  const auto blocks = static_cast<unsigned>(factors_in_shared(F) ? regressions : std::min(workers, regressions));
  allow_shared(fit_kernel, bytes);
  fit_kernel<<<blocks, threads, bytes, stream>>>(group, view_, static_cast<std::int64_t>(regressions), fits_);
  check(cudaGetLastError(), "last layers: fit");
}

void CardLastLayers::start(const Group& group, cudaStream_t stream) { factor(group, stream); }

void CardLastLayers::fit(const Group& group, int seen, cudaStream_t stream) {
  const int F = view_.settings.features, K = group.actions;
  const int kept = group.capacity == 0 ? seen : std::min(seen, group.capacity);
  const auto G = static_cast<unsigned>(group.realizations), M = static_cast<unsigned>(group.particles);
  order_kernel<<<dim3(static_cast<unsigned>(K), G), threads, 0, stream>>>(group, view_, seen - kept, seen);
  check(cudaGetLastError(), "last layers: order");
  const std::size_t tile = tile_bytes(group.network, F, view_.tile), bytes = factor_bytes(F);
  allow_shared(sums_kernel, tile);
  sums_kernel<<<dim3(static_cast<unsigned>(K), M, G), threads, tile, stream>>>(group, view_);
  check(cudaGetLastError(), "last layers: sums");
  const std::size_t regressions = totals_.size(), particles = static_cast<std::size_t>(G) * M;
  const auto blocks = static_cast<unsigned>(factors_in_shared(F) ? regressions : std::min(workers, regressions));
  allow_shared(evidence_kernel, bytes);
  evidence_kernel<<<blocks, threads, bytes, stream>>>(view_, static_cast<std::int64_t>(regressions),
                                                      group.particles * K);
  check(cudaGetLastError(), "last layers: evidence");
  precision_kernel<<<blocks_for(particles, threads), threads, 0, stream>>>(view_, static_cast<std::int64_t>(particles));
  check(cudaGetLastError(), "last layers: precisions");
  ++fits_;
  factor(group, stream);
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
