#include "pits/cuda/score_wide.cuh"

#include <algorithm>

namespace pits::cuda {
namespace {

constexpr int threads = 256;
constexpr std::size_t layer_budget = std::size_t{8} << 30;  // bytes of the layers of the particles on their way

// Floats of a row of a layer's outputs: the outputs, a 1, zeros.
int output_stride(const CardLayer& layer) { return round_up(layer.outputs + 1, 4); }

// Blocks (observation, realization).
__global__ void gather_kernel(const Group group, int batch, int step, float* contexts, std::int32_t* played,
                              float* gained) {
  const int b = blockIdx.x, g = blockIdx.y;
  const std::uint32_t seen = group.training->seen, n = kept(group, seen);
  std::uint32_t slot = b;
  if (group.batch != 0) {
    const Address address{.seed = group.seed,
                          .realization = group.realization[g],
                          .purpose = Purpose::minibatch,
                          .step = group.training->first_step + step};
    slot = index_below(n, philox_words(address, b / 4)[b % 4]);
  }
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + round_of_slot(group, seen, slot);
  const std::size_t to = static_cast<std::size_t>(g) * batch + b;
  for (int c = threadIdx.x; c < group.context_stride; c += blockDim.x) {
    contexts[to * group.context_stride + c] = group.contexts[round * group.context_stride + c];
  }
  if (threadIdx.x == 0) {
    played[to] = group.played[round];
    gained[to] = group.gained[round];
  }
}

// score = ∇ log p0; the gradients of the likelihood are added later.
__global__ void prior_kernel(const Group group) {
  const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (at >= group.network.stride) return;
  const CardNetwork& network = group.network;
  float precision = 0.0F, centre = 0.0F;
  for (int l = 0; l < network.layers; ++l) {
    if (at >= network.layer[l].offset) precision = network.layer[l].prior_precision;
  }
  if (network.noise_parameters > 0 && at >= network.noise_offset) {
    const bool noise = at < network.noise_offset + network.noise_parameters;
    precision = noise ? group.noise_prior : 0.0F;
    centre = noise ? group.noise_centre : 0.0F;
  }
  const std::int64_t particle = blockIdx.y + static_cast<std::int64_t>(blockIdx.z) * gridDim.y;
  if (particle >= static_cast<std::int64_t>(group.realizations) * group.particles) return;
  const std::int64_t index = particle * network.stride + at;
  group.score[index] = -precision * (group.theta[index] - centre);
}

__global__ void activate_kernel(bool tanh, int outputs, int stride, std::int64_t rows, float* z) {
  const std::int64_t index = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) * 4;
  if (index >= rows * stride) return;
  const int column = static_cast<int>(index % stride);
  float4 four = *reinterpret_cast<float4*>(z + index);
  float* x = &four.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float value = tanh ? tanhf(x[i]) : fmaxf(x[i], 0.0F);
    x[i] = column + i < outputs ? value : column + i == outputs ? 1.0F : 0.0F;
  }
  *reinterpret_cast<float4*>(z + index) = four;
}

// δ ← δ ⊙ f′, with f′ from the layer's own values.
__global__ void slope_kernel(bool tanh, int outputs, int stride, std::int64_t rows, const float* h, float* delta) {
  const std::int64_t index = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) * 4;
  if (index >= rows * stride) return;
  const int column = static_cast<int>(index % stride);
  const float4 values = *reinterpret_cast<const float4*>(h + index);
  float4 four = *reinterpret_cast<float4*>(delta + index);
  const float* value = &values.x;
  float* d = &four.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float slope = tanh ? 1.0F - value[i] * value[i] : (value[i] > 0.0F ? 1.0F : 0.0F);
    d[i] = column + i < outputs ? d[i] * slope : 0.0F;
  }
  *reinterpret_cast<float4*>(delta + index) = four;
}

__device__ float precision_of(const Group& group, const float* theta, int action) {
  if (group.network.noise_parameters == 0) return group.noise_precision;
  return expf(-2.0F * theta[group.network.noise_offset + (group.network.noise_parameters == 1 ? 0 : action)]);
}

// What one output layer needs to become δ.
struct Outputs {
  float* out;  // (count,B,stride)
  int stride, batch, realization, first;
  const std::int32_t* played;
  const float* gained;
};

// ∂/∂log σ, Σ_b (r − m)²/σ² − 1: a block a particle, its threads added up in a fixed order.
__global__ void noise_kernel(const Group group, const Outputs o) {
  __shared__ float part[threads];
  const std::int64_t particle = static_cast<std::int64_t>(o.realization) * group.particles + o.first + blockIdx.x;
  const float* theta = group.theta + particle * group.network.stride;
  const float scale = likelihood_scale(group, kept(group, group.training->seen), o.batch);
  for (int q = 0; q < group.network.noise_parameters; ++q) {
    float sum = 0.0F;
    for (int b = threadIdx.x; b < o.batch; b += threads) {
      const int a = o.played[static_cast<std::size_t>(o.realization) * o.batch + b];
      if (group.network.noise_parameters > 1 && a != q) continue;
      const float m = o.out[(static_cast<std::size_t>(blockIdx.x) * o.batch + b) * o.stride + a];
      const float e = o.gained[static_cast<std::size_t>(o.realization) * o.batch + b] - m;
      sum += e * e * precision_of(group, theta, a) - 1.0F;
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

// The outputs become their δ. Blocks (observations, particle).
__global__ void delta_kernel(const Group group, const Outputs o) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= o.batch) return;
  const std::int64_t particle = static_cast<std::int64_t>(o.realization) * group.particles + o.first + blockIdx.y;
  const float* theta = group.theta + particle * group.network.stride;
  float* out = o.out + (static_cast<std::size_t>(blockIdx.y) * o.batch + b) * o.stride;
  const std::size_t at = static_cast<std::size_t>(o.realization) * o.batch + b;
  const int a = o.played[at];
  const float scale = likelihood_scale(group, kept(group, group.training->seen), o.batch);
  const float delta = output_delta(group, scale, precision_of(group, theta, a), o.gained[at], out[a]);
  for (int i = 0; i < o.stride; ++i) out[i] = i == a ? delta : 0.0F;
}

BatchOf weights(const Group& group, float* of, int layer, int realization, int first) {
  const CardLayer& l = group.network.layer[layer];
  const std::int64_t particle = static_cast<std::int64_t>(realization) * group.particles + first;
  return {of + particle * group.network.stride + l.offset, l.stride, group.network.stride};
}

}  // namespace

WideScore::Sizes WideScore::sizes(const Settings& settings, int realizations, int most_observations) {
  const auto B = static_cast<std::size_t>(most_observations);
  Sizes s{};
  s.batch = realizations * B;
  for (int l = 0; l < settings.network.layers; ++l) {
    const auto floats = B * static_cast<std::size_t>(output_stride(settings.network.layer[l]));
    s.layer += floats;
    s.widest = std::max(s.widest, floats);
  }
  const std::size_t each = (s.layer + 2 * s.widest) * sizeof(float);
  s.together =
      static_cast<int>(std::clamp<std::size_t>(layer_budget / each, 1, static_cast<std::size_t>(settings.particles)));
  return s;
}

std::size_t WideScore::bytes(const Settings& settings, int realizations, int most_observations) {
  const Sizes s = sizes(settings, realizations, most_observations);
  return s.batch * (static_cast<std::size_t>(settings.context_stride()) + 2) * 4 +
         s.together * (s.layer + 2 * s.widest) * 4;
}

WideScore::WideScore(const Settings& settings, int realizations, int most_observations)
    : sizes_(sizes(settings, realizations, most_observations)),
      contexts_(sizes_.batch * static_cast<std::size_t>(settings.context_stride())),
      played_(sizes_.batch),
      gained_(sizes_.batch),
      layers_(sizes_.together * sizes_.layer),
      delta_{DeviceArray<float>(sizes_.together * sizes_.widest), DeviceArray<float>(sizes_.together * sizes_.widest)} {
}

BatchOf WideScore::output(const Group& group, int layer, int batch) const {
  std::size_t before = 0;
  for (int l = 0; l < layer; ++l) before += static_cast<std::size_t>(output_stride(group.network.layer[l]));
  const int stride = output_stride(group.network.layer[layer]);
  const auto B = static_cast<std::size_t>(batch);
  return {layers_.data() + static_cast<std::size_t>(sizes_.together) * B * before, stride,
          static_cast<std::int64_t>(B) * stride};
}

BatchOf WideScore::input(const Group& group, int layer, int realization, int batch) const {
  if (layer > 0) return output(group, layer - 1, batch);
  const std::size_t floats = static_cast<std::size_t>(batch) * group.context_stride;
  return {contexts_.data() + realization * floats, group.context_stride, 0};
}

void WideScore::forward(const Group& group, int realization, int first, int count, int batch, Blas& blas,
                        cudaStream_t stream) {
  for (int l = 0; l < group.network.layers; ++l) {
    const CardLayer& layer = group.network.layer[l];
    const BatchOf out = output(group, l, batch);
    blas.product_with_transposed({batch, layer.rows, layer.stride, count}, input(group, l, realization, batch),
                                 weights(group, group.theta, l, realization, first), 0.0F, out);
    if (l + 1 == group.network.layers) break;
    const std::int64_t rows = static_cast<std::int64_t>(count) * batch;
    activate_kernel<<<blocks_for(static_cast<std::size_t>(rows * out.stride / 4), threads), threads, 0, stream>>>(
        group.network.tanh, layer.outputs, out.stride, rows, out.data);
    check(cudaGetLastError(), "activate");
  }
}

void WideScore::backward(const Group& group, int realization, int first, int count, int batch, Blas& blas,
                         cudaStream_t stream) {
  BatchOf delta = output(group, group.network.layers - 1, batch);
  for (int l = group.network.layers - 1; l >= 0; --l) {
    const CardLayer& layer = group.network.layer[l];
    const BatchOf in = input(group, l, realization, batch);
    blas.transposed_product({layer.rows, layer.stride, batch, count}, delta, in, 1.0F,
                            weights(group, group.score, l, realization, first));
    if (l == 0) break;
    const BatchOf below{delta_[l % 2].data(), in.stride, in.step};
    blas.product({batch, group.network.layer[l - 1].rows, layer.rows, count}, delta,
                 weights(group, group.theta, l, realization, first), 0.0F, below);
    const std::int64_t rows = static_cast<std::int64_t>(count) * batch;
    slope_kernel<<<blocks_for(static_cast<std::size_t>(rows * in.stride / 4), threads), threads, 0, stream>>>(
        group.network.tanh, layer.inputs, in.stride, rows, in.data, below.data);
    check(cudaGetLastError(), "slope");
    delta = below;
  }
}

void WideScore::score(const Group& group, int batch, int step, Blas& blas, cudaStream_t stream) {
  gather_kernel<<<dim3(static_cast<unsigned>(batch), static_cast<unsigned>(group.realizations)), 64, 0, stream>>>(
      group, batch, step, contexts_.data(), played_.data(), gained_.data());
  check(cudaGetLastError(), "gather");
  prior_kernel<<<dim3(blocks_for(static_cast<std::size_t>(group.network.stride), threads),
                      static_cast<unsigned>(group.particles), static_cast<unsigned>(group.realizations)),
                 threads, 0, stream>>>(group);
  check(cudaGetLastError(), "prior");
  for (int g = 0; g < group.realizations; ++g) {
    for (int first = 0; first < group.particles; first += sizes_.together) {
      const int count = std::min(sizes_.together, group.particles - first);
      forward(group, g, first, count, batch, blas, stream);
      const BatchOf out = output(group, group.network.layers - 1, batch);
      const Outputs outputs{out.data, out.stride, batch, g, first, played_.data(), gained_.data()};
      if (group.network.noise_parameters > 0) {
        noise_kernel<<<static_cast<unsigned>(count), threads, 0, stream>>>(group, outputs);
        check(cudaGetLastError(), "noise");
      }
      delta_kernel<<<dim3(blocks_for(static_cast<std::size_t>(batch), threads), static_cast<unsigned>(count)), threads,
                     0, stream>>>(group, outputs);
      check(cudaGetLastError(), "delta");
      backward(group, g, first, count, batch, blas, stream);
    }
  }
}

}  // namespace pits::cuda
