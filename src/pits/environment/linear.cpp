#include "pits/environment/linear.h"

#include <Eigen/Cholesky>
#include <cmath>

namespace pits {
namespace {

Eigen::VectorXd mean_vector(const std::vector<double>& mean, Eigen::Index d) {
  if (mean.size() == 1) return Eigen::VectorXd::Constant(d, mean[0]);
  if (static_cast<Eigen::Index>(mean.size()) != d) {
    throw bad_input("mean: must have 1 or {} numbers (dimension), not {}", d, mean.size());
  }
  return Eigen::Map<const Eigen::VectorXd>(mean.data(), d);
}

// Standard deviations where Σ is given as one variance or d of them; empty for a whole matrix.
Eigen::VectorXd diagonal_root(const std::vector<double>& covariance, Eigen::Index d) {
  const auto n = static_cast<Eigen::Index>(covariance.size());
  if (n != 1 && n != d && n != d * d) {
    throw bad_input("covariance: must have 1, {} or {} numbers, not {}", d, d * d, n);
  }
  if (n == d * d && d > 1) return {};
  Eigen::VectorXd sd(d);
  for (Eigen::Index i = 0; i < d; ++i) {
    const double variance = covariance[n == 1 ? 0 : static_cast<std::size_t>(i)];
    if (!(variance > 0.0)) throw bad_input("covariance: a variance must be above 0, not {}", variance);
    sd[i] = std::sqrt(variance);
  }
  return sd;
}

Eigen::MatrixXd cholesky_root(const std::vector<double>& covariance, Eigen::Index d) {
  const Eigen::MatrixXd sigma = Eigen::Map<const Eigen::MatrixXd>(covariance.data(), d, d);
  const Eigen::LLT<Eigen::MatrixXd> cholesky(sigma);
  if (cholesky.info() != Eigen::Success || !sigma.isApprox(sigma.transpose())) {
    throw bad_input("covariance: must be symmetric and positive definite");
  }
  return cholesky.matrixL();
}

LinearConfig named_dimension(std::string_view preset, int actions, Support support) {
  return {.dimension = preset == "d20" ? 20 : 10, .actions = actions, .support = support};
}

}  // namespace

Fields fields(LinearConfig& c) {
  return Fields{}
      .add("dimension", c.dimension, "numbers in a context, d", between(1, 1e5))
      .add("actions", c.actions, "number of actions K", between(1, 1e5))
      .merge(fields(c.noise))
      .add("mean", c.mean, "mean of the contexts: 1 or d numbers")
      .add("covariance", c.covariance, "covariance of the contexts: 1 variance, d variances or d*d numbers");
}

LinearConfig linear_preset(std::string_view name) { return named_dimension(name, 8, Support::all); }
LinearConfig sparse_linear_preset(std::string_view name) { return named_dimension(name, 7, Support::third); }

Linear::Linear(const LinearConfig& config, const EnvironmentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      mean_(mean_vector(config.mean, config.dimension)),
      sd_(diagonal_root(config.covariance, config.dimension)),
      root_(sd_.size() > 0 ? Eigen::MatrixXd() : cholesky_root(config.covariance, config.dimension)) {
  Stream stream({.seed = setup.seed, .realization = setup.realization, .purpose = Purpose::environment_setup});
  beta_ = draw_coefficients(stream, config.dimension, config.actions, config.support);
}

void Linear::draw(std::size_t t, Round& round) const {
  Stream contexts = round_stream(setup_, Purpose::environment_context, t);
  Eigen::VectorXd z(beta_.rows());
  for (double& value : z) value = contexts.normal();
  if (sd_.size() > 0) {
    z.array() *= sd_.array();
  } else {
    z = root_ * z;
  }
  const Eigen::VectorXf x = (mean_ + z).cast<float>();
  round.context.assign(x.begin(), x.end());
  draw_linear_rewards(beta_, config_.noise, round_stream(setup_, Purpose::environment_reward, t), round);
}

}  // namespace pits
