#include "pits/cuda/score/wide_outputs.cuh"

#include "pits/cuda/device/device_array.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int slab = 256;           // observations of a block
constexpr int widest_apart = 4096;  // units whose sums fit into shared memory

__device__ float precision_of(const GroupView& group, const float* theta, int action) {
  if (group.network.noise_parameters == 0) return fixed_precision(group, theta);
  return expf(-2.0F * theta[group.network.noise_offset + (group.network.noise_parameters == 1 ? 0 : action)]);
}

__device__ std::int64_t particle_of(const GroupView& group, const Outputs& o, unsigned number) {
  return static_cast<std::int64_t>(o.realization) * group.particles + o.first + number;
}

// ∂/∂log σ, Σ_b (r − m)²/σ² − 1, with r − m from δ: a block a particle, its threads added up in a fixed order.
__global__ void noise_kernel(const GroupView group, const Outputs o) {
  __shared__ float part[threads];
  const std::int64_t particle = particle_of(group, o, blockIdx.x);
  const float* theta = group.theta + particle * group.network.stride;
  const float scale = likelihood_scale(group, kept(group, group.training[o.realization]), o.batch);
  for (int q = 0; q < group.network.noise_parameters; ++q) {
    float sum = 0.0F;
    for (int b = threadIdx.x; b < o.batch; b += threads) {
      const int a = o.actions_taken[static_cast<std::size_t>(o.realization) * o.batch + b];
      if (group.network.noise_parameters > 1 && a != q) continue;
      const float delta = o.out[(static_cast<std::size_t>(blockIdx.x) * o.batch + b) * o.stride + a] / scale;
      sum += delta * delta / precision_of(group, theta, a) - 1.0F;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
      if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
      __syncthreads();
    }
    if (threadIdx.x == 0)
      group.score[particle * group.network.stride + group.network.noise_offset + q] += scale * part[0];
    __syncthreads();
  }
}

// Blocks (observations, particle).
__global__ void delta_kernel(const GroupView group, const Outputs o) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= o.batch) return;
  const float* theta = group.theta + particle_of(group, o, blockIdx.y) * group.network.stride;
  float* out = o.out + (static_cast<std::size_t>(blockIdx.y) * o.batch + b) * o.stride;
  const std::size_t at = static_cast<std::size_t>(o.realization) * o.batch + b;
  const int a = o.actions_taken[at];
  const float scale = likelihood_scale(group, kept(group, group.training[o.realization]), o.batch);
  const float delta = output_delta(group, scale, precision_of(group, theta, a), o.rewards_received[at], out[a]);
  for (int i = 0; i < o.stride; ++i) out[i] = i == a ? delta : 0.0F;
}

// f of four values from column c on; a 1 after the last of `units`, then zeros.
__device__ float4 activated(bool tanh, int units, const float4& z, int c) {
  const auto one = [&](float value, int column) {
    if (column >= units) return column == units ? 1.0F : 0.0F;
    return tanh ? tanhf(value) : fmaxf(value, 0.0F);
  };
  return {one(z.x, c), one(z.y, c + 1), one(z.z, c + 2), one(z.w, c + 3)};
}

// δ v ⊙ f′(h) of the same four.
__device__ float4 sent_back(bool tanh, int units, float delta, const float4& v, const float4& h, int c) {
  const auto one = [&](float w, float value, int column) {
    if (column >= units) return 0.0F;
    return tanh ? delta * w * (1.0F - value * value) : value > 0.0F ? delta * w : 0.0F;
  };
  return {one(v.x, h.x, c), one(v.y, h.y, c + 1), one(v.z, h.z, c + 2), one(v.w, h.w, c + 3)};
}

__device__ float4 four(const float* at) { return *reinterpret_cast<const float4*>(at); }

// V(a,·) · f(z) of a warp's observation.
__device__ float played_output(bool tanh, const LayerLayout& layer, const float* V, const float* z, int columns) {
  float m = 0.0F;
  for (int c = 4 * (threadIdx.x % 32); c < columns; c += 128) {
    const float4 h = activated(tanh, layer.inputs, four(z + c), c), v = four(V + c);
    m = fmaf(h.x, v.x, fmaf(h.y, v.y, fmaf(h.z, v.z, fmaf(h.w, v.w, m))));
  }
  for (int step = 16; step > 0; step /= 2) m += __shfl_xor_sync(0xFFFFFFFFU, m, step);
  return m;
}

// The sums of a block: those of its warps (warps, columns) in order.
__device__ void add_warps(const float* parts, int columns, float* out) {
  for (int c = threadIdx.x; c < columns; c += threads) {
    float sum = 0.0F;
    for (int w = 0; w < warps; ++w) sum += parts[w * columns + c];
    out[c] = sum;
  }
}

// Blocks (slab, particle): a warp takes an observation at a time, and reads its row twice, for registers that held it
// would leave room for fewer warps. Shared memory: sums (warps, stride).
__global__ void __launch_bounds__(threads)
    outputs_kernel(const GroupView group, const Outputs o, const LastHidden hidden) {
  extern __shared__ float4 memory[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, columns = hidden.stride;
  const LayerLayout& layer = group.network.layer[group.network.layers - 1];
  const float* theta = group.theta + particle_of(group, o, blockIdx.y) * group.network.stride;
  const float scale = likelihood_scale(group, kept(group, group.training[o.realization]), o.batch);
  const bool tanh = group.network.tanh, adds = hidden.sums != nullptr;
  float4* sums = memory + warp * (columns / 4);
  for (int c = lane; adds && c < columns / 4; c += 32) sums[c] = float4{};
  const int last = min(o.batch, (static_cast<int>(blockIdx.x) + 1) * slab);
  for (int b = blockIdx.x * slab + warp; b < last; b += warps) {
    const std::size_t row = static_cast<std::size_t>(blockIdx.y) * o.batch + b;
    const std::size_t at = static_cast<std::size_t>(o.realization) * o.batch + b;
    const int a = o.actions_taken[at];
    const float* V = theta + layer.offset + static_cast<std::int64_t>(a) * layer.stride;
    float *z = hidden.z + row * columns, *below = hidden.delta + row * columns;
    const float m = played_output(tanh, layer, V, z, columns);
    const float delta = output_delta(group, scale, precision_of(group, theta, a), o.rewards_received[at], m);
    for (int i = lane; i < o.stride; i += 32) o.out[row * o.stride + i] = i == a ? delta : 0.0F;
    for (int c = 4 * lane; c < columns; c += 128) {
      const float4 h = activated(tanh, layer.inputs, four(z + c), c);
      const float4 d = sent_back(tanh, layer.inputs, delta, four(V + c), h, c);
      *reinterpret_cast<float4*>(z + c) = h;
      *reinterpret_cast<float4*>(below + c) = d;
      if (adds) sums[c / 4] = {sums[c / 4].x + d.x, sums[c / 4].y + d.y, sums[c / 4].z + d.z, sums[c / 4].w + d.w};
    }
  }
  if (!adds) return;
  __syncthreads();
  add_warps(reinterpret_cast<const float*>(memory), columns,
            hidden.sums + (static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * columns);
}

// The gradient of the last hidden layer's biases: the slabs added up in order. Blocks (units, particle).
__global__ void bias_kernel(const GroupView group, const Outputs o, const LastHidden hidden, int slabs) {
  const LayerLayout& layer = group.network.layer[group.network.layers - 2];
  const int unit = blockIdx.x * blockDim.x + threadIdx.x;
  if (unit >= layer.outputs) return;
  float sum = 0.0F;
  for (int i = 0; i < slabs; ++i) {
    sum += hidden.sums[(static_cast<std::size_t>(blockIdx.y) * slabs + i) * hidden.stride + unit];
  }
  group.score[particle_of(group, o, blockIdx.y) * group.network.stride + layer.offset +
              static_cast<std::int64_t>(unit) * layer.stride + layer.inputs] += sum;
}

}  // namespace

bool bias_apart(const LayerLayout& layer) { return layer.inputs % 4 == 0 && layer.outputs <= widest_apart; }

std::size_t observation_slabs(int batch) { return blocks_for(static_cast<std::size_t>(batch), slab); }

void pass_outputs(const GroupView& group, const Outputs& o, const LastHidden& hidden, cudaStream_t stream) {
  const auto slabs = static_cast<unsigned>(observation_slabs(o.batch)), particles = static_cast<unsigned>(o.count);
  const bool adds = hidden.sums != nullptr;
  const std::size_t bytes = adds ? warps * static_cast<std::size_t>(hidden.stride) * sizeof(float) : 0;
  check(cudaFuncSetAttribute(outputs_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "outputs: shared memory");
  outputs_kernel<<<dim3(slabs, particles), threads, bytes, stream>>>(group, o, hidden);
  check(cudaGetLastError(), "outputs");
  if (!adds) return;
  const auto units = static_cast<std::size_t>(group.network.layer[group.network.layers - 2].outputs);
  bias_kernel<<<dim3(blocks_for(units, threads), particles), threads, 0, stream>>>(group, o, hidden,
                                                                                   static_cast<int>(slabs));
  check(cudaGetLastError(), "bias");
}

void deltas_of_linear(const GroupView& group, const Outputs& o, cudaStream_t stream) {
  const dim3 blocks(blocks_for(static_cast<std::size_t>(o.batch), threads), static_cast<unsigned>(o.count));
  delta_kernel<<<blocks, threads, 0, stream>>>(group, o);
  check(cudaGetLastError(), "delta");
}

void noise_gradient(const GroupView& group, const Outputs& o, cudaStream_t stream) {
  if (group.network.noise_parameters == 0) return;
  noise_kernel<<<static_cast<unsigned>(o.count), threads, 0, stream>>>(group, o);
  check(cudaGetLastError(), "noise");
}

}  // namespace pits::cuda
