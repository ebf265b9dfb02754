#include "pits/flow/mover.h"

#include <algorithm>

namespace pits {

void check_fit(const FlowConfig& flow, const OptimizerConfig& optimizer) {
  const std::string name = format_value(flow.kind);
  const bool noisy = flow.kind == FlowKind::sgld || (flow.kind == FlowKind::spos && flow.beta > 0.0);
  if (noisy && optimizer.rule != Rule::sgd) {
    throw bad_input("flow {} adds noise that matches a plain step: set optimizer=sgd, not {}", name,
                    format_value(optimizer.rule));
  }
  const bool plain_sinkhorn = flow.kind == FlowKind::dgf_sinkhorn && optimizer.rule == Rule::sgd;
  if (plain_sinkhorn && flow.tau < 10.0 * optimizer.step) {
    throw bad_input("flow {} is unstable where tau is below ten steps: tau must be at least {} for step {}, not {}",
                    name, 10.0 * optimizer.step, optimizer.step, flow.tau);
  }
}

template <class T>
Mover<T>::Mover(const FlowConfig& flow, const OptimizerConfig& optimizer, const Address& address)
    : flow_(flow), optimizer_(optimizer), address_(address) {
  check_fit(flow, optimizer);
  address_.purpose = Purpose::diffusion;
}

template <class T>
void Mover<T>::step(MatrixView<T> theta, ConstMatrixView<T> score) {
  if (velocity_.size() != theta.size()) velocity_.reshape(theta.rows(), theta.cols());
  flow_.velocity(theta, score, velocity_);
  const double step = optimizer_.next_step_size();
  address_.step = static_cast<std::uint32_t>(steps_done());
  optimizer_.ascend(theta, velocity_);
  if (flow_.temperature() > 0.0) {
    Stream noise(address_);
    add_diffusion(flow_.temperature(), step, noise, theta);
  }
}

template <class T>
void Mover<T>::grow(std::span<const std::size_t> map, ConstMatrixView<T> start) {
  flow_.grow([&](const Matrix<T>& block) { return grown(block, map, start); });
  optimizer_.grow([&](const Matrix<T>& block, T value) {
    Matrix<T> filled(start.rows(), start.cols());
    std::ranges::fill(filled.flat(), value);
    return grown<T>(block, map, filled);
  });
}

template class Mover<float>;
template class Mover<double>;

}  // namespace pits
