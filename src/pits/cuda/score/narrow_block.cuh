// The thread block that owns a particle of a narrow network: how its warps share the work, what it keeps in shared
// memory, and how the particle and the minibatch get there. Included by score_narrow.cu alone.
#pragma once

#include "pits/cuda/device/tensor.cuh"
#include "pits/cuda/state.cuh"

namespace pits::cuda::narrow {

constexpr int units = 64;  // hidden units with the one that is always 1 and carries the output's bias
constexpr int unit_tiles = units / 16;
constexpr int most_actions = 16;
constexpr int output_stride = 72;  // of a row of output weights in shared memory: rows of other actions, other banks
constexpr int own_tiles = 2;       // tiles of eight observations that a warp carries forward
constexpr int most_columns = 448;
constexpr int most_warps = 16;       // of a multiprocessor: 128 registers a thread
constexpr int drawn_together = 512;  // observations of a minibatch that are looked up at once

// How the warps of a block share the work. Forward, each carries its own observations, Passes times. Backward, Columns
// warps side by side own Tiles tiles of eight columns each, and the rest take parts of the observations. Actions: tiles
// of eight. Keeps: sums stay in registers from chunk to chunk.
template <int Warps, int Columns, int Tiles, int Actions, int Passes, bool Keeps>
struct Split {
  static constexpr int warps = Warps, columns = Columns, tiles = Tiles, actions = Actions, passes = Passes;
  static constexpr bool keeps = Keeps;
  static constexpr int threads = 32 * Warps;
  static constexpr int blocks = most_warps / Warps;             // of a multiprocessor
  static constexpr int chunk = 8 * own_tiles * Warps * Passes;  // observations on their way together
  static constexpr int parts = Warps / Columns;
  static constexpr int most_columns = 8 * Columns * Tiles;
  static_assert(drawn_together % chunk == 0);
};

// Shared memory: W (units, columns) and D (chunk · units) as fragments of the products' type, V (most_actions,
// output_stride), the rounds, actions and rewards of drawn_together observations, 1/σ² of each action, sums of the
// noise's gradient. D also holds what warps add up: at most as much.
struct Shared {
  float4* W;  // fragments (columns, tiles of units, lane)
  float4* D;  // fragments (observations, tiles of units, lane)
  float* V;
  std::uint32_t* round;
  std::int32_t* action;  // negative: beyond the minibatch
  float* reward;
  float* precision;
  float* noise;            // (warps, most_actions)
  float* largest;          // (warps)
  std::int32_t* exponent;  // (chunk/16) of the fragments of D
};

template <class S, class Products>
constexpr std::size_t shared_bytes(int columns) {
  static_assert(S::parts == 1 || S::warps * unit_tiles * S::tiles * 512 <= S::chunk * units * Products::bytes,
                "the parts do not fit into D");
  static_assert(S::warps * unit_tiles * S::actions * 512 <= S::chunk * units * Products::bytes,
                "the gradients of the outputs do not fit into D");
  const std::size_t fragments = static_cast<std::size_t>(units) * (columns + S::chunk) * Products::bytes;
  const std::size_t words = most_actions * output_stride + 3 * drawn_together + most_actions + S::warps * most_actions +
                            most_warps + S::chunk / 16;
  return fragments + words * 4;
}

template <class S, class Products>
__device__ Shared carve(float4* memory, int columns) {
  Shared s{};
  s.W = memory;
  s.D = s.W + units * columns * Products::bytes / 16;
  s.V = reinterpret_cast<float*>(s.D + S::chunk * units * Products::bytes / 16);
  s.round = reinterpret_cast<std::uint32_t*>(s.V + most_actions * output_stride);
  s.action = reinterpret_cast<std::int32_t*>(s.round + drawn_together);
  s.reward = reinterpret_cast<float*>(s.action + drawn_together);
  s.precision = s.reward + drawn_together;
  s.noise = s.precision + most_actions;
  s.largest = s.noise + S::warps * most_actions;
  s.exponent = reinterpret_cast<std::int32_t*>(s.largest + most_warps);
  return s;
}

// V and 1/σ².
template <class S>
__device__ void load_outputs(const GroupView& group, const float* theta, const Shared& s) {
  const LayerLayout& output = group.network.layer[1];
  for (int i = threadIdx.x; i < most_actions * output_stride; i += S::threads) {
    const int row = i / output_stride, column = i % output_stride;
    const bool inside = row < output.outputs && column < output.stride;
    s.V[i] = inside ? theta[output.offset + row * output.stride + column] : 0.0F;
  }
  if (threadIdx.x < most_actions) {
    float precision = fixed_precision(group, theta);
    if (group.network.noise_parameters > 0 && threadIdx.x < output.outputs) {
      const int of = group.network.noise_parameters == 1 ? 0 : static_cast<int>(threadIdx.x);
      precision = expf(-2.0F * theta[group.network.noise_offset + of]);
    }
    s.precision[threadIdx.x] = precision;
  }
}

// The observations first .. first+drawn_together−1 of the minibatch of training step k.
template <class S>
__device__ void draw_observations(const GroupView& group, int realization, std::uint32_t k, std::uint32_t first,
                                  std::uint32_t batch, const Shared& s) {
  const TrainingState& training = group.training[realization];
  const std::uint32_t n = kept(group, training);
  const std::size_t rounds = static_cast<std::size_t>(realization) * group.rounds;
  for (std::uint32_t four = threadIdx.x; four < drawn_together / 4; four += S::threads) {
    const Address address{
        .seed = group.seed, .realization = group.realization[realization], .purpose = Purpose::minibatch, .step = k};
    const auto words = philox_words(address, first / 4 + four);
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t b = 4 * four + i;
      const bool inside = first + b < batch;
      const std::uint32_t slot = !inside ? 0 : group.batch == 0 ? first + b : index_below(n, words[i]);
      const std::uint32_t round = round_of_slot(group, training, slot);
      s.round[b] = round;
      s.action[b] = inside ? group.actions_taken[rounds + round] : -1;
      s.reward[b] = inside ? group.rewards_received[rounds + round] : 0.0F;
    }
  }
}

}  // namespace pits::cuda::narrow
