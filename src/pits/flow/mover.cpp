#include "pits/flow/mover.h"

#include <algorithm>
#include <cmath>

namespace pits {
namespace {

template <class T>
bool beyond_bound(ConstMatrixView<T> theta) {
  unsigned beyond = 0;  // counted to the end, without a way out: the loop becomes SIMD
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    for (const T x : theta.row(i)) beyond += std::abs(x) <= static_cast<T>(largest_parameter) ? 0U : 1U;
  }
  return beyond > 0;
}

// Columns of particles, scores, velocities and two moments that take a part of an L2 cache; whole vectors of any width.
template <class T>
std::size_t chunk_columns(std::size_t particles) {
  constexpr std::size_t bytes = 1024 * 1024, vectors = 64;
  return std::max(vectors, bytes / (5 * sizeof(T) * particles) / vectors * vectors);
}

}  // namespace

void check_fit(const FlowConfig& flow, const OptimizerConfig& optimizer) {
  const std::string name = format_value(flow.kind);
  if (temperature(flow) > 0.0 && optimizer.rule != Rule::sgd) {
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
  const Cloud<T> cloud = flow_.weigh(theta, score);
  const double step = optimizer_.next_step_size();
  address_.step = static_cast<std::uint32_t>(steps_done());
  optimizer_.begin_step(theta.rows(), theta.cols());
  const std::size_t chunk = optimizer_.config().clip > 0.0 ? theta.cols() : chunk_columns<T>(theta.rows());
  if (velocity_.rows() != theta.rows() || velocity_.cols() != chunk) velocity_.reshape(theta.rows(), chunk);
  diverged_ = false;
  for (std::size_t first = 0; first < theta.cols(); first += chunk) {
    const std::size_t count = std::min(chunk, theta.cols() - first);
    const MatrixView<T> v = velocity_.view().columns(0, count), columns = theta.columns(first, count);
    flow_.velocity(cloud.columns(first, count), v);
    optimizer_.ascend_columns(first, columns, v);
    diverged_ |= beyond_bound<T>(columns);
  }
  if (flow_.temperature() > 0.0) {
    Stream noise(address_);
    add_diffusion(flow_.temperature(), step, noise, theta);
    diverged_ = beyond_bound<T>(theta);
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
