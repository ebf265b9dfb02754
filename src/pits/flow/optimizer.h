// Optimisers: from a velocity to a step. They ascend (θ += step), since a flow's velocity points uphill.
// Every rule works coordinate by coordinate on an (M,P) block; only clipping looks at a whole row.
#pragma once

#include <cstdint>

#include "pits/core/fields.h"
#include "pits/core/io/archive.h"
#include "pits/core/matrix.h"
#include "pits/flow/optimizer_config.h"

namespace pits {

double step_size(const OptimizerConfig& config, std::int64_t steps_done);
// Of step number k = 1, 2, ... of this size.
template <class T>
StepFactors<T> step_factors(const OptimizerConfig& config, double step, std::int64_t k);

// Scales each row whose norm exceeds `limit` to that norm (Pascanu et al. 2013). limit = 0 leaves all as they are.
template <class T>
void clip_rows(MatrixView<T> velocity, double limit);

template <class T>
class Optimizer {
 public:
  explicit Optimizer(OptimizerConfig config) : config_(checked(config)) {}

  // One step: θ += rule(velocity). Clips `velocity` in place.
  void ascend(MatrixView<T> theta, MatrixView<T> velocity);

  // The same, some columns at a time: begin_step() for particles of that shape, then ascend_columns() once for each of
  // their columns. Only without clipping may these be some of all columns.
  void begin_step(std::size_t rows, std::size_t cols);
  void ascend_columns(std::size_t first, MatrixView<T> theta, MatrixView<T> velocity);

  // A new training begins: the schedule restarts if the config says so.
  void begin_training();

  double next_step_size() const { return step_size(config_, steps_done_ - schedule_start_); }
  std::int64_t steps_done() const { return steps_done_; }
  const OptimizerConfig& config() const { return config_; }

  void state(Archive& archive) {
    archive.version("Optimizer", 1)(steps_done_, schedule_start_, first_, second_);
    constexpr std::int64_t most = std::int64_t{1} << 53;
    if (steps_done_ < 0 || steps_done_ > most || schedule_start_ < 0 || schedule_start_ > steps_done_) {
      throw bad_input("the saved optimiser has done {} steps since step {}", steps_done_, schedule_start_);
    }
  }

  // The particles get more coordinates: grow(block, value) gives the block with `value` in the new ones.
  template <class Grow>
  void grow(const Grow& grow) {
    first_ = grow(first_, T{0});
    second_ = grow(second_, config_.rule == Rule::rmsprop ? static_cast<T>(config_.first_square) : T{0});
  }

 private:
  void ascend_row(std::span<T> theta, std::span<const T> v, std::size_t i, std::size_t first);

  OptimizerConfig config_;
  std::int64_t steps_done_ = 0;
  std::int64_t schedule_start_ = 0;  // steps done when the schedule began
  std::size_t columns_ = 0;          // of the particles of this step
  StepFactors<T> factors_;
  Matrix<T> first_;   // Adam's mean of velocities (M,P)
  Matrix<T> second_;  // mean or sum of squared velocities (M,P)
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace pits
