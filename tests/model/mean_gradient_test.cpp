#include "pits/model/mean_gradient.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/random_problem.h"

namespace pits::test {
namespace {

// Central differences of the plain loops' mean reward by every parameter, for every action.
RC_GTEST_PROP(MeanGradient, IsTheFiniteDifferenceOfTheMean, ()) {
  Shape shape = *any_shape();
  shape.config.activation = Activation::tanh;
  shape.particles = 1;
  const Problem p = make_problem(shape, *rc::gen::arbitrary<std::uint64_t>());
  const std::span<const float> theta = p.theta.row(0);
  const std::vector<float> x(p.data[0].x.begin(), p.data[0].x.end());
  MeanGradient gradient;
  gradient.at(p.model, theta, x);
  const std::vector<double> at(theta.begin(), theta.end());
  for (std::size_t a = 0; a < shape.K; ++a) {
    RC_ASSERT(std::abs(gradient.means()[a] - p.plain.predict(at, p.data[0].x)[a]) < 1e-4);
    const std::span<const float> g = gradient.gradient(p.model, theta, a);
    for (std::size_t i = 0; i < at.size(); i += 1 + at.size() / 30) {
      std::vector<double> above = at, below = at;
      above[i] += 1e-5;
      below[i] -= 1e-5;
      const double slope = (p.plain.predict(above, p.data[0].x)[a] - p.plain.predict(below, p.data[0].x)[a]) / 2e-5;
      RC_ASSERT(std::abs(g[i] - slope) < 1e-3 * (1.0 + std::abs(slope)));
    }
  }
}

}  // namespace
}  // namespace pits::test
