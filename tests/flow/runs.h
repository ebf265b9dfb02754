// Running a flow on a known density, and what the cloud says about it afterwards.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "flow/targets.h"
#include "pits/flow/flow.h"
#include "pits/flow/optimizer.h"

namespace pits::test {

// Mean over particles of each coordinate.
inline Eigen::VectorXd cloud_mean(const Matrix<double>& theta) { return eigen(theta).colwise().mean(); }

// Population variance over particles of each coordinate.
inline Eigen::VectorXd cloud_variance(const Matrix<double>& theta) {
  const RowMajor centred = eigen(theta).rowwise() - eigen(theta).colwise().mean();
  return centred.colwise().squaredNorm() / static_cast<double>(theta.rows());
}

inline double rms(const Matrix<double>& a) { return eigen(a).norm() / std::sqrt(static_cast<double>(a.size())); }

struct Rest {
  Matrix<double> theta;  // (M,P)
  double first_speed;    // root mean square of the first velocity
  double last_speed;     // and of the last one
};

// `steps` steps of a flow through an optimiser.
template <class Target>
Rest run_to_rest(const Target& target, const FlowConfig& flow_config, const OptimizerConfig& optimizer_config,
                 int steps, Matrix<double> theta) {
  Flow<double> flow(flow_config);
  Optimizer<double> optimizer(optimizer_config);
  Matrix<double> v(theta.rows(), theta.cols());
  Rest rest{.theta = {}, .first_speed = 0.0, .last_speed = 0.0};
  for (int k = 0; k < steps; ++k) {
    flow.velocity(theta, target.score(theta), v);
    rest.last_speed = rms(v);
    if (k == 0) rest.first_speed = rest.last_speed;
    optimizer.ascend(theta, v);
  }
  rest.theta = std::move(theta);
  return rest;
}

// Adam whose step shrinks by `shrink` over the run, so that the cloud comes to rest.
inline OptimizerConfig settling_adam(double step, int steps, double shrink = 1e-3) {
  return {.rule = Rule::adam, .step = step, .schedule = Schedule::exponential, .decay = -std::log(shrink) / steps};
}

}  // namespace pits::test
