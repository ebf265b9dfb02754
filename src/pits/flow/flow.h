// A flow by name: from a cloud of particles and its scores to the velocity of every particle.
#pragma once

#include <cstdint>

#include "pits/core/io/archive.h"
#include "pits/core/random.h"
#include "pits/flow/velocity.h"

namespace pits {

// One line on each, in the order of the enumeration.
std::vector<std::string> flow_summaries();

// The noise of a step is N(0, 2·temperature·step): 1 for SGLD, β for SPOS, 0 for deterministic flows.
double temperature(const FlowConfig& config);

// What moves the particles. Every velocity is linear in the scores, v = A(θ)G + b(θ): AG drives particles to where the
// density is high, b is what they do to each other and keeps them apart. In DGF the pull of the earlier cloud is part
// of b; independent particles, and one alone, have b = 0. Norms over all particles and coordinates.
struct Forces {
  double drive = 0.0;      // ‖AG‖
  double repulsion = 0.0;  // ‖b‖
};

template <class T>
class Flow {
 public:
  explicit Flow(FlowConfig config) : config_(checked(config)) {}

  // v(θ) for scores G at θ; all (M,P). Remembers θ, which is θ′ of the next call (see FlowConfig::inner_steps).
  void velocity(ConstMatrixView<T> theta, ConstMatrixView<T> score, MatrixView<T> v);

  // What would move the particles in the next call; changes nothing.
  Forces forces(ConstMatrixView<T> theta, ConstMatrixView<T> score) const;

  // The same in two steps: what the whole cloud is needed for, then v for some of its columns at a time. Columns whose
  // velocity is known may move before the others'.
  Cloud<T> weigh(ConstMatrixView<T> theta, ConstMatrixView<T> score);
  void velocity(const Cloud<T>& columns, MatrixView<T> v) const { velocity_.evaluate(columns, v); }

  double temperature() const { return pits::temperature(config_); }
  const FlowConfig& config() const { return config_; }

  void state(Archive& archive) { archive.version("Flow", 1)(held_, last_, calls_); }

  // The particles get more coordinates: grow(block) gives the block with the new ones as they start.
  template <class Grow>
  void grow(const Grow& grow) {
    held_ = grow(held_);
    last_ = grow(last_);
  }

 private:
  ConstMatrixView<T> previous_cloud(ConstMatrixView<T> theta);
  ConstMatrixView<T> next_previous(ConstMatrixView<T> theta) const;  // what it will give in the next call

  FlowConfig config_;
  Workspace<T> workspace_;
  Velocity<T> velocity_;
  Matrix<T> held_;  // θ′
  Matrix<T> last_;  // θ of the last call
  std::int64_t calls_ = 0;
};

extern template class Flow<float>;
extern template class Flow<double>;

// The velocity of one flow at one cloud, without memory. M = 1 gives v = G for every flow.
template <class T>
void flow_velocity(const FlowConfig& config, const Cloud<T>& cloud, Workspace<T>& w, MatrixView<T> v);

// The two parts of that velocity; without the noise of SPOS and SGLD.
Forces flow_forces(const FlowConfig& config, const Cloud<double>& cloud);

// θ += √(2·temperature·step) N(0, I): the diffusion of SPOS and SGLD, which bypasses any optimiser.
template <class T>
void add_diffusion(double temperature, double step, Stream& stream, MatrixView<T> theta);

}  // namespace pits
