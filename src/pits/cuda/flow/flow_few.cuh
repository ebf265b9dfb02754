// The flow of a cloud of few particles (M ≤ 64): squared distances, the weights of Eq. 6 and its kin,
// and the step of the optimiser, all in the memory of a thread block.
#pragma once

#include "pits/cuda/state.cuh"

namespace pits::cuda {

constexpr int few_particles = 64;

// The weights of a realization: (3,M,row) a, −p and −q of G_j, θ_i − θ_j and θ_i − θ′_j in v_i, i running fastest, and
// (row) the sums over j of p + q.
PITS_HOST_DEVICE constexpr int weight_floats(int particles, int row) { return (3 * particles + 1) * row; }

// What a flow keeps on the GPU besides the group's particles and scores.
struct FlowState {
  FlowConfig flow;
  Rule rule;
  const StepFactors<float>* steps;  // of every training step
  float* previous;                  // θ′ (G,M,stride); null where the flow has no transport
  float* first;                     // Adam's mean (G,M,stride), or null
  float* second;                    // mean or sum of squares (G,M,stride), or null
  int slices;                       // few_slices
  float* partial;                   // (G,slices,2,M,M) parts of ‖θ_i − θ_j‖² and of ‖θ_i − θ′_j‖²
  std::uint32_t* arrived;           // (G) slices done; 0 between steps
  float* weights;                   // (G,weight_floats)
  int row;                          // M rounded up to a multiple of four
  std::int32_t* diverged;           // (G) the training step after which a parameter left the floats' safe range, or 0
};

// Parts of the parameters over which distances are summed apart: by the shape alone, so that sums run in the same order
// in groups of any size.
int few_slices(int particles, std::int64_t stride);

// Columns of a slice.
PITS_HOST_DEVICE constexpr int few_slice_width(int particles) { return particles <= 32 ? 512 : 256; }

// The weights at the current cloud, independent of the scores: by differences, and, for at most
// `particles_by_products`, by products.
void few_weights(const GroupView& group, const FlowState& flow, cudaStream_t stream);

constexpr int particles_by_products = 32;
void few_weights_by_products(const GroupView& group, const FlowState& flow, cudaStream_t stream);

// v from the weights and scores, and the optimiser's step along it.
void few_step(const GroupView& group, const FlowState& flow, int step, cudaStream_t stream);

}  // namespace pits::cuda
