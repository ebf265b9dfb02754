// One step of the particles: scores → velocity → optimiser → diffusion.
#pragma once

#include "pits/core/random.h"
#include "pits/flow/flow.h"
#include "pits/flow/optimizer.h"
#include "pits/model/growth.h"

namespace pits {

// Throws where a flow and an optimiser do not fit: SPOS and SGLD add noise of their own and need plain steps; the
// Sinkhorn form is unstable where τ is less than ten plain steps.
void check_fit(const FlowConfig& flow, const OptimizerConfig& optimizer);

template <class T>
class Mover {
 public:
  // `address` says whose noise it is; its purpose and step are set here.
  Mover(const FlowConfig& flow, const OptimizerConfig& optimizer, const Address& address);

  // Moves theta by one step along its scores; both (M,P). Velocity and optimiser take turns over columns of all
  // particles, so that these are in the cache for both.
  void step(MatrixView<T> theta, ConstMatrixView<T> score);

  const Flow<T>& flow() const { return flow_; }
  // Whether the last step left a coordinate that is NaN or beyond largest_parameter: no flow has a velocity then.
  bool diverged() const { return diverged_; }

  void begin_training() { optimizer_.begin_training(); }
  std::int64_t steps_done() const { return optimizer_.steps_done(); }

  void state(Archive& archive) { archive.version("Mover", 1)(flow_, optimizer_); }

  // The particles get more coordinates, which start at `start`, (M, P after).
  void grow(std::span<const std::size_t> map, ConstMatrixView<T> start);

 private:
  Flow<T> flow_;
  Optimizer<T> optimizer_;
  Address address_;
  Matrix<T> velocity_;  // (M, columns at a time)
  bool diverged_ = false;
};

extern template class Mover<float>;
extern template class Mover<double>;

}  // namespace pits
