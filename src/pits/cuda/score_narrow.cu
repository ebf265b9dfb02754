#include "pits/cuda/score_narrow.cuh"

#include "pits/cuda/device_array.cuh"
#include "pits/cuda/tensor.cuh"

namespace pits::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int units = 64;         // hidden units with the one that is always 1 and carries the output's bias
constexpr int unit_tiles = units / 16;
constexpr int most_actions = 16;
constexpr int action_tiles = most_actions / 8;
constexpr int output_stride = 72;  // of a row of output weights in shared memory: rows of other actions, other banks
constexpr int chunk = 256;         // observations on their way together
constexpr int own_tiles = chunk / 8 / warps;  // tiles of eight observations that a warp carries forward
constexpr int most_columns = 448;

// Rows 16 floats (mod 32) apart let the eight lanes of a 16-byte load hit all banks.
__host__ __device__ constexpr int weight_stride(int columns) { return columns % 32 == 0 ? columns + 16 : columns; }

// Shared memory: W (units, weight_stride), V (most_actions, output_stride), the fragments of D (chunk · units), the
// rounds, actions and rewards of the chunk, 1/σ² of each action, sums of the noise's gradient.
struct Shared {
  float* W;
  float* V;
  float4* D;
  std::uint32_t* round;
  std::int32_t* action;  // negative: beyond the minibatch
  float* reward;
  float* precision;
  float* noise;  // (warps, most_actions)
};

constexpr std::size_t shared_bytes(int columns) {
  const std::size_t floats = static_cast<std::size_t>(units) * weight_stride(columns) + most_actions * output_stride +
                             chunk * units + 3 * chunk + most_actions + warps * most_actions;
  return floats * sizeof(float);
}

__device__ Shared carve(float* memory, int columns) {
  Shared s{};
  s.W = memory;
  s.V = s.W + units * weight_stride(columns);
  s.D = reinterpret_cast<float4*>(s.V + most_actions * output_stride);
  s.round = reinterpret_cast<std::uint32_t*>(s.D + chunk * units / 4);
  s.action = reinterpret_cast<std::int32_t*>(s.round + chunk);
  s.reward = reinterpret_cast<float*>(s.action + chunk);
  s.precision = s.reward + chunk;
  s.noise = s.precision + most_actions;
  return s;
}

template <bool Accurate>
__device__ void load_weights(const Group& group, const float* theta, int columns, const Shared& s) {
  const CardLayer& hidden = group.network.layer[0];
  const CardLayer& output = group.network.layer[1];
  const int stride = weight_stride(columns);
  for (int i = threadIdx.x; i < units * (stride / 4); i += threads) {
    const int row = i / (stride / 4), column = i % (stride / 4) * 4;
    float4 w{};
    if (row < hidden.outputs && column < hidden.stride) {
      w = *reinterpret_cast<const float4*>(theta + hidden.offset + row * hidden.stride + column);
    }
    *reinterpret_cast<float4*>(s.W + row * stride + column) = {storable<Accurate>(w.x), storable<Accurate>(w.y),
                                                               storable<Accurate>(w.z), storable<Accurate>(w.w)};
  }
  for (int i = threadIdx.x; i < most_actions * output_stride; i += threads) {
    const int row = i / output_stride, column = i % output_stride;
    const bool inside = row < output.outputs && column < output.stride;
    s.V[i] = inside ? theta[output.offset + row * output.stride + column] : 0.0F;
  }
  if (threadIdx.x < most_actions) {
    float precision = group.noise_precision;
    if (group.network.noise_parameters > 0 && threadIdx.x < output.outputs) {
      const int of = group.network.noise_parameters == 1 ? 0 : static_cast<int>(threadIdx.x);
      precision = expf(-2.0F * theta[group.network.noise_offset + of]);
    }
    s.precision[threadIdx.x] = precision;
  }
}

// The observations first .. first+chunk−1 of the minibatch of training step k.
__device__ void draw_chunk(const Group& group, int realization, std::uint32_t k, std::uint32_t seen, std::uint32_t first,
                           std::uint32_t batch, const Shared& s) {
  const std::uint32_t n = kept(group, seen);
  const std::size_t rounds = static_cast<std::size_t>(realization) * group.rounds;
  for (std::uint32_t four = threadIdx.x; four < chunk / 4; four += threads) {
    const Address address{.seed = group.seed,
                          .realization = group.realization[realization],
                          .purpose = Purpose::minibatch,
                          .step = k};
    const auto words = philox_words(address, first / 4 + four);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t b = 4 * four + i;
      const bool inside = first + b < batch;
      const std::uint32_t slot = !inside ? 0 : group.batch == 0 ? first + b : index_below(n, words[i]);
      const std::uint32_t round = round_of_slot(group, seen, slot);
      s.round[b] = round;
      s.action[b] = inside ? group.played[rounds + round] : -1;
      s.reward[b] = group.gained[rounds + round];
    }
  }
}

// z(u, b) = Σ_c W(u,c) x(b,c) for the warp's observations; 16 columns at a time, whose summed index is renamed so that a
// lane's four columns are one load: product 0 sums over columns 4t and 4t+1, product 1 over 4t+2 and 4t+3.
template <bool Accurate>
__device__ void forward(const Group& group, const float* contexts, int columns, const Shared& s,
                        float (&z)[unit_tiles][own_tiles][4]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int stride = weight_stride(columns);
  const float4* x[own_tiles];
  float4 next[own_tiles];
#pragma unroll
  for (int n = 0; n < own_tiles; ++n) {
    const std::size_t row = s.round[(warp * own_tiles + n) * 8 + g];
    x[n] = reinterpret_cast<const float4*>(contexts + row * group.context_stride) + t;
    next[n] = __ldg(x[n]);
  }
#pragma unroll 1
  for (int j = 0; j < columns / 16; ++j) {
    Operand<2, Accurate> b[own_tiles][2];
#pragma unroll
    for (int n = 0; n < own_tiles; ++n) {
      b[n][0].set(0, next[n].x);
      b[n][0].set(1, next[n].y);
      b[n][1].set(0, next[n].z);
      b[n][1].set(1, next[n].w);
      if (16 * (j + 1) < columns) next[n] = __ldg(x[n] + 4 * (j + 1));
    }
#pragma unroll
    for (int m = 0; m < unit_tiles; ++m) {
      const float4 above = *reinterpret_cast<const float4*>(s.W + (16 * m + g) * stride + 16 * j + 4 * t);
      const float4 below = *reinterpret_cast<const float4*>(s.W + (16 * m + g + 8) * stride + 16 * j + 4 * t);
      Operand<4, Accurate> a[2];
      a[0].set_rounded(0, above.x);
      a[0].set_rounded(1, below.x);
      a[0].set_rounded(2, above.y);
      a[0].set_rounded(3, below.y);
      a[1].set_rounded(0, above.z);
      a[1].set_rounded(1, below.z);
      a[1].set_rounded(2, above.w);
      a[1].set_rounded(3, below.w);
#pragma unroll
      for (int n = 0; n < own_tiles; ++n) multiply_add<Accurate>(z[m][n], a[0], b[n][0]);
#pragma unroll
      for (int n = 0; n < own_tiles; ++n) multiply_add<Accurate>(z[m][n], a[1], b[n][1]);
    }
  }
}

// h = f(z) in place; unit H is 1.
__device__ void activate(const CardNetwork& network, float (&z)[unit_tiles][own_tiles][4]) {
  const int g = threadIdx.x % 32 / 4;
#pragma unroll
  for (int m = 0; m < unit_tiles; ++m) {
#pragma unroll
    for (int n = 0; n < own_tiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float h = network.tanh ? tanhf(z[m][n][i]) : fmaxf(z[m][n][i], 0.0F);
        z[m][n][i] = 16 * m + g + 8 * (i / 2) == network.layer[0].outputs ? 1.0F : h;
      }
    }
  }
}

// The output of the played action and what flows back from it, for tile n of the warp: adds to the gradient of V, turns
// h into D = δ V(a,·) ⊙ f′ and stores it as fragments of the next product's left factor.
template <bool Accurate>
__device__ void through_output(const Group& group, float scale, const Shared& s, int n,
                               float (&h)[unit_tiles][own_tiles][4], float (&gradient)[unit_tiles][action_tiles][4],
                               float (&noise)[action_tiles]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int tile = warp * own_tiles + n;
  int action[2];
  float v[2][unit_tiles][2], m[2] = {0.0F, 0.0F}, delta[2], surprise[2];
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    action[c] = s.action[8 * tile + 2 * t + c];
    const float* row = s.V + max(action[c], 0) * output_stride + g;
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        v[c][u][r] = row[16 * u + 8 * r];
        m[c] = fmaf(h[u][n][2 * r + c], v[c][u][r], m[c]);
      }
    }
#pragma unroll
    for (int step = 4; step < 32; step *= 2) m[c] += __shfl_xor_sync(0xFFFFFFFFU, m[c], step);
    const float precision = s.precision[max(action[c], 0)], reward = s.reward[8 * tile + 2 * t + c];
    delta[c] = action[c] < 0 ? 0.0F : output_delta(group, scale, precision, reward, m[c]);
    surprise[c] = action[c] < 0 ? 0.0F : scale * ((reward - m[c]) * (reward - m[c]) * precision - 1.0F);
  }
#pragma unroll
  for (int q = 0; q < action_tiles; ++q) {
    const bool mine[2] = {action[0] == 8 * q + g, action[1] == 8 * q + g};
    noise[q] += (mine[0] ? surprise[0] : 0.0F) + (mine[1] ? surprise[1] : 0.0F);
    if (8 * q >= group.actions) continue;
    Operand<2, Accurate> b;
    b.set(0, mine[0] ? delta[0] : 0.0F);
    b.set(1, mine[1] ? delta[1] : 0.0F);
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
      Operand<4, Accurate> a;
      a.set(0, h[u][n][0]);
      a.set(1, h[u][n][2]);
      a.set(2, h[u][n][1]);
      a.set(3, h[u][n][3]);
      multiply_add<Accurate>(gradient[u][q], a, b);
    }
  }
#pragma unroll
  for (int u = 0; u < unit_tiles; ++u) {
    float d[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float slope = group.network.tanh ? 1.0F - h[u][n][i] * h[u][n][i] : (h[u][n][i] > 0.0F ? 1.0F : 0.0F);
      d[i] = storable<Accurate>(delta[i % 2] * v[i % 2][u][i / 2] * slope);
    }
    s.D[(tile * unit_tiles + u) * 32 + lane] = {d[0], d[2], d[1], d[3]};
  }
}

// sum(u, c) = Σ_b D(u,b) x(b,c) over the chunk; the warp owns Tiles tiles of eight columns, and every Parts-th tile of
// eight observations, in which observations 2t and 2t+1 stand at t and t+4 of the summed index.
template <int Tiles, int Parts, bool Accurate>
__device__ void backward(const Group& group, const float* contexts, int columns, const Shared& s,
                         float (&sum)[unit_tiles][Tiles][4]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  constexpr int column_warps = warps / Parts;
  const int first = warp % column_warps * Tiles * 8 + g;
  float next[Tiles][2];
  const auto load = [&](int tile) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const std::size_t row = s.round[8 * tile + 2 * t + c];
      const float* x = contexts + row * group.context_stride + first;
#pragma unroll
      for (int n = 0; n < Tiles; ++n) next[n][c] = first + 8 * n < columns ? __ldg(x + 8 * n) : 0.0F;
    }
  };
  int tile = warp / column_warps;
  load(tile);
#pragma unroll 1
  for (; tile < chunk / 8; tile += Parts) {
    Operand<2, Accurate> b[Tiles];
#pragma unroll
    for (int n = 0; n < Tiles; ++n) {
      b[n].set(0, next[n][0]);
      b[n].set(1, next[n][1]);
    }
    if (tile + Parts < chunk / 8) load(tile + Parts);
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
      const float4 d = s.D[(tile * unit_tiles + u) * 32 + lane];
      Operand<4, Accurate> a;
      a.set_rounded(0, d.x);
      a.set_rounded(1, d.y);
      a.set_rounded(2, d.z);
      a.set_rounded(3, d.w);
#pragma unroll
      for (int n = 0; n < Tiles; ++n) multiply_add<Accurate>(sum[u][n], a, b[n]);
    }
  }
}

// The first chunk brings the prior, later ones add to what is there.
__device__ void store_pair(const CardLayer& layer, int row, int column, float first, float second, bool add,
                           const float* theta, float* score) {
  if (row >= layer.outputs || column >= layer.stride) return;
  const std::int64_t at = layer.offset + static_cast<std::int64_t>(row) * layer.stride + column;
  const float2 there = *reinterpret_cast<const float2*>((add ? score : theta) + at);
  const float factor = add ? 1.0F : -layer.prior_precision;
  *reinterpret_cast<float2*>(score + at) = {fmaf(factor, there.x, first), fmaf(factor, there.y, second)};
}

// The gradient of W of one chunk: parts of the observations are added up in order.
template <int Tiles, int Parts>
__device__ void store_weights(const Group& group, const Shared& s, const float (&sum)[unit_tiles][Tiles][4], bool add,
                              const float* theta, float* score) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  constexpr int column_warps = warps / Parts;
  const int columns_of = warp % column_warps, part = warp / column_warps;
  const auto store = [&](int u, int n, const float4& x) {
    const int column = (columns_of * Tiles + n) * 8 + 2 * t;
    store_pair(group.network.layer[0], 16 * u + g, column, x.x, x.y, add, theta, score);
    store_pair(group.network.layer[0], 16 * u + g + 8, column, x.z, x.w, add, theta, score);
  };
  if constexpr (Parts == 1) {
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
#pragma unroll
      for (int n = 0; n < Tiles; ++n) store(u, n, {sum[u][n][0], sum[u][n][1], sum[u][n][2], sum[u][n][3]});
    }
  } else {
    constexpr int items = unit_tiles * Tiles;
    __syncthreads();  // D is read no more
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const float(&x)[4] = sum[i / Tiles][i % Tiles];
      s.D[((part * column_warps + columns_of) * items + i) * 32 + lane] = {x[0], x[1], x[2], x[3]};
    }
    __syncthreads();
    for (int i = part; i < items; i += Parts) {
      float4 total{};
      for (int p = 0; p < Parts; ++p) {
        const float4 x = s.D[((p * column_warps + columns_of) * items + i) * 32 + lane];
        total = {total.x + x.x, total.y + x.y, total.z + x.z, total.w + x.w};
      }
      store(i / Tiles, i % Tiles, total);
    }
  }
}

// The gradients of V and of log σ, of all warps in order.
__device__ void store_outputs(const Group& group, const Shared& s,
                              const float (&gradient)[unit_tiles][action_tiles][4], const float (&noise)[action_tiles],
                              const float* theta, float* score) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  constexpr int items = unit_tiles * action_tiles;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const float(&x)[4] = gradient[i / action_tiles][i % action_tiles];
    s.D[(warp * items + i) * 32 + lane] = {x[0], x[1], x[2], x[3]};
  }
#pragma unroll
  for (int q = 0; q < action_tiles; ++q) {
    float sum = noise[q];
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 1);
    sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 2);
    if (t == 0) s.noise[warp * most_actions + 8 * q + g] = sum;
  }
  __syncthreads();
  const CardLayer& layer = group.network.layer[1];
  for (int i = warp; i < items; i += warps) {
    float total[4] = {};
    for (int w = 0; w < warps; ++w) {
      const float4 x = s.D[(w * items + i) * 32 + lane];
      total[0] += x.x, total[1] += x.y, total[2] += x.z, total[3] += x.w;
    }
    for (int e = 0; e < 4; ++e) {
      const int unit = 16 * (i / action_tiles) + g + 8 * (e / 2), action = 8 * (i % action_tiles) + 2 * t + e % 2;
      if (unit >= layer.stride || action >= layer.outputs) continue;
      const std::int64_t at = layer.offset + static_cast<std::int64_t>(action) * layer.stride + unit;
      score[at] = fmaf(-layer.prior_precision, theta[at], total[e]);
    }
  }
  const CardNetwork& network = group.network;
  if (static_cast<int>(threadIdx.x) < network.noise_parameters) {
    const int actions_of = network.noise_parameters == 1 ? layer.outputs : 1;
    float sum = 0.0F;
    for (int a = threadIdx.x; a < static_cast<int>(threadIdx.x) + actions_of; ++a) {
      for (int w = 0; w < warps; ++w) sum += s.noise[w * most_actions + a];
    }
    const std::int64_t at = network.noise_offset + threadIdx.x;
    score[at] = sum - group.noise_prior * (theta[at] - group.noise_centre);
  }
}

template <int Tiles, int ColumnWarps, bool Accurate>
__global__ void __launch_bounds__(threads, Tiles <= 3 ? 2 : 1) score_kernel(const Group group, int step) {
  extern __shared__ float4 memory[];
  constexpr int parts = warps / ColumnWarps;
  const int columns = group.context_stride;
  const Shared s = carve(reinterpret_cast<float*>(memory), columns);
  const int realization = blockIdx.x / group.particles;
  const float* theta = group.theta + blockIdx.x * group.network.stride;
  float* score = group.score + blockIdx.x * group.network.stride;
  const float* contexts = group.contexts + static_cast<std::size_t>(realization) * group.rounds * columns;

  const std::uint32_t seen = group.training->seen;
  const std::uint32_t n = kept(group, seen);
  const std::uint32_t batch = group.batch == 0 ? n : static_cast<std::uint32_t>(group.batch);
  const float scale = likelihood_scale(group, n, batch);
  load_weights<Accurate>(group, theta, columns, s);

  float output_gradient[unit_tiles][action_tiles][4] = {};
  float noise[action_tiles] = {};
  for (std::uint32_t first = 0; first < batch; first += chunk) {
    __syncthreads();  // the last chunk is read no more
    draw_chunk(group, realization, group.training->first_step + step, seen, first, batch, s);
    __syncthreads();
    {
      float h[unit_tiles][own_tiles][4] = {};
      forward<Accurate>(group, contexts, columns, s, h);
      activate(group.network, h);
#pragma unroll
      for (int tile = 0; tile < own_tiles; ++tile) {
        through_output<Accurate>(group, scale, s, tile, h, output_gradient, noise);
      }
    }
    __syncthreads();
    float sum[unit_tiles][Tiles][4] = {};
    backward<Tiles, parts, Accurate>(group, contexts, columns, s, sum);
    store_weights<Tiles, parts>(group, s, sum, first > 0, theta, score);
  }
  store_outputs(group, s, output_gradient, noise, theta, score);
}

template <int Tiles, int ColumnWarps, bool Accurate>
void launch(const Group& group, int step, cudaStream_t stream) {
  const auto kernel = score_kernel<Tiles, ColumnWarps, Accurate>;
  const std::size_t bytes = shared_bytes(group.context_stride);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "score: shared memory");
  const auto blocks = static_cast<unsigned>(group.realizations * group.particles);
  kernel<<<blocks, threads, bytes, stream>>>(group, step);
  check(cudaGetLastError(), "score");
}

// The fewest accumulators that cover the columns: Tiles · ColumnWarps · 8 of them.
template <bool Accurate>
void launch_for(const Group& group, int step, cudaStream_t stream) {
  const int columns = group.context_stride;
  if (columns <= 16) return launch<2, 1, Accurate>(group, step, stream);
  if (columns <= 32) return launch<2, 2, Accurate>(group, step, stream);
  if (columns <= 64) return launch<2, 4, Accurate>(group, step, stream);
  if (columns <= 96) return launch<3, 4, Accurate>(group, step, stream);
  if (columns <= 128) return launch<2, 8, Accurate>(group, step, stream);
  if (columns <= 192) return launch<3, 8, Accurate>(group, step, stream);
  if (columns <= 256) return launch<4, 8, Accurate>(group, step, stream);
  return launch<7, 8, Accurate>(group, step, stream);
}

}  // namespace

bool is_narrow(const CardNetwork& network, int context_stride) {
  return network.layers == 2 && network.layer[0].outputs < units && network.layer[1].outputs <= most_actions &&
         context_stride <= most_columns;
}

void score_narrow(const Group& group, CardPrecision precision, int step, cudaStream_t stream) {
  if (precision == CardPrecision::float32) return launch_for<true>(group, step, stream);
  launch_for<false>(group, step, stream);
}

}  // namespace pits::cuda
