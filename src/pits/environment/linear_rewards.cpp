#include "pits/environment/linear_rewards.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pits {
namespace {

Eigen::VectorXd draw_column(Stream& stream, Eigen::Index d, Support support) {
  std::vector<Eigen::Index> kept(static_cast<std::size_t>(d));
  std::iota(kept.begin(), kept.end(), Eigen::Index{0});
  if (support == Support::third) {
    const auto count = static_cast<std::size_t>(std::max<Eigen::Index>(1, d / 3));
    for (std::size_t i = 0; i < count; ++i) {  // the first steps of a Fisher-Yates shuffle
      std::swap(kept[i], kept[i + stream.index(static_cast<std::uint32_t>(kept.size() - i))]);
    }
    kept.resize(count);
  }
  Eigen::VectorXd beta = Eigen::VectorXd::Zero(d);
  for (const Eigen::Index i : kept) beta[i] = 2.0 * stream.uniform() - 1.0;
  return beta.normalized();
}

}  // namespace

double RewardNoise::sd(std::size_t action) const {
  const double factor = growth == NoiseGrowth::action ? static_cast<double>(action) + 1.0 : 1.0;
  return unit == NoiseUnit::sd ? level * factor : std::sqrt(level * factor);
}

Fields fields(RewardNoise& noise) {
  return Fields{}
      .add("noise", noise.unit, "what noise_level is: sd or variance")
      .add("noise_level", noise.level, "noise of action 1", at_least(0))
      .add("noise_growth", noise.growth, "action: level times a for action a = 1..K; none: the same for all");
}

Eigen::MatrixXd draw_coefficients(Stream& stream, Eigen::Index d, Eigen::Index K, Support support) {
  Eigen::MatrixXd beta(d, K);
  for (Eigen::Index a = 0; a < K; ++a) beta.col(a) = draw_column(stream, d, support);
  return beta;
}

void draw_linear_rewards(const Eigen::MatrixXd& beta, const RewardNoise& noise, Stream stream, Round& round) {
  const Eigen::VectorXd x =
      Eigen::Map<const Eigen::VectorXf>(round.context.data(), std::ssize(round.context)).cast<double>();
  const Eigen::VectorXd means = beta.transpose() * x;
  round.mean_rewards.assign(means.begin(), means.end());
  round.rewards.resize(round.mean_rewards.size());
  for (std::size_t a = 0; a < round.rewards.size(); ++a) {
    round.rewards[a] = round.mean_rewards[a] + noise.sd(a) * stream.normal();
  }
}

}  // namespace pits
