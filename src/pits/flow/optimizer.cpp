#include "pits/flow/optimizer.h"

#include <algorithm>
#include <cmath>

namespace pits {
namespace {

template <class T>
void sgd(std::span<T> theta, std::span<const T> v, StepFactors<T> f) {
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += f.step * v[i];
}

// Bounded by the step; the released code's AdaGrad, whose history is reset at every call.
template <class T>
void sign(std::span<T> theta, std::span<const T> v, StepFactors<T> f) {
  for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += f.step * (v[i] / (std::abs(v[i]) + f.epsilon));
}

// Duchi et al. 2011.
template <class T>
void adagrad(std::span<T> theta, std::span<const T> v, std::span<T> sum, StepFactors<T> f) {
  for (std::size_t i = 0; i < theta.size(); ++i) {
    sum[i] += v[i] * v[i];
    theta[i] += f.step * v[i] / (std::sqrt(sum[i]) + f.epsilon);
  }
}

// Tieleman and Hinton 2012.
template <class T>
void rmsprop(std::span<T> theta, std::span<const T> v, std::span<T> mean_square, StepFactors<T> f) {
  for (std::size_t i = 0; i < theta.size(); ++i) {
    mean_square[i] = f.second_moment * mean_square[i] + (T{1} - f.second_moment) * v[i] * v[i];
    theta[i] += f.step * v[i] / (std::sqrt(mean_square[i]) + f.epsilon);
  }
}

// Kingma and Ba 2015; the bias corrections are folded into the step and epsilon-side root.
template <class T>
void adam(std::span<T> theta, std::span<const T> v, std::span<T> m, std::span<T> s, StepFactors<T> f) {
  for (std::size_t i = 0; i < theta.size(); ++i) {
    m[i] = f.momentum * m[i] + (T{1} - f.momentum) * v[i];
    s[i] = f.second_moment * s[i] + (T{1} - f.second_moment) * v[i] * v[i];
    theta[i] += f.step * m[i] / (std::sqrt(s[i]) * f.root_correction + f.epsilon);
  }
}

template <class T>
void check_blocks(ConstMatrixView<T> theta, ConstMatrixView<T> velocity) {
  const bool same_shape = theta.rows() == velocity.rows() && theta.cols() == velocity.cols();
  if (!same_shape || theta.stride() != theta.cols() || velocity.stride() != velocity.cols()) {
    throw failed("optimizer: particles ({},{}) and velocity ({},{}) must be whole matrices of one shape", theta.rows(),
                 theta.cols(), velocity.rows(), velocity.cols());
  }
}

}  // namespace

Fields fields(OptimizerConfig& c) {
  return Fields{}
      .add("optimizer", c.rule, "sgd, adagrad, rmsprop, adam or sign")
      .add("step", c.step, "step size", above(0))
      .add("schedule", c.schedule, "constant, inverse: step/(1+decay·k), exponential: step·exp(−decay·k)")
      .add("decay", c.decay, "rate of the schedule, per training step", at_least(0))
      .add("clip", c.clip, "largest norm of a particle's velocity; 0 does not clip", at_least(0))
      .add("momentum", c.momentum, "Adam's beta1", between(0, 0.9999))
      .add("second_moment", c.second_moment, "Adam's beta2, RMSProp's rho", between(0, 0.999999))
      .add("epsilon", c.epsilon, "added to the root; sign: v/(|v| + epsilon)", at_least(1e-30))
      .add("first_square", c.first_square, "where RMSProp's mean of squares starts; TensorFlow's starts at 1",
           at_least(0))
      .add("restart", c.restart, "every training restarts the schedule");
}

double step_size(const OptimizerConfig& config, std::int64_t steps_done) {
  const auto k = static_cast<double>(steps_done);
  switch (config.schedule) {
    case Schedule::constant: return config.step;
    case Schedule::inverse: return config.step / (1.0 + config.decay * k);
    case Schedule::exponential: return config.step * std::exp(-config.decay * k);
  }
  throw failed("step_size: schedule {} is not in the enumeration", static_cast<int>(config.schedule));
}

template <class T>
StepFactors<T> step_factors(const OptimizerConfig& c, double step, std::int64_t k) {
  double mean_correction = 1.0, square_correction = 1.0;
  if (c.rule == Rule::adam) {
    mean_correction = 1.0 / (1.0 - std::pow(c.momentum, static_cast<double>(k)));
    square_correction = 1.0 / (1.0 - std::pow(c.second_moment, static_cast<double>(k)));
  }
  return {.step = static_cast<T>(step * mean_correction),
          .momentum = static_cast<T>(c.momentum),
          .second_moment = static_cast<T>(c.second_moment),
          .epsilon = static_cast<T>(c.epsilon),
          .root_correction = static_cast<T>(std::sqrt(square_correction))};
}

template <class T>
void clip_rows(MatrixView<T> velocity, double limit) {
  if (limit <= 0.0) return;
  for (std::size_t i = 0; i < velocity.rows(); ++i) {
    double square = 0.0;
    for (const T x : velocity.row(i)) square += static_cast<double>(x) * static_cast<double>(x);
    const double norm = std::sqrt(square);
    if (norm <= limit) continue;
    for (T& x : velocity.row(i)) x = static_cast<T>(x * (limit / norm));
  }
}

template <class T>
void Optimizer<T>::begin_training() {
  if (config_.restart) schedule_start_ = steps_done_;
}

template <class T>
void Optimizer<T>::ascend(MatrixView<T> theta, MatrixView<T> velocity) {
  check_blocks<T>(theta, velocity);
  begin_step(theta.rows(), theta.cols());
  ascend_columns(0, theta, velocity);
}

template <class T>
void Optimizer<T>::begin_step(std::size_t rows, std::size_t cols) {
  const bool needs_first = config_.rule == Rule::adam;
  const bool needs_second = config_.rule != Rule::sgd && config_.rule != Rule::sign;
  if (needs_first && first_.size() != rows * cols) first_.reshape(rows, cols);
  if (needs_second && second_.size() != rows * cols) {
    second_.reshape(rows, cols);
    if (config_.rule == Rule::rmsprop) std::ranges::fill(second_.flat(), static_cast<T>(config_.first_square));
  }
  columns_ = cols;
  const double step = next_step_size();
  factors_ = step_factors<T>(config_, step, ++steps_done_);
}

template <class T>
void Optimizer<T>::ascend_columns(std::size_t first, MatrixView<T> theta, MatrixView<T> velocity) {
  if (config_.clip > 0.0 && theta.cols() != columns_) throw failed("optimizer: clipping needs all columns at once");
  clip_rows(velocity, config_.clip);
  for (std::size_t i = 0; i < theta.rows(); ++i) ascend_row(theta.row(i), velocity.row(i), i, first);
}

template <class T>
void Optimizer<T>::ascend_row(std::span<T> theta, std::span<const T> v, std::size_t i, std::size_t first) {
  const auto moment = [&](Matrix<T>& m) { return m.row(i).subspan(first, theta.size()); };
  switch (config_.rule) {
    case Rule::sgd: return sgd(theta, v, factors_);
    case Rule::sign: return sign(theta, v, factors_);
    case Rule::adagrad: return adagrad(theta, v, moment(second_), factors_);
    case Rule::rmsprop: return rmsprop(theta, v, moment(second_), factors_);
    case Rule::adam: return adam(theta, v, moment(first_), moment(second_), factors_);
  }
}

template StepFactors<float> step_factors<float>(const OptimizerConfig&, double, std::int64_t);
template StepFactors<double> step_factors<double>(const OptimizerConfig&, double, std::int64_t);
template void clip_rows<float>(MatrixView<float>, double);
template void clip_rows<double>(MatrixView<double>, double);
template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace pits
