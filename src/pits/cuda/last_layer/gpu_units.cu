#include "pits/cuda/last_layer/gpu_units.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 128;

struct UnitsState {
  const float* raw;  // (G,T,context_stride)
  float* contexts;   // in units, or null
  Moments* column_moments;
  ColumnUnits* column_units;
  RewardMoments* reward_moments;
  RewardUnits* reward_units;
};

// Blocks (columns, realization): one thread per column, and one more for the rewards.
__global__ void refresh_kernel(const GroupView group, const UnitsState u, int first, int seen) {
  const int j = blockIdx.x * threads + static_cast<int>(threadIdx.x), d = group.context_size, g = blockIdx.y;
  const std::size_t rounds = static_cast<std::size_t>(g) * group.rounds;
  if (j < d && u.contexts != nullptr) {
    Moments& moments = u.column_moments[static_cast<std::size_t>(g) * d + j];
    Moments m = moments;
    for (int t = first; t < seen; ++t) m.observe(u.raw[(rounds + t) * group.context_stride + j], t + 1);
    moments = m;
    u.column_units[static_cast<std::size_t>(g) * d + j] = {m.mean, 1.0 / scale_of(m.variance(seen))};
  }
  if (j != d) return;
  RewardMoments r = u.reward_moments[g];
  for (int t = first; t < seen; ++t) {
    r.observe(group.rewards[(rounds + t) * group.actions + group.actions_taken[rounds + t]], t + 1);
  }
  u.reward_moments[g] = r;
  u.reward_units[g] = refreshed(r, seen, u.contexts != nullptr);
}

// Blocks (numbers of the rounds before `upto`, realization).
__global__ void contexts_kernel(const GroupView group, const UnitsState u, std::size_t count) {
  const std::size_t e = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  if (e >= count) return;
  const int g = blockIdx.y, column = static_cast<int>(e % group.context_stride), d = group.context_size;
  const std::size_t at = static_cast<std::size_t>(g) * group.rounds * group.context_stride + e;
  const float x = u.raw[at];
  u.contexts[at] = column < d ? in_units(x, u.column_units[static_cast<std::size_t>(g) * d + column]) : x;
}

__global__ void rewards_kernel(const GroupView group, int seen) {
  const int t = blockIdx.x * threads + static_cast<int>(threadIdx.x), g = blockIdx.y;
  if (t >= seen) return;
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + t;
  take_reward(group, g, round, group.actions_taken[round]);
}

}  // namespace

GpuUnits::GpuUnits(const Settings& s, int realizations, int rounds) : standardised_(s.standardised) {
  const auto G = static_cast<std::size_t>(realizations), d = static_cast<std::size_t>(s.context_size);
  reward_moments_ = DeviceArray<RewardMoments>(G);
  reward_units_ = DeviceArray<RewardUnits>(std::vector<RewardUnits>(G));
  reward_moments_.fill_zero();
  if (!standardised_) return;
  contexts_ = DeviceArray<float>(s.context_floats(G, static_cast<std::size_t>(rounds)));
  column_moments_ = DeviceArray<Moments>(G * d);
  column_units_ = DeviceArray<ColumnUnits>(std::vector<ColumnUnits>(G * d, {0.0, 1.0}));
  contexts_.fill_zero();
  column_moments_.fill_zero();
}

std::size_t GpuUnits::bytes(const Settings& s, std::size_t G, std::size_t T) {
  const std::size_t rewards = G * (sizeof(RewardMoments) + sizeof(RewardUnits));
  if (!s.standardised) return rewards;
  const std::size_t columns = G * static_cast<std::size_t>(s.context_size) * (sizeof(Moments) + sizeof(ColumnUnits));
  return rewards + columns + s.context_floats(G, T) * sizeof(float);
}

void GpuUnits::refresh(const GroupView& group, const float* raw, int seen, int upto, cudaStream_t stream) {
  const UnitsState u{raw,
                     standardised_ ? contexts_.data() : nullptr,
                     column_moments_.data(),
                     column_units_.data(),
                     reward_moments_.data(),
                     reward_units_.data()};
  const auto G = static_cast<unsigned>(group.realizations);
  if (seen > 0) {
    const auto columns = static_cast<std::size_t>(group.context_size) + 1;
    refresh_kernel<<<dim3(blocks_for(columns, threads), G), threads, 0, stream>>>(group, u, counted_, seen);
    check(cudaGetLastError(), "units");
    counted_ = seen;
  }
  if (!standardised_) return;
  const std::size_t count = static_cast<std::size_t>(upto) * group.context_stride;
  contexts_kernel<<<dim3(blocks_for(count, threads), G), threads, 0, stream>>>(group, u, count);
  check(cudaGetLastError(), "contexts in units");
  if (seen == 0) return;
  const auto rounds = static_cast<std::size_t>(seen);
  rewards_kernel<<<dim3(blocks_for(rounds, threads), G), threads, 0, stream>>>(group, seen);
  check(cudaGetLastError(), "rewards in units");
}

}  // namespace pits::cuda
