#include "pits/cuda/rounds.cuh"

#include <algorithm>

#include "pits/cuda/device/device_array.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 128;
constexpr int warps = threads / 32;

// One layer for one context: a warp takes an output at a time, its lanes the inputs. `in` has a 1 after the inputs.
__device__ void evaluate_layer(const LayerLayout& layer, const float* theta, const float* in, float* out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int o = warp; o < layer.outputs; o += warps) {
    const float* w = theta + layer.offset + static_cast<std::int64_t>(o) * layer.stride;
    float sum = 0.0F;
    for (int i = lane; i <= layer.inputs; i += 32) sum = fmaf(w[i], in[i], sum);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, step);
    if (lane == 0) out[o] = sum;
  }
}

// The action of highest value, the lowest index where several are equal. Values in shared memory, `buffer` (2, width).
__device__ int best_action(const GroupView& group, const float* theta, const float* context, float* buffer, int width) {
  const NetworkLayout& network = group.network;
  const float* in = context;
  for (int l = 0; l < network.layers; ++l) {
    float* out = buffer + l % 2 * width;
    evaluate_layer(network.layer[l], theta, in, out);
    __syncthreads();
    if (l + 1 < network.layers) {
      for (int i = threadIdx.x; i <= network.layer[l].outputs; i += threads) {
        const float z = i < network.layer[l].outputs ? out[i] : 1.0F;
        out[i] = i == network.layer[l].outputs ? 1.0F : network.tanh ? tanhf(z) : fmaxf(z, 0.0F);
      }
      __syncthreads();
    }
    in = out;
  }
  int best = 0;  // a sigmoid keeps the order, so a Bernoulli model needs none
  for (int a = 1; a < group.actions; ++a) best = in[a] > in[best] ? a : best;
  return best;
}

// Blocks (round, realization).
__global__ void __launch_bounds__(threads)
    play_kernel(const GroupView group, const DecisionSettings choice, int first, int width) {
  extern __shared__ float buffer[];
  const int t = first + static_cast<int>(blockIdx.x), g = blockIdx.y;
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + t;
  const Beginning begun = begin_decision(group, choice, g, t);
  int action = begun.action;
  if (action < 0) {
    const float* theta =
        group.theta + (static_cast<std::size_t>(g) * group.particles + begun.particle) * group.network.stride;
    action = best_action(group, theta, group.contexts + round * group.context_stride, buffer, width);
  }
  if (threadIdx.x == 0) take_reward(group, g, round, action);
}

__device__ float uniform_float(const Address& address, std::int64_t q) {
  const std::uint32_t word = philox_words(address, static_cast<std::uint32_t>(q / 4))[q % 4];
  return (static_cast<float>(word >> 9) + 0.5F) * 0x1p-23F;
}

// Blocks (parameters, particle, realization).
__global__ void draw_kernel(const GroupView group, const ParameterLayout* parameters, std::int64_t count,
                            std::int64_t draws, bool uniform_init) {
  const std::int64_t l = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (l >= count) return;
  const int i = blockIdx.y, g = blockIdx.z;
  const ParameterLayout p = parameters[l];
  const Address address{
      .seed = group.seed, .realization = group.realization[g], .purpose = Purpose::initial_particles, .step = 0};
  const std::int64_t q = i * draws + p.rank;
  float value = static_cast<float>(p.centre);
  if (p.rank >= 0 && uniform_init) {
    value = static_cast<float>(p.scale) * (2.0F * uniform_float(address, q) - 1.0F);
  } else if (p.rank >= 0 && p.centre == 0.0) {
    value = static_cast<float>(p.scale) * static_cast<float>(normal(address, q));
  } else if (p.rank >= 0) {
    value = static_cast<float>(p.centre + p.scale * normal(address, q));
  }
  group.theta[(static_cast<std::size_t>(g) * group.particles + i) * group.network.stride + p.at] = value;
}

int widest_layer(const NetworkLayout& network) {
  int width = 0;
  for (int l = 0; l < network.layers; ++l) width = std::max(width, network.layer[l].outputs);
  return width + 1;
}

}  // namespace

void play_rounds(const GroupView& group, const DecisionSettings& choice, int first, int last, cudaStream_t stream) {
  if (first >= last) return;
  const int width = widest_layer(group.network);
  const dim3 grid(static_cast<unsigned>(last - first), static_cast<unsigned>(group.realizations));
  const std::size_t bytes = 2 * static_cast<std::size_t>(width) * sizeof(float);
  check(cudaFuncSetAttribute(play_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "play: shared memory");
  play_kernel<<<grid, threads, bytes, stream>>>(group, choice, first, width);
  check(cudaGetLastError(), "play");
}

void draw_particles(const GroupView& group, const ParameterLayout* parameters, std::int64_t count,
                    std::int64_t draws_per_particle, bool uniform_init, cudaStream_t stream) {
  const dim3 grid(blocks_for(static_cast<std::size_t>(count), threads), static_cast<unsigned>(group.particles),
                  static_cast<unsigned>(group.realizations));
  draw_kernel<<<grid, threads, 0, stream>>>(group, parameters, count, draws_per_particle, uniform_init);
  check(cudaGetLastError(), "initial particles");
}

}  // namespace pits::cuda
