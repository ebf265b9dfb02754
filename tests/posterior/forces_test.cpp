// What drives the particles of a posterior.
#include <gtest/gtest.h>

#include <cmath>

#include "posterior/observations.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 3, K = 2;

PosteriorConfig plain_steps(FlowKind flow) {
  PosteriorConfig c;
  c.particles = 4;
  c.model.hidden = {5};
  c.model.noise_sd = 0.5;
  c.flow.kind = flow;
  c.optimizer = {.rule = Rule::sgd, .step = 1e-4};
  c.batch = 0;
  return c;
}

Posterior after(const PosteriorConfig& config, std::size_t n) {
  Posterior posterior(config, d, K, {.seed = 3});
  for (const PlainObservation& o : linear_data(n, d, K, 7)) observe(posterior, o);
  return posterior;
}

// A plain step of independent particles on all observations is step·score.
TEST(ParticleForces, DriveIsWhatAPlainStepMovesBy) {
  for (const LikelihoodScale scale : {LikelihoodScale::data, LikelihoodScale::minibatch, LikelihoodScale::mean}) {
    PosteriorConfig config = plain_steps(FlowKind::ensemble);
    config.scale = scale;
    Posterior posterior = after(config, 60);
    const Forces forces = posterior.forces();
    const Particles before = copy_of(posterior.particles());
    posterior.train(1);
    double square = 0.0;
    for (std::size_t l = 0; l < before.size(); ++l) {
      square += std::pow(posterior.particles().data()[l] - before.data()[l], 2);
    }
    EXPECT_EQ(forces.repulsion, 0.0);
    // θ is of size 1 and rounds at 6e-8, a step of 1e-4·score is known to that.
    EXPECT_NEAR(forces.drive, std::sqrt(square) / config.optimizer.step, 1e-3 * forces.drive + 1e-2);
  }
}

// Without a prior the drive is the likelihood's: its expectation does not depend on the minibatch with scale=data, and
// is B/t of it with scale=minibatch.
TEST(ParticleForces, DriveIsTheExpectedOne) {
  PosteriorConfig config = plain_steps(FlowKind::blob);
  config.model.prior_precision = 0.0;
  config.model.init = Init::fan_in;
  const double all = after(config, 60).forces().drive;
  config.batch = 12;
  EXPECT_NEAR(after(config, 60).forces().drive, all, 1e-6 * all);
  config.scale = LikelihoodScale::minibatch;
  EXPECT_NEAR(after(config, 60).forces().drive, all * 12.0 / 60.0, 1e-6 * all);
}

// Beyond 4096 observations some are drawn: far from the mode single scores point the same way, so that the drive of the
// draws is off by about 1/√4096 of it, and a step on all observations says what it is.
TEST(ParticleForces, ManyObservationsAreDrawnFrom) {
  PosteriorConfig config = plain_steps(FlowKind::ensemble);
  const double drawn = after(config, 5000).forces().drive;
  Posterior exact = after(config, 5000);
  const Particles before = copy_of(exact.particles());
  exact.train(1);  // batch = 0: all of them
  double square = 0.0;
  for (std::size_t l = 0; l < before.size(); ++l) square += std::pow(exact.particles().data()[l] - before.data()[l], 2);
  EXPECT_NEAR(drawn, std::sqrt(square) / config.optimizer.step, 0.15 * drawn);
}

TEST(ParticleForces, LookingChangesNothing) {
  PosteriorConfig config = plain_steps(FlowKind::dgf);
  config.batch = 16;
  Posterior plain = after(config, 60), watched = after(config, 60);
  for (int i = 0; i < 5; ++i) {
    watched.forces();
    plain.train(2);
    watched.train(2);
  }
  EXPECT_TRUE(std::ranges::equal(plain.particles().flat(), watched.particles().flat()));
  Archive a, b;
  plain.state(a);
  watched.state(b);
  EXPECT_EQ(a.bytes(), b.bytes());
}

TEST(ParticleForces, NeedAnObservation) {
  EXPECT_THROW(Posterior(plain_steps(FlowKind::blob), d, K, {.seed = 3}).forces(), Error);
}

}  // namespace
}  // namespace pits::test
