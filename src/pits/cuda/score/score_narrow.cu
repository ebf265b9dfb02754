#include "pits/cuda/score/score_narrow.cuh"

#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/score/narrow_floats.cuh"
#include "pits/cuda/score/narrow_halves.cuh"
#include "pits/cuda/score/narrow_passes.cuh"

namespace pits::cuda {
namespace {

using namespace narrow;

// Columns side by side of a row of W's gradient. What comes first brings the prior, what comes later adds to what is
// there.
template <int Count, class Products>
__device__ void store_columns(const LayerLayout& layer, const Products& products, int row, int column,
                              const float (&x)[Count], bool add, const float* theta, float* score) {
  if (row >= layer.outputs) return;
  const float factor = add ? 1.0F : -layer.prior_precision;
  const float* there = (add ? score : theta) + layer.offset + static_cast<std::int64_t>(row) * layer.stride + column;
  float* to = score + layer.offset + static_cast<std::int64_t>(row) * layer.stride + column;
#pragma unroll
  for (int i = 0; i < Count; i += 4) {
    if (column + i >= layer.stride) return;
    const float4 four = *reinterpret_cast<const float4*>(there + i), scale = products.column_scales(column + i);
    *reinterpret_cast<float4*>(to + i) = {
        fmaf(factor, four.x, scale.x * x[i]), fmaf(factor, four.y, scale.y * x[i + 1]),
        fmaf(factor, four.z, scale.z * x[i + 2]), fmaf(factor, four.w, scale.w * x[i + 3])};
  }
}

// A tile of units of the warp's columns: what backward() summed. A lane's columns of a row lie side by side.
template <class S, class Products>
__device__ void store_units(const GroupView& group, const Products& products, int u, const float (&sum)[S::tiles][4],
                            bool add, const float* theta, float* score) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float x[2 * S::tiles];
#pragma unroll
    for (int i = 0; i < 2 * S::tiles; ++i) x[i] = products.sum_scale() * sum[i % S::tiles][2 * half + i / S::tiles];
    store_columns(group.network.layer[0], products, 16 * u + g + 8 * half,
                  warp % S::columns * S::tiles * 8 + 2 * S::tiles * t, x, add, theta, score);
  }
}

// The gradient of W: parts of the observations are added up in order.
template <class S, class Products>
__device__ void store_weights(const GroupView& group, const Products& products, const Shared& s,
                              const float (&sum)[unit_tiles][S::tiles][4], bool add, const float* theta, float* score) {
  if constexpr (S::parts == 1) {
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) store_units<S>(group, products, u, sum[u], add, theta, score);
  } else {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    constexpr int items = unit_tiles * S::tiles;
    __syncthreads();  // D is read no more
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const float(&x)[4] = sum[i / S::tiles][i % S::tiles];
      s.D[(warp * items + i) * 32 + lane] = {x[0], x[1], x[2], x[3]};
    }
    __syncthreads();
    for (int u = warp / S::columns; u < unit_tiles; u += S::parts) {
      float total[S::tiles][4] = {};
      for (int p = 0; p < S::parts; ++p) {
#pragma unroll
        for (int q = 0; q < S::tiles; ++q) {
          const float4 x = s.D[((p * S::columns + warp % S::columns) * items + u * S::tiles + q) * 32 + lane];
          total[q][0] += x.x, total[q][1] += x.y, total[q][2] += x.z, total[q][3] += x.w;
        }
      }
      store_units<S>(group, products, u, total, add, theta, score);
    }
  }
}

// The gradients of V and of log σ, of all warps in order.
template <class S>
__device__ void store_outputs(const GroupView& group, const Shared& s,
                              const float (&gradient)[unit_tiles][S::actions][4], const float (&noise)[S::actions],
                              const float* theta, float* score) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  constexpr int items = unit_tiles * S::actions;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const float(&x)[4] = gradient[i / S::actions][i % S::actions];
    s.D[(warp * items + i) * 32 + lane] = {x[0], x[1], x[2], x[3]};
  }
#pragma unroll
  for (int q = 0; q < S::actions; ++q) {
    float sum = noise[q];
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 1);
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 2);
    if (t == 0) s.noise[warp * most_actions + 8 * q + g] = sum;
  }
  __syncthreads();
  const LayerLayout& layer = group.network.layer[1];
  for (int i = warp; i < items; i += S::warps) {
    float total[4] = {};
    for (int w = 0; w < S::warps; ++w) {
      const float4 x = s.D[(w * items + i) * 32 + lane];
      total[0] += x.x, total[1] += x.y, total[2] += x.z, total[3] += x.w;
    }
    for (int e = 0; e < 4; ++e) {
      const int unit = 16 * (i / S::actions) + g + 8 * (e / 2), action = 8 * (i % S::actions) + 2 * t + e % 2;
      if (unit >= layer.stride || action >= layer.outputs) continue;
      const std::int64_t at = layer.offset + static_cast<std::int64_t>(action) * layer.stride + unit;
      score[at] = fmaf(-layer.prior_precision, theta[at], total[e]);
    }
  }
  const NetworkLayout& network = group.network;
  if (static_cast<int>(threadIdx.x) < network.noise_parameters) {
    const int actions_of = network.noise_parameters == 1 ? layer.outputs : 1;
    float sum = 0.0F;
    for (int a = threadIdx.x; a < static_cast<int>(threadIdx.x) + actions_of; ++a) {
      for (int w = 0; w < S::warps; ++w) sum += s.noise[w * most_actions + a];
    }
    const std::int64_t at = network.noise_offset + threadIdx.x;
    score[at] = sum - group.noise_prior * (theta[at] - group.noise_centre);
  }
}

template <class S, template <class> class Type>
__global__ void __launch_bounds__(S::threads, S::blocks) score_kernel(const GroupView group, int step) {
  extern __shared__ float4 memory[];
  using Products = Type<S>;
  const Shared s = carve<S, Products>(memory, group.context_stride);
  const int realization = blockIdx.x / group.particles;
  const float* theta = group.theta + blockIdx.x * group.network.stride;
  float* score = group.score + blockIdx.x * group.network.stride;

  const TrainingState& training = group.training[realization];
  if (training.trains == 0) return;
  const std::uint32_t n = kept(group, training);
  const std::uint32_t batch = group.batch == 0 ? n : static_cast<std::uint32_t>(group.batch);
  const float scale = likelihood_scale(group, n, batch);
  Products products(group, realization, s);
  products.load_weights(theta);
  load_outputs<S>(group, theta, s);

  float output_gradient[unit_tiles][S::actions][4] = {};
  float noise[S::actions] = {};
  float kept_sum[unit_tiles][S::keeps ? S::tiles : 1][4] = {};
#pragma unroll 1
  for (std::uint32_t first = 0; first < batch; first += S::chunk) {
    __syncthreads();  // the last chunk is read no more
    const int chunk = static_cast<int>(first % drawn_together);
    if (chunk == 0) {
      draw_observations<S>(group, realization, training.first_step + step, first, batch, s);
      __syncthreads();
    }
#pragma unroll 1
    for (int pass = 0; pass < S::passes; ++pass) {
      const int own = chunk + (pass * S::warps + static_cast<int>(threadIdx.x) / 32) * 8 * own_tiles;
      float h[unit_tiles][own_tiles][4] = {};
      products.forward(own, h);
      activate(group.network.tanh, h);
#pragma unroll
      for (int tile = 0; tile < own_tiles; ++tile) {
        through_output<S, Products::accurate>(group, scale, s, own, tile, h, output_gradient, noise);
      }
      products.store(own, h);
    }
    __syncthreads();
    if constexpr (S::keeps) {
      products.backward(chunk, kept_sum);
    } else {
      float sum[unit_tiles][S::tiles][4] = {};
      products.start_sum();
      products.backward(chunk, sum);
      store_weights<S>(group, products, s, sum, first > 0, theta, score);
    }
  }
  if constexpr (S::keeps) store_weights<S>(group, products, s, kept_sum, false, theta, score);
  store_outputs<S>(group, s, output_gradient, noise, theta, score);
}

template <class S, template <class> class Type>
void launch(const GroupView& group, int step, cudaStream_t stream) {
  const auto kernel = score_kernel<S, Type>;
  const std::size_t bytes = shared_bytes<S, Type<S>>(group.context_stride);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "score: shared memory");
  const auto blocks = static_cast<unsigned>(group.realizations) * static_cast<unsigned>(group.particles);
  kernel<<<blocks, S::threads, bytes, stream>>>(group, step);
  check(cudaGetLastError(), "score");
}

// The fewest accumulators that cover the columns: 8 · Columns · Tiles of them.
template <int Actions, bool Accurate, template <class> class Products>
void launch_for(const GroupView& group, int step, cudaStream_t stream) {
  // As measured: with two tiles of actions, sums kept in registers would leave too few for the rest.
  constexpr bool keeps = Accurate || Actions == 1;
  constexpr int passes = Accurate ? 1 : keeps ? 2 : 4, wide_passes = Accurate ? 1 : 2;
  const int columns = group.context_stride;
  if (columns <= 16) return launch<Split<8, 1, 2, Actions, passes, keeps>, Products>(group, step, stream);
  if (columns <= 32) return launch<Split<8, 2, 2, Actions, passes, keeps>, Products>(group, step, stream);
  if (columns <= 64) return launch<Split<8, 4, 2, Actions, passes, keeps>, Products>(group, step, stream);
  if (columns <= 128) return launch<Split<8, 8, 2, Actions, passes, keeps>, Products>(group, step, stream);
  if (columns <= 256) return launch<Split<16, 16, 2, Actions, wide_passes, Accurate>, Products>(group, step, stream);
  launch<Split<16, 16, 4, Actions, wide_passes, false>, Products>(group, step, stream);
}

}  // namespace

bool is_narrow(const NetworkLayout& network, int context_stride) {
  return network.layers == 2 && network.layer[0].outputs < units && network.layer[1].outputs <= most_actions &&
         context_stride <= most_columns;
}

void score_narrow(const GroupView& group, GpuPrecision precision, int step, cudaStream_t stream) {
  const bool few = group.actions <= 8;
  if (precision == GpuPrecision::float32) {
    return few ? launch_for<1, true, Floats>(group, step, stream) : launch_for<2, true, Floats>(group, step, stream);
  }
  few ? launch_for<1, false, Halves>(group, step, stream) : launch_for<2, false, Halves>(group, step, stream);
}

}  // namespace pits::cuda
