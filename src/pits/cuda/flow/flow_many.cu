#include "pits/cuda/flow/flow_many.cuh"

#include <cub/device/device_radix_sort.cuh>

#include "pits/cuda/flow/pair_weights.cuh"
#include "pits/cuda/flow/rule.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 256;

std::size_t sort_bytes(int M) {
  std::size_t bytes = 0;
  check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, static_cast<const float*>(nullptr), static_cast<float*>(nullptr),
                                       M * M),
        "sort");
  return bytes;
}

// out = θ − mean over the particles of θ, and the same of θ′ with θ's mean.
__global__ void centre_kernel(const float* theta, const float* previous, int M, std::int64_t stride, float* centred,
                              float* centred_previous) {
  const std::int64_t l = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (l >= stride) return;
  float sum = 0.0F;
#pragma unroll 8
  for (int i = 0; i < M; ++i) sum += theta[i * stride + l];
  const float mean = sum / static_cast<float>(M);
#pragma unroll 8
  for (int i = 0; i < M; ++i) {
    centred[i * stride + l] = theta[i * stride + l] - mean;
    if (previous != nullptr) centred_previous[i * stride + l] = previous[i * stride + l] - mean;
  }
}

__device__ float block_sum(float x) {
  __shared__ float part[threads];
  part[threadIdx.x] = x;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = part[0];
  __syncthreads();
  return sum;
}

// One block per row.
__global__ void norm_kernel(const float* rows, std::int64_t stride, float* norm) {
  const float* row = rows + blockIdx.x * stride;
  float sum = 0.0F;
  for (std::int64_t l = threadIdx.x; l < stride; l += threads) sum = fmaf(row[l], row[l], sum);
  sum = block_sum(sum);
  if (threadIdx.x == 0) norm[blockIdx.x] = sum;
}

// ‖a_i‖² as the products have it: they round every factor, and so do the distances then.
__global__ void diagonal_kernel(const float* products, int M, int row, float* norm) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < M) norm[i] = products[static_cast<std::size_t>(i) * row + i];
}

// ‖a_i‖² + ‖b_j‖² − 2 a_i·b_j, in place of the products; exactly 0 between a row and itself. Keys: the same without
// gaps, the diagonal out of the way where it does not count.
__global__ void distance_kernel(const float* norm_a, const float* norm_b, int M, int row, bool same, Scale::Rule rule,
                                float* products, float* keys) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= M * M) return;
  const int i = index / M, j = index % M;
  float& x = products[static_cast<std::size_t>(i) * row + j];
  x = same && i == j ? 0.0F : fmaxf(norm_a[i] + norm_b[j] - 2.0F * x, 0.0F);
  keys[index] = rule == Scale::Rule::median_off_diagonal && i == j ? FLT_MAX : x;
}

__global__ void middle_kernel(const float* sorted, int M, Scale::Rule rule, double* out) {
  const int n = rule == Scale::Rule::median ? M * M : M * M - M;
  const double upper = sorted[n / 2];
  *out = n % 2 == 1 ? upper : 0.5 * (upper + static_cast<double>(sorted[n / 2 - 1]));
}

// k in place of d², and its row sums; one block per row.
__global__ void kernel_kernel(const FlowConfig f, const double* medians, int M, int row, float* d2, float* row_sum) {
  const Bandwidth bandwidth = bandwidth_of(f.bandwidth, medians[0], M);
  float* mine = d2 + static_cast<std::size_t>(blockIdx.x) * row;
  float sum = 0.0F;
  for (int j = threadIdx.x; j < M; j += threads) {
    mine[j] = kernel_at(bandwidth, mine[j]);
    sum += mine[j];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) row_sum[blockIdx.x] = sum;
}

// a, −p and −q, and the sums over j of p + q; one block per row.
__global__ void weights_kernel(const FlowConfig f, const double* medians, const float* k, const float* cost,
                               const float* row_sum, int M, int row, float* weights, float* pull) {
  const int i = blockIdx.x;
  const float slope = bandwidth_of(f.bandwidth, medians[0], M).slope;
  const std::size_t block = static_cast<std::size_t>(M) * row, at = static_cast<std::size_t>(i) * row;
  const float share = 1.0F / static_cast<float>(M);
  float sum = 0.0F;
  for (int j = threadIdx.x; j < row; j += threads) {
    float a = 0.0F, p = 0.0F, q = 0.0F;
    if (j < M) {
      a = f.score_at == ScoreAt::neighbour ? share * k[at + j] : i == j ? share * row_sum[i] : 0.0F;
      p = repulsion(f, slope, M, k[at + j], row_sum[i], row_sum[j]);
      if (has_transport(f)) q = transport(f, cost[at + j], medians[1], M);
    }
    sum += p + q;
    weights[at + j] = a;
    weights[block + at + j] = -p;
    weights[2 * block + at + j] = -q;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) pull[i] = sum;
}

// Along velocity + pull ⊙ centred, without the latter where pull is null; four parameters per thread. Blocks (columns,
// particle).
__global__ void move_kernel(const GroupView group, const FlowState state, int g, const float* velocity,
                            const float* pull, const float* centred, int step) {
  const std::int64_t column = 4 * (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x);
  if (column >= group.network.stride) return;
  const int i = blockIdx.y;
  const std::int64_t l = i * group.network.stride + column, at = g * group.particles * group.network.stride + l;
  const TrainingState& training = group.training[g];
  if (training.trains == 0) return;
  const std::uint32_t k = training.first_step + step;
  const float4 before = *reinterpret_cast<const float4*>(group.theta + at);
  float4 v = *reinterpret_cast<const float4*>(velocity + l);
  if (pull != nullptr) {
    const float4 y = *reinterpret_cast<const float4*>(centred + l);
    v = {fmaf(pull[i], y.x, v.x), fmaf(pull[i], y.y, v.y), fmaf(pull[i], y.z, v.z), fmaf(pull[i], y.w, v.w)};
  }
  const float4 now = moved_four(state, state.steps[k], before, v, at);
  if (!safe(now) && state.diverged[g] == 0) state.diverged[g] = static_cast<int>(k + 1);
  *reinterpret_cast<float4*>(group.theta + at) = now;
  if (has_transport(state.flow) && (k + 1) % state.flow.inner_steps == 0) {
    *reinterpret_cast<float4*>(state.previous + at) = state.flow.inner_steps > 1 ? now : before;
  }
}

std::size_t cloud_floats(const Settings& s) {
  return static_cast<std::size_t>(s.particles) * static_cast<std::size_t>(s.network.stride);
}
std::size_t pair_floats(const Settings& s) {
  return static_cast<std::size_t>(s.particles) * static_cast<std::size_t>(round_up(s.particles, 4));
}

}  // namespace

std::size_t ManyFlow::bytes(const Settings& s) {
  if (!has_pairs(s.flow)) return 0;
  const auto M = static_cast<std::size_t>(s.particles);
  const std::size_t clouds = has_transport(s.flow) ? 3 : 2;
  return (clouds * cloud_floats(s) + 5 * pair_floats(s) + 2 * M * M + 4 * M) * 4 + sort_bytes(s.particles) + 16;
}

ManyFlow::ManyFlow(const Settings& s) {
  if (!has_pairs(s.flow)) return;
  const auto M = static_cast<std::size_t>(s.particles);
  centred_ = DeviceArray<float>(cloud_floats(s));
  if (has_transport(s.flow)) previous_ = DeviceArray<float>(cloud_floats(s));
  velocity_ = DeviceArray<float>(cloud_floats(s));
  norm_ = DeviceArray<float>(2 * M);
  d2_ = DeviceArray<float>(pair_floats(s));
  cost_ = DeviceArray<float>(pair_floats(s));
  row_sum_ = DeviceArray<float>(M);
  pull_ = DeviceArray<float>(M);
  weights_ = DeviceArray<float>(3 * pair_floats(s));
  keys_ = DeviceArray<float>(2 * M * M);
  medians_ = DeviceArray<double>(2);
  medians_.fill_zero();
  sorting_bytes_ = sort_bytes(s.particles);
  sorting_ = DeviceArray<char>(sorting_bytes_);
}

void ManyFlow::median(int M, Scale::Rule rule, double* out, cudaStream_t stream) {
  if (rule == Scale::Rule::fixed) return;
  check(cub::DeviceRadixSort::SortKeys(sorting_.data(), sorting_bytes_, static_cast<const float*>(keys_.data()),
                                       keys_.data() + static_cast<std::size_t>(M) * M, M * M, 0, 32, stream),
        "sort");
  middle_kernel<<<1, 1, 0, stream>>>(keys_.data() + static_cast<std::size_t>(M) * M, M, rule, out);
  check(cudaGetLastError(), "median");
}

void ManyFlow::squared_distances(const GroupView& group, bool to_previous, Blas& blas, cudaStream_t stream) {
  const int M = group.particles, row = round_up(M, 4), P = static_cast<int>(group.network.stride);
  const DeviceArray<float>& other = to_previous ? previous_ : centred_;
  if (to_previous) {
    norm_kernel<<<static_cast<unsigned>(M), threads, 0, stream>>>(other.data(), P, norm_.data() + M);
    check(cudaGetLastError(), "norms");
  }
  blas.product_with_transposed({M, M, P, 1}, {centred_.data(), P, 0}, {other.data(), P, 0}, 0.0F,
                               {(to_previous ? cost_ : d2_).data(), row, 0});
  if (!to_previous) {
    diagonal_kernel<<<blocks_for(static_cast<std::size_t>(M), threads), threads, 0, stream>>>(d2_.data(), M, row,
                                                                                              norm_.data());
    check(cudaGetLastError(), "norms");
  }
}

// velocity = a · G − p · y − q · y′
void ManyFlow::add_products(const FlowConfig& f, int M, int P, float* score, Blas& blas, cudaStream_t stream) {
  const int row = round_up(M, 4);
  const std::size_t block = static_cast<std::size_t>(M) * row;
  const ProductShape shape{M, P, M, 1};
  const BatchOf velocity{velocity_.data(), P, 0};
  if (smooths_scores(f)) {
    blas.product(shape, {weights_.data(), row, 0}, {score, P, 0}, 0.0F, velocity);
  } else {
    check(cudaMemcpyAsync(velocity_.data(), score, velocity_.size() * sizeof(float), cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpyAsync");
  }
  if (f.kind != FlowKind::dgf_released) {
    blas.product(shape, {weights_.data() + block, row, 0}, {centred_.data(), P, 0}, 1.0F, velocity);
  }
  if (has_transport(f))
    blas.product(shape, {weights_.data() + 2 * block, row, 0}, {previous_.data(), P, 0}, 1.0F, velocity);
}

void ManyFlow::step(const GroupView& group, const FlowState& state, int step, Blas& blas, cudaStream_t stream) {
  const int M = group.particles, row = round_up(M, 4), P = static_cast<int>(group.network.stride);
  const std::int64_t cloud = static_cast<std::int64_t>(M) * P;
  const FlowConfig& f = state.flow;
  const auto rows = static_cast<unsigned>(M);
  const unsigned pairs = blocks_for(static_cast<std::size_t>(M) * M, threads);
  for (int g = 0; g < group.realizations; ++g) {
    float* score = group.score + g * cloud;
    if (has_pairs(f)) {
      centre_kernel<<<blocks_for(static_cast<std::size_t>(P), threads), threads, 0, stream>>>(
          group.theta + g * cloud, has_transport(f) ? state.previous + g * cloud : nullptr, M, P, centred_.data(),
          previous_.data());
      check(cudaGetLastError(), "centre");
      squared_distances(group, false, blas, stream);
      distance_kernel<<<pairs, threads, 0, stream>>>(norm_.data(), norm_.data(), M, row, true, f.bandwidth.rule,
                                                     d2_.data(), keys_.data());
      median(M, f.bandwidth.rule, medians_.data(), stream);
      if (has_transport(f)) {
        squared_distances(group, true, blas, stream);
        distance_kernel<<<pairs, threads, 0, stream>>>(norm_.data(), norm_.data() + M, M, row, false, transport_rule(f),
                                                       cost_.data(), keys_.data());
        median(M, transport_rule(f), medians_.data() + 1, stream);
      }
      kernel_kernel<<<rows, threads, 0, stream>>>(f, medians_.data(), M, row, d2_.data(), row_sum_.data());
      weights_kernel<<<rows, threads, 0, stream>>>(f, medians_.data(), d2_.data(), cost_.data(), row_sum_.data(), M,
                                                   row, weights_.data(), pull_.data());
      check(cudaGetLastError(), "weights");
      add_products(f, M, P, score, blas, stream);
    }
    const dim3 blocks(blocks_for(static_cast<std::size_t>(P) / 4, threads), rows);
    move_kernel<<<blocks, threads, 0, stream>>>(group, state, g, has_pairs(f) ? velocity_.data() : score,
                                                has_pairs(f) ? pull_.data() : nullptr, centred_.data(), step);
    check(cudaGetLastError(), "move");
  }
}

}  // namespace pits::cuda
