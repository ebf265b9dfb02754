#include "pits/cuda/score_narrow.cuh"

#include "pits/cuda/device_array.cuh"
#include "pits/cuda/tensor.cuh"

namespace pits::cuda {
namespace {

constexpr int units = 64;  // hidden units with the one that is always 1 and carries the output's bias
constexpr int unit_tiles = units / 16;
constexpr int most_actions = 16;
constexpr int output_stride = 72;  // of a row of output weights in shared memory: rows of other actions, other banks
constexpr int own_tiles = 2;       // tiles of eight observations that a warp carries forward
constexpr int most_columns = 448;
constexpr int drawn_together = 512;  // observations of a minibatch that are looked up at once

// How the warps of a block share the work. Forward, each carries its own observations. Backward, Columns warps side by
// side own Tiles tiles of eight columns each, and the rest take parts of the observations. Actions: tiles of eight.
template <int Warps, int Columns, int Tiles, int Actions>
struct Split {
  static constexpr int warps = Warps, columns = Columns, tiles = Tiles, actions = Actions;
  static constexpr int threads = 32 * Warps;
  static constexpr int chunk = 8 * own_tiles * Warps;  // observations on their way together
  static constexpr int parts = Warps / Columns;
  static constexpr int ahead = Tiles <= 2 ? 4 : 1;  // loads on their way while products are formed
  static_assert(drawn_together % chunk == 0);
};

// Rows 16 floats (mod 32) apart let the eight lanes of a 16-byte load hit all banks.
__host__ __device__ constexpr int weight_stride(int columns) { return columns % 32 == 0 ? columns + 16 : columns; }

// Shared memory: W (units, weight_stride), V (most_actions, output_stride), the fragments of D (chunk · units), the
// rounds, actions and rewards of drawn_together observations, 1/σ² of each action, sums of the noise's gradient. D also holds what warps
// add up: at most as much.
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

template <class S>
constexpr std::size_t shared_bytes(int columns) {
  static_assert(S::parts == 1 || unit_tiles * S::tiles <= 8, "the parts do not fit into D");
  const std::size_t floats = static_cast<std::size_t>(units) * weight_stride(columns) + most_actions * output_stride +
                             S::chunk * units + 3 * drawn_together + most_actions + S::warps * most_actions;
  return floats * sizeof(float);
}

template <class S>
__device__ Shared carve(float* memory, int columns) {
  Shared s{};
  s.W = memory;
  s.V = s.W + units * weight_stride(columns);
  s.D = reinterpret_cast<float4*>(s.V + most_actions * output_stride);
  s.round = reinterpret_cast<std::uint32_t*>(s.D + S::chunk * units / 4);
  s.action = reinterpret_cast<std::int32_t*>(s.round + drawn_together);
  s.reward = reinterpret_cast<float*>(s.action + drawn_together);
  s.precision = s.reward + drawn_together;
  s.noise = s.precision + most_actions;
  return s;
}

template <class S, bool Accurate>
__device__ void load_weights(const Group& group, const float* theta, int columns, const Shared& s) {
  const CardLayer& hidden = group.network.layer[0];
  const CardLayer& output = group.network.layer[1];
  const int stride = weight_stride(columns), lane = threadIdx.x % 32;
  for (int row = threadIdx.x / 32; row < units; row += S::warps) {
    for (int column = 4 * lane; column < stride; column += 4 * 32) {
      float4 w{};
      if (row < hidden.outputs && column < hidden.stride) {
        w = *reinterpret_cast<const float4*>(theta + hidden.offset + row * hidden.stride + column);
      }
      *reinterpret_cast<float4*>(s.W + row * stride + column) = {storable<Accurate>(w.x), storable<Accurate>(w.y),
                                                                 storable<Accurate>(w.z), storable<Accurate>(w.w)};
    }
  }
  for (int i = threadIdx.x; i < most_actions * output_stride; i += S::threads) {
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

// The observations first .. first+drawn_together−1 of the minibatch of training step k.
template <class S>
__device__ void draw_observations(const Group& group, int realization, std::uint32_t k, std::uint32_t seen, std::uint32_t first,
                           std::uint32_t batch, const Shared& s) {
  const std::uint32_t n = kept(group, seen);
  const std::size_t rounds = static_cast<std::size_t>(realization) * group.rounds;
  for (std::uint32_t four = threadIdx.x; four < drawn_together / 4; four += S::threads) {
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
      s.reward[b] = inside ? group.gained[rounds + round] : 0.0F;
    }
  }
}

// z(u, b) = Σ_c W(u,c) x(b,c) for the warp's observations, from `chunk` on; 16 columns at a time, whose summed index is
// renamed so that a lane's four columns are one load: product 0 sums over columns 4t and 4t+1, product 1 over 4t+2 and
// 4t+3.
template <bool Accurate>
__device__ void forward(const Group& group, const float* contexts, int columns, const Shared& s, int chunk,
                        float (&z)[unit_tiles][own_tiles][4]) {
  constexpr int ahead = 2;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int stride = weight_stride(columns), groups = columns / 16;
  const float4* x[own_tiles];
  float4 next[ahead][own_tiles];
#pragma unroll
  for (int n = 0; n < own_tiles; ++n) {
    const std::uint32_t row = s.round[chunk + (warp * own_tiles + n) * 8 + g];
    x[n] = reinterpret_cast<const float4*>(contexts + row * static_cast<std::uint32_t>(group.context_stride)) + t;
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      if (r < groups) next[r][n] = __ldg(x[n] + 4 * r);
    }
  }
  const float* w = s.W + g * stride + 4 * t;
#pragma unroll 1
  for (int first = 0; first < groups; first += ahead) {
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      if (first + r >= groups) break;
      Operand<2, Accurate> b[own_tiles][2];
#pragma unroll
      for (int n = 0; n < own_tiles; ++n) {
        b[n][0].set(0, next[r][n].x);
        b[n][0].set(1, next[r][n].y);
        b[n][1].set(0, next[r][n].z);
        b[n][1].set(1, next[r][n].w);
        if (first + r + ahead < groups) next[r][n] = __ldg(x[n] + 4 * (first + r + ahead));
      }
#pragma unroll
      for (int m = 0; m < unit_tiles; ++m) {
        const float4 above = *reinterpret_cast<const float4*>(w + 16 * m * stride);
        const float4 below = *reinterpret_cast<const float4*>(w + (16 * m + 8) * stride);
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
      w += 16;
    }
  }
}

// h = f(z) in place; unit H is 1.
__device__ void activate(const CardNetwork& network, float (&z)[unit_tiles][own_tiles][4]) {
  const int g = threadIdx.x % 32 / 4;
  const auto each = [&](const auto& f) {
#pragma unroll
    for (int m = 0; m < unit_tiles; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool one = 16 * m + g + 8 * (i / 2) == network.layer[0].outputs;
#pragma unroll
        for (int n = 0; n < own_tiles; ++n) z[m][n][i] = one ? 1.0F : f(z[m][n][i]);
      }
    }
  };
  if (network.tanh) {
    each([](float x) { return tanhf(x); });
  } else {
    each([](float x) { return fmaxf(x, 0.0F); });
  }
}

// The output of the played action and what flows back from it, for tile n of the warp: adds to the gradient of V, turns
// h into D = δ V(a,·) ⊙ f′ and stores it as fragments of the next product's left factor.
template <class S, bool Accurate>
__device__ void through_output(const Group& group, float scale, const Shared& s, int chunk, int n,
                               float (&h)[unit_tiles][own_tiles][4], float (&gradient)[unit_tiles][S::actions][4],
                               float (&noise)[S::actions]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int tile = warp * own_tiles + n;
  int action[2];
  float v[2][unit_tiles][2], m[2] = {0.0F, 0.0F}, delta[2], surprise[2];
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    action[c] = s.action[chunk + 8 * tile + 2 * t + c];
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
    const float precision = s.precision[max(action[c], 0)], reward = s.reward[chunk + 8 * tile + 2 * t + c];
    delta[c] = action[c] < 0 ? 0.0F : output_delta(group, scale, precision, reward, m[c]);
    surprise[c] = action[c] < 0 ? 0.0F : scale * ((reward - m[c]) * (reward - m[c]) * precision - 1.0F);
  }
  Operand<4, Accurate> a[unit_tiles];
#pragma unroll
  for (int u = 0; u < unit_tiles; ++u) {
    a[u].set(0, h[u][n][0]);
    a[u].set(1, h[u][n][2]);
    a[u].set(2, h[u][n][1]);
    a[u].set(3, h[u][n][3]);
  }
#pragma unroll
  for (int q = 0; q < S::actions; ++q) {
    const bool mine[2] = {action[0] == 8 * q + g, action[1] == 8 * q + g};
    if (group.network.noise_parameters > 0) {
      noise[q] += (mine[0] ? surprise[0] : 0.0F) + (mine[1] ? surprise[1] : 0.0F);
    }
    Operand<2, Accurate> b;
    b.set(0, mine[0] ? delta[0] : 0.0F);
    b.set(1, mine[1] ? delta[1] : 0.0F);
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) multiply_add<Accurate>(gradient[u][q], a[u], b);
  }
  const auto store = [&](const auto& times_slope) {
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
      float d[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        d[i] = storable<Accurate>(times_slope(delta[i % 2] * v[i % 2][u][i / 2], h[u][n][i]));
      }
      s.D[(tile * unit_tiles + u) * 32 + lane] = {d[0], d[2], d[1], d[3]};
    }
  };
  if (group.network.tanh) {
    store([](float x, float value) { return x * (1.0F - value * value); });
  } else {
    store([](float x, float value) { return value > 0.0F ? x : 0.0F; });
  }
}

// sum(u, c) = Σ_b D(u,b) x(b,c) over the warp's share of the chunk; observations 2t and 2t+1 of a tile stand at t and t+4
// of the summed index. Columns beyond the context's are read and never stored: contexts end with `context_slack` zeros.
template <class S, bool Accurate>
__device__ void backward(const Group& group, const float* contexts, const Shared& s, int chunk,
                         float (&sum)[unit_tiles][S::tiles][4]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const int first_column = warp % S::columns * S::tiles * 8;
  if (first_column >= group.context_stride) return;
  const float* column = contexts + first_column + g;
  float next[S::ahead][S::tiles][2];
  const auto load = [&](int tile, float (&to)[S::tiles][2]) {
    const uint2 rounds = *reinterpret_cast<const uint2*>(s.round + chunk + 8 * tile + 2 * t);
    const float* x[2] = {column + rounds.x * static_cast<std::uint32_t>(group.context_stride),
                         column + rounds.y * static_cast<std::uint32_t>(group.context_stride)};
#pragma unroll
    for (int n = 0; n < S::tiles; ++n) {
      to[n][0] = __ldg(x[0] + 8 * n);
      to[n][1] = __ldg(x[1] + 8 * n);
    }
  };
  constexpr int tiles = S::chunk / 8 / S::parts;  // of this warp
  constexpr int ahead = S::ahead < tiles ? S::ahead : tiles;
  const int part = warp / S::columns;
#pragma unroll
  for (int r = 0; r < ahead; ++r) load(part + r * S::parts, next[r]);
#pragma unroll 1
  for (int first = 0; first < tiles; first += ahead) {
#pragma unroll
    for (int r = 0; r < ahead; ++r) {
      const int tile = part + (first + r) * S::parts;
      Operand<2, Accurate> b[S::tiles];
#pragma unroll
      for (int n = 0; n < S::tiles; ++n) {
        b[n].set(0, next[r][n][0]);
        b[n].set(1, next[r][n][1]);
      }
      if (first + r + ahead < tiles) load(tile + ahead * S::parts, next[r]);
#pragma unroll
      for (int u = 0; u < unit_tiles; ++u) {
        const float4 d = s.D[(tile * unit_tiles + u) * 32 + lane];
        Operand<4, Accurate> a;
        a.set_rounded(0, d.x);
        a.set_rounded(1, d.y);
        a.set_rounded(2, d.z);
        a.set_rounded(3, d.w);
#pragma unroll
        for (int n = 0; n < S::tiles; ++n) multiply_add<Accurate>(sum[u][n], a, b[n]);
      }
    }
  }
  static_assert(tiles % ahead == 0);
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
template <class S>
__device__ void store_weights(const Group& group, const Shared& s, const float (&sum)[unit_tiles][S::tiles][4], bool add,
                              const float* theta, float* score) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const auto store = [&](int u, int n, const float4& x) {
    const int row = 16 * u + g, column = (warp % S::columns * S::tiles + n) * 8 + 2 * t;
    store_pair(group.network.layer[0], row, column, x.x, x.y, add, theta, score);
    store_pair(group.network.layer[0], row + 8, column, x.z, x.w, add, theta, score);
  };
  if constexpr (S::parts == 1) {
#pragma unroll
    for (int u = 0; u < unit_tiles; ++u) {
#pragma unroll
      for (int n = 0; n < S::tiles; ++n) store(u, n, {sum[u][n][0], sum[u][n][1], sum[u][n][2], sum[u][n][3]});
    }
  } else {
    constexpr int items = unit_tiles * S::tiles;
    __syncthreads();  // D is read no more
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const float(&x)[4] = sum[i / S::tiles][i % S::tiles];
      s.D[(warp * items + i) * 32 + lane] = {x[0], x[1], x[2], x[3]};
    }
    __syncthreads();
    for (int i = warp / S::columns; i < items; i += S::parts) {
      float4 total{};
      for (int p = 0; p < S::parts; ++p) {
        const float4 x = s.D[((p * S::columns + warp % S::columns) * items + i) * 32 + lane];
        total = {total.x + x.x, total.y + x.y, total.z + x.z, total.w + x.w};
      }
      store(i / S::tiles, i % S::tiles, total);
    }
  }
}

// The gradients of V and of log σ, of all warps in order.
template <class S>
__device__ void store_outputs(const Group& group, const Shared& s,
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
  const CardLayer& layer = group.network.layer[1];
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
  const CardNetwork& network = group.network;
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

template <class S, bool Accurate>
__global__ void __launch_bounds__(S::threads, S::warps == 8 ? 2 : 1) score_kernel(const Group group, int step) {
  extern __shared__ float4 memory[];
  const int columns = group.context_stride;
  const Shared s = carve<S>(reinterpret_cast<float*>(memory), columns);
  const int realization = blockIdx.x / group.particles;
  const float* theta = group.theta + blockIdx.x * group.network.stride;
  float* score = group.score + blockIdx.x * group.network.stride;
  const float* contexts = group.contexts + static_cast<std::size_t>(realization) * group.rounds * columns;

  const std::uint32_t seen = group.training->seen;
  const std::uint32_t n = kept(group, seen);
  const std::uint32_t batch = group.batch == 0 ? n : static_cast<std::uint32_t>(group.batch);
  const float scale = likelihood_scale(group, n, batch);
  load_weights<S, Accurate>(group, theta, columns, s);

  float output_gradient[unit_tiles][S::actions][4] = {};
  float noise[S::actions] = {};
#pragma unroll 1
  for (std::uint32_t first = 0; first < batch; first += S::chunk) {
    __syncthreads();  // the last chunk is read no more
    const int chunk = static_cast<int>(first % drawn_together);
    if (chunk == 0) {
      draw_observations<S>(group, realization, group.training->first_step + step, seen, first, batch, s);
      __syncthreads();
    }
    {
      float h[unit_tiles][own_tiles][4] = {};
      forward<Accurate>(group, contexts, columns, s, chunk, h);
      activate(group.network, h);
#pragma unroll
      for (int tile = 0; tile < own_tiles; ++tile) {
        through_output<S, Accurate>(group, scale, s, chunk, tile, h, output_gradient, noise);
      }
    }
    __syncthreads();
    float sum[unit_tiles][S::tiles][4] = {};
    backward<S, Accurate>(group, contexts, s, chunk, sum);
    store_weights<S>(group, s, sum, first > 0, theta, score);
  }
  store_outputs<S>(group, s, output_gradient, noise, theta, score);
}

template <class S, bool Accurate>
void launch(const Group& group, int step, cudaStream_t stream) {
  const auto kernel = score_kernel<S, Accurate>;
  const std::size_t bytes = shared_bytes<S>(group.context_stride);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "score: shared memory");
  const auto blocks = static_cast<unsigned>(group.realizations * group.particles);
  kernel<<<blocks, S::threads, bytes, stream>>>(group, step);
  check(cudaGetLastError(), "score");
}

// The fewest accumulators that cover the columns: 8 · Columns · Tiles of them.
template <int Actions, bool Accurate>
void launch_for(const Group& group, int step, cudaStream_t stream) {
  const int columns = group.context_stride;
  if (columns <= 16) return launch<Split<8, 1, 2, Actions>, Accurate>(group, step, stream);
  if (columns <= 32) return launch<Split<8, 2, 2, Actions>, Accurate>(group, step, stream);
  if (columns <= 64) return launch<Split<8, 4, 2, Actions>, Accurate>(group, step, stream);
  if (columns <= 128) return launch<Split<8, 8, 2, Actions>, Accurate>(group, step, stream);
  if (columns <= 256) return launch<Split<16, 16, 2, Actions>, Accurate>(group, step, stream);
  return launch<Split<16, 16, 4, Actions>, Accurate>(group, step, stream);
}

}  // namespace

bool is_narrow(const CardNetwork& network, int context_stride) {
  return network.layers == 2 && network.layer[0].outputs < units && network.layer[1].outputs <= most_actions &&
         context_stride <= most_columns;
}

void score_narrow(const Group& group, CardPrecision precision, int step, cudaStream_t stream) {
  const bool few = group.actions <= 8;
  if (precision == CardPrecision::float32) {
    return few ? launch_for<1, true>(group, step, stream) : launch_for<2, true>(group, step, stream);
  }
  few ? launch_for<1, false>(group, step, stream) : launch_for<2, false>(group, step, stream);
}

}  // namespace pits::cuda
