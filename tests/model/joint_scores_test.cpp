#include "pits/model/joint_scores.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "model/plain_model.h"
#include "pits/model/reward_model.h"

namespace pits::test {
namespace {

Matrix<float> normals(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix<float> m(rows, cols);
  Stream({.seed = seed, .purpose = Purpose::target_sample}).fill_normal(m.flat());
  return m;
}

// Against the plain loop on (x, z_a), action by action; more actions than fit one tile.
RC_GTEST_PROP(JointScores, AreThePlainLoopsOnEveryPair, (std::uint32_t seed)) {
  const std::size_t d = *rc::gen::inRange<std::size_t>(1, 7);
  const std::size_t dz = *rc::gen::inRange<std::size_t>(1, 9);
  const std::size_t K = *rc::gen::element<std::size_t>(1, 3, 255, 256, 257, 600);
  ModelConfig config;
  config.hidden = *rc::gen::element(std::vector<int>{}, std::vector<int>{5}, std::vector<int>{7, 4});
  if (config.hidden.empty()) config.kind = ModelKind::linear;
  config.activation = *rc::gen::element(Activation::relu, Activation::tanh);
  const RewardModel model(config, d + dz, 1);
  const Matrix<float> theta = normals(3, model.parameters(), seed);
  const Matrix<float> x = normals(1, d, seed + 1);
  const Matrix<float> z = normals(K, dz, seed + 2);
  Matrix<float> out(3, K);
  joint_scores(model.network(), theta, x.row(0), z, out);
  const PlainModel plain{config, d + dz, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t a = 0; a < K; ++a) {
      std::vector<double> joint(x.row(0).begin(), x.row(0).end());
      joint.insert(joint.end(), z.row(a).begin(), z.row(a).end());
      const double expected = plain.predict(as_double(theta.row(i)), joint)[0];
      RC_ASSERT(std::abs(out(i, a) - expected) <= 1e-4 * (1.0 + std::abs(expected)));
    }
  }
}

}  // namespace
}  // namespace pits::test
