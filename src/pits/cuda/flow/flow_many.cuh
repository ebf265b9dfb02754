// The flow of a cloud of many particles (M > 64): distances and velocities as matrix products. The cloud is centred
// first, so that nothing is lost where it lies far from the origin.
#pragma once

#include "pits/cuda/device/blas.cuh"
#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/flow/flow_few.cuh"

namespace pits::cuda {

class ManyFlow {
 public:
  explicit ManyFlow(const Settings& settings);

  static std::size_t bytes(const Settings& settings);

  // One realization after the other: velocity and step.
  void step(const GroupView& group, const FlowState& state, int step, Blas& blas, cudaStream_t stream);

 private:
  void squared_distances(const GroupView& group, bool to_previous, Blas& blas, cudaStream_t stream);
  void add_products(const FlowConfig& f, int M, int P, float* score, Blas& blas, cudaStream_t stream);
  void median(int M, Scale::Rule rule, double* out, cudaStream_t stream);

  DeviceArray<float> centred_;  // θ − mean (M,stride), and θ′ − mean where the flow transports
  DeviceArray<float> previous_;
  DeviceArray<float> velocity_;  // (M,stride)
  DeviceArray<float> norm_;      // (2,M) ‖·‖² of the centred rows
  DeviceArray<float> d2_;        // (M,row): products, then squared distances, then k
  DeviceArray<float> cost_;      // (M,row)
  DeviceArray<float> row_sum_;   // (M)
  DeviceArray<float> weights_;   // (3,M,row) a, −p, −q
  DeviceArray<float> pull_;      // (M) Σ_j p_ij + q_ij
  DeviceArray<float> keys_;      // (2,M·M) for the median
  DeviceArray<double> medians_;  // (2)
  DeviceArray<char> sorting_;
  std::size_t sorting_bytes_ = 0;
};

}  // namespace pits::cuda
