// The rounds between two trainings, and the first particles.
#pragma once

#include "pits/cuda/choice.cuh"

namespace pits::cuda {

// Decides rounds first .. last−1 of every realization, and looks up what they pay. Between trainings the particles
// stand still and a decision's draws have an address, so the rounds do not wait for each other.
void play_rounds(const GroupView& group, const DecisionSettings& choice, int first, int last, cudaStream_t stream);

// θ of every realization as RewardModel::initialise draws it.
void draw_particles(const GroupView& group, const ParameterLayout* parameters, std::int64_t count,
                    std::int64_t draws_per_particle, bool uniform, cudaStream_t stream);

}  // namespace pits::cuda
