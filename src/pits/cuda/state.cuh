// What the kernels share: the state of a group of G realizations on the GPU.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "pits/core/philox.h"
#include "pits/cuda/last_layer/reward_units.h"

namespace pits::cuda {

// Where the trainings of a realization stand. The kernels of a training's steps add their number to `first_step`.
struct TrainingState {
  std::uint32_t first_step;  // training steps before the training at hand
  std::uint32_t seen;        // observations at the training at hand, or at the last one
  std::uint32_t forgotten;   // observations at the beginning that a change has made worthless
  std::uint32_t trainings;   // with the one at hand
  std::uint32_t units_at;    // observations when units were found last
  std::uint32_t trains;      // 1: it takes part in the training at hand
  std::uint32_t refreshes;   // 1: and finds its units anew
};

// A view of the group; all arrays are on the GPU.
struct GroupView {
  NetworkLayout network;
  int realizations;    // G
  int particles;       // M
  int rounds;          // T
  int context_size;    // d
  int context_stride;  // of a row of contexts: x, 1, zeros
  int actions;         // K
  int batch, capacity;
  LikelihoodScale likelihood;
  float noise_precision, noise_centre, noise_prior;
  const float* noise_precisions;  // (G,M) of the particles, or null: noise_precision of all
  std::uint64_t seed;

  const std::uint32_t* realization;  // (G) their numbers
  const float* contexts;             // (G,T,context_stride) in the networks' units
  const __half* half_contexts;       // (G,T,context_stride) contexts over context_scale, where products are in float16
  const float* context_scale;        // (G,context_stride) powers of two, of every column
  const float* rewards;              // (G,T,K)
  const RewardUnits* reward_units;   // (G), or null: rewards are left as they come
  std::int32_t* actions_taken;       // (G,T) the actions taken
  float* rewards_received;           // (G,T) their rewards, in the networks' units
  float* theta;                      // (G,M,network.stride)
  float* score;                      // (G,M,network.stride)
  const TrainingState* training;     // (G)
};

// What an action pays in a round of realization g.
PITS_HOST_DEVICE inline void take_reward(const GroupView& group, int g, std::size_t round, int action) {
  const float reward = group.rewards[round * group.actions + action];
  group.actions_taken[round] = action;
  group.rewards_received[round] = group.reward_units == nullptr ? reward : in_units(reward, group.reward_units[g]);
}

// 1/σ² of a particle whose noise is no parameter.
__device__ inline float fixed_precision(const GroupView& group, const float* theta) {
  if (group.noise_precisions == nullptr) return group.noise_precision;
  return group.noise_precisions[(theta - group.theta) / group.network.stride];
}

// Observations that a training step may draw from.
PITS_HOST_DEVICE inline std::uint32_t kept(const GroupView& group, const TrainingState& training) {
  const auto capacity = static_cast<std::uint32_t>(group.capacity);
  const std::uint32_t held = training.seen - training.forgotten;
  return capacity == 0 || held < capacity ? held : capacity;
}

// The round whose observation lies in a slot of the history: the oldest is overwritten.
PITS_HOST_DEVICE inline std::uint32_t round_of_slot(const GroupView& group, const TrainingState& training,
                                                    std::uint32_t slot) {
  const auto capacity = static_cast<std::uint32_t>(group.capacity);
  const std::uint32_t held = training.seen - training.forgotten;
  if (capacity == 0 || held <= capacity) return training.forgotten + slot;
  const std::uint32_t last = held - 1;
  return training.forgotten + last - (last - slot) % capacity;
}

// As Stream::index.
PITS_HOST_DEVICE inline std::uint32_t index_below(std::uint32_t n, std::uint32_t word) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word) * n) >> 32);
}

// What the likelihood of a minibatch of B is multiplied by.
__device__ inline float likelihood_scale(const GroupView& group, std::uint32_t observations, std::uint32_t batch) {
  switch (group.likelihood) {
    case LikelihoodScale::data: return static_cast<float>(observations) / static_cast<float>(batch);
    case LikelihoodScale::minibatch: return 1.0F;
    case LikelihoodScale::mean: return 1.0F / static_cast<float>(batch);
  }
  return 1.0F;
}

// ∂ log p(r | m)/∂m for one observation, times the scale.
__device__ inline float output_delta(const GroupView& group, float scale, float precision, float reward, float m) {
  if (group.network.bernoulli) return scale * (reward - 1.0F / (1.0F + expf(-m)));
  return scale * precision * (reward - m);
}

}  // namespace pits::cuda
