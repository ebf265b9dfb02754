// The scores of any network, layer by layer through cuBLAS. The played action's output alone has a δ: one pass over the
// last hidden layer finds it and sends it back.
#pragma once

#include "pits/cuda/device/blas.cuh"
#include "pits/cuda/device/device_array.cuh"
#include "pits/cuda/state.cuh"

namespace pits::cuda {

class WideScore {
 public:
  // `most_observations`: of a minibatch.
  WideScore(const Settings& settings, int realizations, int most_observations);

  static std::size_t bytes(const Settings& settings, int realizations, int most_observations);

  // For minibatches of `batch` observations.
  void score(const GroupView& group, int batch, int step, Blas& blas, cudaStream_t stream);

 private:
  struct Sizes {
    int together;                      // particles on their way at once
    std::size_t batch, layer, widest;  // floats of the minibatches, of a particle's layers, of its widest one
    std::size_t sums, transposed;      // of a particle
    std::size_t floats() const { return layer + 2 * widest + sums + transposed; }
  };
  static Sizes sizes(const Settings& settings, int realizations, int most_observations);
  void forward(const GroupView& group, int realization, int first, int count, int batch, Blas& blas,
               cudaStream_t stream);
  void outputs(const GroupView& group, int realization, int first, int count, int batch, cudaStream_t stream);
  void flow_down(const GroupView& group, int layer, int realization, int first, int count, int batch,
                 const BatchOf& delta, const BatchOf& below, Blas& blas, cudaStream_t stream);
  void backward(const GroupView& group, int realization, int first, int count, int batch, Blas& blas,
                cudaStream_t stream);
  BatchOf input(const GroupView& group, int layer, int realization, int batch) const;
  BatchOf output(const GroupView& group, int layer, int batch) const;

  Sizes sizes_;
  DeviceArray<float> contexts_;              // (G,B,context_stride)
  DeviceArray<std::int32_t> actions_taken_;  // (G,B)
  DeviceArray<float> rewards_received_;      // (G,B)
  DeviceArray<float> layers_;                // (layers; together,B,outputs+1 rounded up)
  DeviceArray<float> delta_[2];              // (together,B,widest)
  DeviceArray<float> sums_;                  // (together,slabs,outputs+1 rounded up) of the last hidden layer's δ
  DeviceArray<float> transposed_;            // (together,inputs,rows) of a layer's weights
};

}  // namespace pits::cuda
