// The thread block that owns a particle of a narrow network: how its warps share the work, what it keeps in shared
// memory, and how the particle and the minibatch get there. Included by score_narrow.cu alone.
#pragma once

#include "pits/cuda/state.cuh"
#include "pits/cuda/tensor.cuh"

namespace pits::cuda::narrow {

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
  static constexpr int ahead = Tiles <= 2 ? 2 : 1;  // loads on their way while products are formed
  static constexpr bool keeps = Tiles <= 2;         // sums stay in registers from chunk to chunk
  static_assert(drawn_together % chunk == 0);
};

// Shared memory: W (units, columns) as fragments, V (most_actions, output_stride), the fragments of D (chunk · units),
// the rounds, actions and rewards of drawn_together observations, 1/σ² of each action, sums of the noise's gradient. D
// also holds what warps add up: at most as much.
struct Shared {
  float4* W;  // of tile m of units and eight columns k: (k, m, lane)
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
  const std::size_t floats = static_cast<std::size_t>(units) * columns + most_actions * output_stride +
                             S::chunk * units + 3 * drawn_together + most_actions + S::warps * most_actions;
  return floats * sizeof(float);
}

template <class S>
__device__ Shared carve(float* memory, int columns) {
  Shared s{};
  s.W = reinterpret_cast<float4*>(memory);
  s.V = memory + units * columns;
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
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const auto two = [&](int row, int column) {
    if (row < hidden.outputs && column < hidden.stride) {
      return *reinterpret_cast<const float2*>(theta + hidden.offset + row * hidden.stride + column);
    }
    // The unit that is always 1: of the input that is 1, so much that f of it is 1.
    const float one = row == hidden.outputs ? (group.network.tanh ? 32.0F : 1.0F) : 0.0F;
    return float2{column == hidden.inputs ? one : 0.0F, column + 1 == hidden.inputs ? one : 0.0F};
  };
  for (int i = threadIdx.x / 32; i < columns / 8 * unit_tiles; i += S::warps) {
    const int k = i / unit_tiles, m = i % unit_tiles, column = 16 * (k / 2) + 4 * t + 2 * (k % 2);
    const float2 above = two(16 * m + g, column), below = two(16 * m + g + 8, column);
    s.W[i * 32 + lane] = {storable<Accurate>(above.x), storable<Accurate>(below.x), storable<Accurate>(above.y),
                          storable<Accurate>(below.y)};
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
__device__ void draw_observations(const Group& group, int realization, std::uint32_t k, std::uint32_t seen,
                                  std::uint32_t first, std::uint32_t batch, const Shared& s) {
  const std::uint32_t n = kept(group, seen);
  const std::size_t rounds = static_cast<std::size_t>(realization) * group.rounds;
  for (std::uint32_t four = threadIdx.x; four < drawn_together / 4; four += S::threads) {
    const Address address{
        .seed = group.seed, .realization = group.realization[realization], .purpose = Purpose::minibatch, .step = k};
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

}  // namespace pits::cuda::narrow
