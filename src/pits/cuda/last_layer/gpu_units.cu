#include "pits/cuda/last_layer/gpu_units.cuh"

#include "pits/cuda/last_layer/robust_units.h"

namespace pits::cuda {

namespace {

constexpr int threads = 128;
constexpr int sort_threads = 512;

__device__ void refresh_column(const GroupView& group, const UnitsView& u, int g, int j, std::uint32_t first) {
  const std::size_t rounds = static_cast<std::size_t>(g) * group.rounds, of = static_cast<std::size_t>(g) * u.raw_size;
  const std::uint32_t seen = group.training[g].seen;
  Moments m = u.column_moments[of + j];
  for (std::uint32_t t = first; t < seen; ++t) m.observe(u.raw[(rounds + t) * group.context_stride + j], t + 1);
  u.column_moments[of + j] = m;
  u.column_units[of + j] = plain_units(m, seen);
}

__device__ void refresh_rewards(const GroupView& group, const UnitsView& u, int g, std::uint32_t first) {
  const std::size_t rounds = static_cast<std::size_t>(g) * group.rounds;
  const std::uint32_t seen = group.training[g].seen;
  RewardMoments r = u.reward_moments[g];
  for (std::uint32_t t = first; t < seen; ++t) {
    r.observe(group.rewards[(rounds + t) * group.actions + group.actions_taken[rounds + t]], t + 1);
  }
  u.reward_moments[g] = r;
  u.reward_units[g] = refreshed(r, seen, u.kind != UnitsKind::raw);
}

// Blocks (columns, realization): one thread per column, and one more for the rewards.
__global__ void refresh_kernel(const GroupView group, const UnitsView u) {
  const int j = blockIdx.x * threads + static_cast<int>(threadIdx.x), d = u.raw_size, g = blockIdx.y;
  if (j > d || group.training[g].refreshes == 0) return;
  std::uint32_t& counted = u.counted[static_cast<std::size_t>(g) * (d + 1) + j];
  if (j == d) refresh_rewards(group, u, g, counted);
  if (j < d && u.kind == UnitsKind::standardised) refresh_column(group, u, g, j, counted);
  counted = group.training[g].seen;
}

// Blocks (column, realization).
__global__ void __launch_bounds__(sort_threads) robust_kernel(const GroupView group, const UnitsView u) {
  __shared__ float sample[RobustConstants::most_sample];
  const int j = blockIdx.x, g = blockIdx.y;
  if (group.training[g].refreshes == 0) return;
  find_column(Block(), group, u.raw, g, j, sample, u.column_units[static_cast<std::size_t>(g) * u.raw_size + j]);
}

__global__ void levels_kernel(const GroupView group, const UnitsView u) {
  const int g = blockIdx.x * threads + static_cast<int>(threadIdx.x), count = group.context_size - u.raw_size;
  if (g >= group.realizations || group.training[g].refreshes == 0) return;
  assign_levels(u.raw_size, count, u.column_units + static_cast<std::size_t>(g) * u.raw_size,
                u.marks + static_cast<std::size_t>(g) * count);
}

// Blocks (numbers of the rounds before `upto`, realization).
__global__ void contexts_kernel(const GroupView group, const UnitsView u, std::size_t count, bool all) {
  const std::size_t e = blockIdx.x * static_cast<std::size_t>(threads) + threadIdx.x;
  const int g = blockIdx.y, d = u.raw_size, levels = group.context_size - d;
  if (e >= count || (!all && group.training[g].refreshes == 0)) return;
  const int column = static_cast<int>(e % group.context_stride);
  const std::size_t at = static_cast<std::size_t>(g) * group.rounds * group.context_stride + e;
  u.contexts[at] =
      context_in_units(u.raw + at - column, column, d, levels, u.column_units + static_cast<std::size_t>(g) * d,
                       u.marks + static_cast<std::size_t>(g) * levels);
}

// Blocks (rounds, realization).
__global__ void rewards_kernel(const GroupView group) {
  const int t = blockIdx.x * threads + static_cast<int>(threadIdx.x), g = blockIdx.y;
  const TrainingState& training = group.training[g];
  if (t >= static_cast<int>(training.seen) || training.refreshes == 0) return;
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + t;
  take_reward(group, g, round, group.actions_taken[round]);
}

}  // namespace

GpuUnits::GpuUnits(const Settings& s, int realizations, int rounds) : kind_(s.units), raw_size_(s.raw_context_size) {
  const auto G = static_cast<std::size_t>(realizations), d = static_cast<std::size_t>(raw_size_);
  reward_moments_ = DeviceArray<RewardMoments>(G);
  reward_units_ = DeviceArray<RewardUnits>(std::vector<RewardUnits>(G));
  counted_ = DeviceArray<std::uint32_t>(G * (d + 1));
  reward_moments_.fill_zero();
  counted_.fill_zero();
  if (kind_ == UnitsKind::raw) return;
  contexts_ = DeviceArray<float>(s.context_floats(G, static_cast<std::size_t>(rounds)));
  column_moments_ = DeviceArray<Moments>(G * d);
  column_units_ = DeviceArray<ColumnUnits>(std::vector<ColumnUnits>(G * d));
  marks_ = DeviceArray<LevelMark>(std::vector<LevelMark>(G * static_cast<std::size_t>(s.level_columns()), {-1, 0.0F}));
  contexts_.fill_zero();
  column_moments_.fill_zero();
}

std::size_t GpuUnits::bytes(const Settings& s, std::size_t G, std::size_t T) {
  const auto d = static_cast<std::size_t>(s.raw_context_size);
  const std::size_t rewards = G * (sizeof(RewardMoments) + sizeof(RewardUnits) + (d + 1) * sizeof(std::uint32_t));
  if (s.units == UnitsKind::raw) return rewards;
  const std::size_t columns = G * (d * (sizeof(Moments) + sizeof(ColumnUnits)) +
                                   static_cast<std::size_t>(s.level_columns()) * sizeof(LevelMark));
  return rewards + columns + s.context_floats(G, T) * sizeof(float);
}

UnitsView GpuUnits::view(const float* raw) const {
  return {.kind = kind_,
          .raw_size = raw_size_,
          .raw = raw,
          .contexts = contexts_.data(),
          .column_moments = column_moments_.data(),
          .column_units = column_units_.data(),
          .marks = marks_.data(),
          .counted = counted_.data(),
          .reward_moments = reward_moments_.data(),
          .reward_units = reward_units_.data()};
}

void GpuUnits::write_contexts(const GroupView& group, const float* raw, int upto, bool all, cudaStream_t stream) {
  if (kind_ == UnitsKind::raw || upto == 0) return;
  const std::size_t count = static_cast<std::size_t>(upto) * group.context_stride;
  const dim3 grid(blocks_for(count, threads), static_cast<unsigned>(group.realizations));
  contexts_kernel<<<grid, threads, 0, stream>>>(group, view(raw), count, all);
  check(cudaGetLastError(), "contexts in units");
}

void GpuUnits::start(const GroupView& group, const float* raw, cudaStream_t stream) {
  write_contexts(group, raw, group.rounds, true, stream);
}

void GpuUnits::refresh(const GroupView& group, const float* raw, int upto, cudaStream_t stream) {
  const UnitsView u = view(raw);
  const auto G = static_cast<unsigned>(group.realizations), d = static_cast<unsigned>(raw_size_);
  refresh_kernel<<<dim3(blocks_for(d + 1, threads), G), threads, 0, stream>>>(group, u);
  check(cudaGetLastError(), "units");
  if (kind_ == UnitsKind::robust && d > 0) {
    robust_kernel<<<dim3(d, G), sort_threads, 0, stream>>>(group, u);
    check(cudaGetLastError(), "robust units");
    levels_kernel<<<blocks_for(G, threads), threads, 0, stream>>>(group, u);
    check(cudaGetLastError(), "level columns");
  }
  if (kind_ == UnitsKind::raw) return;
  write_contexts(group, raw, upto, false, stream);
  rewards_kernel<<<dim3(blocks_for(static_cast<std::size_t>(group.rounds), threads), G), threads, 0, stream>>>(group);
  check(cudaGetLastError(), "rewards in units");
}

}  // namespace pits::cuda
