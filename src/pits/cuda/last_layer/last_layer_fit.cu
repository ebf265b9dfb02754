#include "pits/cuda/last_layer/factoring.cuh"
#include "pits/cuda/last_layer/last_layers.cuh"
#include "pits/cuda/last_layer/order.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 256;

// Blocks (action, set, realization).
__global__ void __launch_bounds__(threads, 2) sums_kernel(const GroupView group, const LastLayersView layers) {
  extern __shared__ double memory[];
  const int a = blockIdx.x, g = blockIdx.z, K = group.actions;
  const std::int64_t particle = (static_cast<std::int64_t>(g) * layers.sets + blockIdx.y) * layers.in_set();
  const std::size_t rounds = static_cast<std::size_t>(g) * group.rounds;
  const std::int32_t* start = layers.start + static_cast<std::size_t>(g) * (K + 1);
  const TileRounds all{.contexts = group.contexts + rounds * group.context_stride,
                       .context_stride = group.context_stride,
                       .rewards_received = group.rewards_received + rounds,
                       .listed = layers.order + rounds,
                       .first = start[a],
                       .count = start[a + 1] - start[a]};
  const Tile tile(group.network, layers.settings.features, layers.tile, memory);
  sum_up(Block(), layers.settings, group.network, group.theta + particle * group.network.stride, all, tile,
         layers.regression(particle, a));
}

// One block per regression, or several regressions per block.
template <bool InShared>
__global__ void __launch_bounds__(threads)
    evidence_kernel(const LastLayersView layers, std::int64_t regressions, int per_realization) {
  extern __shared__ double memory[];
  const Block team;
  const int K = layers.actions;
  double *work = memory, *place = triangle<InShared>(layers.settings.features, layers.scratch, memory);
  for (std::int64_t r = blockIdx.x; r < regressions; r += gridDim.x) {
    const Regression regression = layers.regression(r / K * layers.in_set(), static_cast<int>(r % K));
    if (regression.totals->n == 0.0) {
      if (team.thread == 0) layers.evidence_terms[r] = {};
      continue;
    }
    const double* precision = layers.precision + r / K * layers.settings.groups;
    const bool usable =
        find_evidence_terms(team, layers.settings, regression, precision, place, work, layers.evidence_terms[r]);
    if (!usable && team.thread == 0) layers.singular[r / per_realization] = 1;
  }
}

__global__ void precision_kernel(const LastLayersView layers, std::int64_t sets) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= sets) return;
  step_precisions(layers.settings, layers.evidence_terms + i * layers.actions, layers.actions,
                  layers.precision + i * layers.settings.groups);
}

// The draws of a set's particles from an action's posterior: those of the stream of fit number `fits`, particle by
// particle, action by action.
__device__ void draw_set(const Block& team, const GroupView& group, const LastLayersView& layers, std::int64_t first,
                         int action, std::uint32_t fits) {
  const int F = layers.settings.features, M = group.particles, K = layers.actions;
  const Address address{
      .seed = group.seed, .realization = group.realization[first / M], .purpose = Purpose::last_layer, .step = fits};
  for (int e = team.thread; e < layers.in_set() * F; e += team.threads) {
    const std::int64_t i = first + e / F;
    layers.regression(i, action).draw[e % F] = normal(address, (i % M * K + action) * F + e % F);
  }
}

// The posteriors of the sums, and what is drawn from them.
template <bool InShared>
__global__ void __launch_bounds__(threads)
    fit_kernel(const GroupView group, const LastLayersView layers, std::int64_t regressions, std::uint32_t fits) {
  extern __shared__ double memory[];
  const Block team;
  const int F = layers.settings.features, K = layers.actions;
  double *work = memory, *prior = memory + panel * F,
         *place = triangle<InShared>(layers.settings.features, layers.scratch, memory);
  for (std::int64_t r = blockIdx.x; r < regressions; r += gridDim.x) {
    const std::int64_t first = r / K * layers.in_set();
    const int action = static_cast<int>(r % K);
    const Regression regression = layers.regression(first, action);
    for (int f = team.thread; f < F; f += team.threads) {
      prior[f] = prior_of(layers.settings, layers.precision + r / K * layers.settings.groups, f);
    }
    draw_set(team, group, layers, first, action, fits);
    for (int q = team.thread; q < packed_size(F); q += team.threads) place[q] = regression.inverse[q];
    team.sync();
    const bool usable = fit(team, F, regression, prior, place, work);
    if (!usable && team.thread == 0) layers.singular[first / group.particles] = 1;
    layers.deviate_remaining(team, first + 1, layers.in_set() - 1, action, place);
    for (int q = team.thread; q < packed_size(F); q += team.threads) regression.inverse[q] = place[q];
    team.sync();
  }
}

}  // namespace

void sum_history(const GroupView& group, const LastLayersView& layers, cudaStream_t stream) {
  const auto G = static_cast<unsigned>(group.realizations), S = static_cast<unsigned>(layers.sets),
             K = static_cast<unsigned>(group.actions);
  order_history(group, layers.order, layers.start, stream);
  const std::size_t bytes = tile_bytes(group.network, layers.settings.features, layers.tile);
  allow_shared(sums_kernel, bytes);
  sums_kernel<<<dim3(K, S, G), threads, bytes, stream>>>(group, layers);
  check(cudaGetLastError(), "last layers: sums");
}

void step_evidence(const GroupView& group, const LastLayersView& layers, cudaStream_t stream) {
  const std::size_t sets = static_cast<std::size_t>(group.realizations) * layers.sets;
  const std::size_t regressions = sets * group.actions;
  const int F = layers.settings.features;
  const Factoring factoring(F, regressions);
  const auto kernel = in_shared(F) ? evidence_kernel<true> : evidence_kernel<false>;
  allow_shared(kernel, factoring.bytes);
  kernel<<<factoring.blocks, threads, factoring.bytes, stream>>>(layers, static_cast<std::int64_t>(regressions),
                                                                 layers.sets * group.actions);
  check(cudaGetLastError(), "last layers: evidence");
  precision_kernel<<<blocks_for(sets, threads), threads, 0, stream>>>(layers, static_cast<std::int64_t>(sets));
  check(cudaGetLastError(), "last layers: precisions");
}

void fit_sums(const GroupView& group, const LastLayersView& layers, std::uint32_t fits, cudaStream_t stream) {
  const std::size_t regressions = static_cast<std::size_t>(group.realizations) * layers.sets * group.actions;
  const int F = layers.settings.features;
  const Factoring factoring(F, regressions);
  const auto kernel = in_shared(F) ? fit_kernel<true> : fit_kernel<false>;
  allow_shared(kernel, factoring.bytes);
  kernel<<<factoring.blocks, threads, factoring.bytes, stream>>>(group, layers, static_cast<std::int64_t>(regressions),
                                                                 fits);
  check(cudaGetLastError(), "last layers: fit");
}

}  // namespace pits::cuda
