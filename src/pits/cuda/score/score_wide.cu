#include "pits/cuda/score/score_wide.cuh"

#include <algorithm>

#include "pits/cuda/score/wide_outputs.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 256;
constexpr std::size_t layer_budget = std::size_t{8} << 30;  // bytes of the layers of the particles on their way

// Floats of a row of a layer's outputs: the outputs, a 1, zeros.
int output_stride(const LayerLayout& layer) { return round_up(layer.outputs + 1, 4); }

// Blocks (observation, realization).
__global__ void gather_kernel(const GroupView group, int batch, int step, float* contexts, std::int32_t* actions_taken,
                              float* rewards_received) {
  const int b = blockIdx.x, g = blockIdx.y;
  const TrainingState& training = group.training[g];
  const std::uint32_t n = kept(group, training);
  std::uint32_t slot = b;
  if (group.batch != 0) {
    const Address address{.seed = group.seed,
                          .realization = group.realization[g],
                          .purpose = Purpose::minibatch,
                          .step = training.first_step + step};
    slot = index_below(n, philox_words(address, b / 4)[b % 4]);
  }
  const std::size_t round = static_cast<std::size_t>(g) * group.rounds + round_of_slot(group, training, slot);
  const std::size_t to = static_cast<std::size_t>(g) * batch + b;
  for (int c = threadIdx.x; c < group.context_stride; c += blockDim.x) {
    contexts[to * group.context_stride + c] = group.contexts[round * group.context_stride + c];
  }
  if (threadIdx.x == 0) {
    actions_taken[to] = group.actions_taken[round];
    rewards_received[to] = group.rewards_received[round];
  }
}

// score = ∇ log p0, four parameters per thread; the gradients of the likelihood are added later.
__global__ void prior_kernel(const GroupView group) {
  const std::int64_t at = 4 * (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x);
  if (at >= group.network.stride) return;
  const NetworkLayout& network = group.network;
  float precision = 0.0F;
  for (int l = 0; l < network.layers; ++l) {
    if (at >= network.layer[l].offset) precision = network.layer[l].prior_precision;
  }
  const std::int64_t particle = blockIdx.y + static_cast<std::int64_t>(blockIdx.z) * gridDim.y;
  const std::int64_t index = particle * network.stride + at;
  const float4 theta = *reinterpret_cast<const float4*>(group.theta + index);
  float4 score = {-precision * theta.x, -precision * theta.y, -precision * theta.z, -precision * theta.w};
  if (network.noise_parameters > 0 && at >= network.noise_offset) {
    const auto of_noise = [&](int i, float x) {
      return at + i < network.noise_offset + network.noise_parameters ? -group.noise_prior * (x - group.noise_centre)
                                                                      : 0.0F;
    };
    score = {of_noise(0, theta.x), of_noise(1, theta.y), of_noise(2, theta.z), of_noise(3, theta.w)};
  }
  *reinterpret_cast<float4*>(group.score + index) = score;
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

// Wᵀ (inputs,rows) of a layer, for products whose factors both run along the summed index: tensor cores read TF32 no
// other way. Blocks (inputs, rows, particle) of 32×32.
__global__ void transpose_kernel(const float* W, int stride, std::int64_t step, int rows, int inputs, float* out) {
  __shared__ float tile[32][33];
  const float* from = W + blockIdx.z * step;
  const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  for (int i = 0; i < 32; i += 8) {
    if (row + i < rows && column < inputs)
      tile[threadIdx.y + i][threadIdx.x] = from[static_cast<std::int64_t>(row + i) * stride + column];
  }
  __syncthreads();
  const int to_row = blockIdx.x * 32 + threadIdx.y, to_column = blockIdx.y * 32 + threadIdx.x;
  float* to = out + blockIdx.z * static_cast<std::int64_t>(rows) * inputs;
  for (int i = 0; i < 32; i += 8) {
    if (to_row + i < inputs && to_column < rows)
      to[static_cast<std::int64_t>(to_row + i) * rows + to_column] = tile[threadIdx.x][threadIdx.y + i];
  }
}

BatchOf weights(const GroupView& group, float* of, int layer, int realization, int first) {
  const LayerLayout& l = group.network.layer[layer];
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
  const int layers = settings.network.layers;
  if (layers > 1 && bias_apart(settings.network.layer[layers - 2])) {
    s.sums = observation_slabs(most_observations) *
             static_cast<std::size_t>(output_stride(settings.network.layer[layers - 2]));
  }
  for (int l = 1; l + 1 < layers; ++l) {
    const LayerLayout& layer = settings.network.layer[l];
    s.transposed = std::max(s.transposed, static_cast<std::size_t>(layer.rows) * settings.network.layer[l - 1].rows);
  }
  const std::size_t each = s.floats() * sizeof(float);
  s.together =
      static_cast<int>(std::clamp<std::size_t>(layer_budget / each, 1, static_cast<std::size_t>(settings.particles)));
  return s;
}

std::size_t WideScore::bytes(const Settings& settings, int realizations, int most_observations) {
  const Sizes s = sizes(settings, realizations, most_observations);
  return s.batch * (static_cast<std::size_t>(settings.context_stride()) + 2) * 4 + s.together * s.floats() * 4;
}

WideScore::WideScore(const Settings& settings, int realizations, int most_observations)
    : sizes_(sizes(settings, realizations, most_observations)),
      contexts_(sizes_.batch * static_cast<std::size_t>(settings.context_stride())),
      actions_taken_(sizes_.batch),
      rewards_received_(sizes_.batch),
      layers_(sizes_.together * sizes_.layer),
      delta_{DeviceArray<float>(sizes_.together * sizes_.widest), DeviceArray<float>(sizes_.together * sizes_.widest)},
      sums_(sizes_.together * sizes_.sums),
      transposed_(sizes_.together * sizes_.transposed) {
  // Products leave the columns that pad a row alone, and fours of floats are read with them.
  for (DeviceArray<float>* rows : {&layers_, &delta_[0], &delta_[1]}) rows->fill_zero();
}

BatchOf WideScore::output(const GroupView& group, int layer, int batch) const {
  std::size_t before = 0;
  for (int l = 0; l < layer; ++l) before += static_cast<std::size_t>(output_stride(group.network.layer[l]));
  const int stride = output_stride(group.network.layer[layer]);
  const auto B = static_cast<std::size_t>(batch);
  return {layers_.data() + static_cast<std::size_t>(sizes_.together) * B * before, stride,
          static_cast<std::int64_t>(B) * stride};
}

BatchOf WideScore::input(const GroupView& group, int layer, int realization, int batch) const {
  if (layer > 0) return output(group, layer - 1, batch);
  const std::size_t floats = static_cast<std::size_t>(batch) * group.context_stride;
  return {contexts_.data() + realization * floats, group.context_stride, 0};
}

void WideScore::forward(const GroupView& group, int realization, int first, int count, int batch, Blas& blas,
                        cudaStream_t stream) {
  const int layers = group.network.layers, last = layers == 1 ? 0 : layers - 2;
  for (int l = 0; l <= last; ++l) {
    const LayerLayout& layer = group.network.layer[l];
    const BatchOf out = output(group, l, batch);
    blas.product_with_transposed({batch, layer.rows, layer.stride, count}, input(group, l, realization, batch),
                                 weights(group, group.theta, l, realization, first), 0.0F, out);
    if (l == last) break;  // outputs() takes it from here
    const std::int64_t rows = static_cast<std::int64_t>(count) * batch;
    activate_kernel<<<blocks_for(static_cast<std::size_t>(rows * out.stride / 4), threads), threads, 0, stream>>>(
        group.network.tanh, layer.outputs, out.stride, rows, out.data);
    check(cudaGetLastError(), "activate");
  }
}

void WideScore::outputs(const GroupView& group, int realization, int first, int count, int batch, cudaStream_t stream) {
  const int layers = group.network.layers;
  const BatchOf out = output(group, layers - 1, batch);
  const Outputs o{
      out.data, out.stride, batch, realization, first, count, actions_taken_.data(), rewards_received_.data()};
  if (layers == 1) {
    deltas_of_linear(group, o, stream);
  } else {
    const BatchOf z = output(group, layers - 2, batch);
    const bool apart = bias_apart(group.network.layer[layers - 2]);
    pass_outputs(group, o, {z.data, delta_[(layers - 1) % 2].data(), apart ? sums_.data() : nullptr, z.stride}, stream);
  }
  noise_gradient(group, o, stream);
}

// δ of the layer below, without its slope.
void WideScore::flow_down(const GroupView& group, int layer, int realization, int first, int count, int batch,
                          const BatchOf& delta, const BatchOf& below, Blas& blas, cudaStream_t stream) {
  const LayerLayout& l = group.network.layer[layer];
  const int inputs = group.network.layer[layer - 1].rows;
  const BatchOf W = weights(group, group.theta, layer, realization, first);
  const dim3 blocks(blocks_for(static_cast<std::size_t>(inputs), 32), blocks_for(static_cast<std::size_t>(l.rows), 32),
                    static_cast<unsigned>(count));
  transpose_kernel<<<blocks, dim3(32, 8), 0, stream>>>(W.data, W.stride, W.step, l.rows, inputs, transposed_.data());
  check(cudaGetLastError(), "transpose");
  blas.product_with_transposed({batch, inputs, l.rows, count}, delta,
                               {transposed_.data(), l.rows, static_cast<std::int64_t>(l.rows) * inputs}, 0.0F, below);
}

void WideScore::backward(const GroupView& group, int realization, int first, int count, int batch, Blas& blas,
                         cudaStream_t stream) {
  const int layers = group.network.layers;
  BatchOf delta = output(group, layers - 1, batch);
  for (int l = layers - 1; l >= 0; --l) {
    const LayerLayout& layer = group.network.layer[l];
    const BatchOf in = input(group, l, realization, batch);
    const int columns = l == layers - 2 && bias_apart(layer) ? layer.inputs : layer.stride;
    blas.transposed_product({layer.rows, columns, batch, count}, delta, in, 1.0F,
                            weights(group, group.score, l, realization, first));
    if (l == 0) break;
    const BatchOf below{delta_[l % 2].data(), in.stride, in.step};
    if (l < layers - 1) {  // else outputs() has done it
      flow_down(group, l, realization, first, count, batch, delta, below, blas, stream);
      const std::int64_t rows = static_cast<std::int64_t>(count) * batch;
      slope_kernel<<<blocks_for(static_cast<std::size_t>(rows * in.stride / 4), threads), threads, 0, stream>>>(
          group.network.tanh, layer.inputs, in.stride, rows, in.data, below.data);
      check(cudaGetLastError(), "slope");
    }
    delta = below;
  }
}

void WideScore::score(const GroupView& group, int batch, int step, Blas& blas, cudaStream_t stream) {
  gather_kernel<<<dim3(static_cast<unsigned>(batch), static_cast<unsigned>(group.realizations)), 64, 0, stream>>>(
      group, batch, step, contexts_.data(), actions_taken_.data(), rewards_received_.data());
  check(cudaGetLastError(), "gather");
  prior_kernel<<<dim3(blocks_for(static_cast<std::size_t>(group.network.stride) / 4, threads),
                      static_cast<unsigned>(group.particles), static_cast<unsigned>(group.realizations)),
                 threads, 0, stream>>>(group);
  check(cudaGetLastError(), "prior");
  const int parts = (group.particles + sizes_.together - 1) / sizes_.together;
  const int together = (group.particles + parts - 1) / parts;
  for (int g = 0; g < group.realizations; ++g) {
    for (int first = 0; first < group.particles; first += together) {
      const int count = std::min(together, group.particles - first);
      forward(group, g, first, count, batch, blas, stream);
      outputs(group, g, first, count, batch, stream);
      backward(group, g, first, count, batch, blas, stream);
    }
  }
}

}  // namespace pits::cuda
