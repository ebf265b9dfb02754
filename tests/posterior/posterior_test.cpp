// The particle posterior's own duties: scaling, addresses, noise, refusals.
#include "pits/posterior/posterior.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "pits/core/parallel.h"
#include "pits/core/simd/kernels.h"
#include "posterior/observations.h"

namespace pits::test {
namespace {

constexpr std::size_t d = 3;
constexpr std::size_t K = 2;

Posterior posterior_after(const PosteriorConfig& config, std::size_t n, int steps, std::uint64_t seed = 5,
                          std::uint32_t realization = 0) {
  Posterior posterior(config, d, K, {.seed = seed, .realization = realization});
  for (const PlainObservation& o : linear_data(n, d, K, 11)) observe(posterior, o);
  if (steps > 0) posterior.train(steps);
  return posterior;
}

std::vector<float> numbers(const Posterior& posterior) {
  const auto flat = posterior.particles().flat();
  return {flat.begin(), flat.end()};
}

PosteriorConfig tiny(FlowKind flow, Rule rule = Rule::sgd, double step = 1e-3) {
  PosteriorConfig c{.particles = 4, .batch = 16};
  c.model = {.hidden = {5}, .noise_sd = 1.0, .prior = PriorScale::same, .prior_precision = 2.0};
  c.flow.kind = flow;
  c.optimizer = {.rule = rule, .step = step};
  return c;
}

// One plain step of independent particles is step·(scale·L + prior), prior = −precision·θ: without the prior, the steps
// with scale t/B and 1 on the same minibatch have the ratio t/B.
TEST(Posterior, DataScaleMultipliesTheMinibatchLikelihoodByTOverB) {
  constexpr std::size_t t = 40;
  PosteriorConfig config = tiny(FlowKind::ensemble);
  const std::vector<float> start = numbers(posterior_after(config, t, 0));
  config.scale = LikelihoodScale::data;
  const std::vector<float> by_data = numbers(posterior_after(config, t, 1));
  config.scale = LikelihoodScale::minibatch;
  const std::vector<float> by_minibatch = numbers(posterior_after(config, t, 1));
  double largest = 0.0;
  for (std::size_t l = 0; l < start.size(); ++l) {
    const double prior = -1e-3 * 2.0 * start[l];
    const double data = double{by_data[l]} - start[l] - prior;
    const double minibatch = double{by_minibatch[l]} - start[l] - prior;
    largest = std::max(largest, std::abs(minibatch));
    EXPECT_NEAR(data, minibatch * t / 16.0, 2e-6);  // θ near 1 rounds by 6e-8, a difference of two by twice that
  }
  EXPECT_GT(largest, 1e-3);
}

std::string refusal(const PosteriorConfig& config) {
  try {
    Posterior(config, d, K, {.seed = 1});
    return {};
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Posterior, ProductsInBf16AreNearThoseInFloat32) {
  if (!tiles_in_use()) GTEST_SKIP() << "needs AMX";
  PosteriorConfig config = tiny(FlowKind::svgd);
  config.model.activation = Activation::tanh;
  const std::vector<float> start = numbers(posterior_after(config, 40, 0));
  const std::vector<float> exact = numbers(posterior_after(config, 40, 1));
  config.products = Products::bf16;
  const std::vector<float> rounded = numbers(posterior_after(config, 40, 1));
  double moved = 0.0, off = 0.0;
  for (std::size_t l = 0; l < start.size(); ++l) {
    moved = std::max(moved, std::abs(double{exact[l]} - start[l]));
    off = std::max(off, std::abs(double{rounded[l]} - exact[l]));
  }
  EXPECT_GT(off, 0.0);
  EXPECT_LT(off, moved / 10);
}

TEST(Posterior, ProductsInBf16NeedHiddenLayersAndAmx) {
  PosteriorConfig config = tiny(FlowKind::svgd);
  config.products = Products::bf16;
  if (tiles_in_use()) {
    EXPECT_EQ(refusal(config), "");
  }
  force_simd_target(simd_targets().back());
  EXPECT_NE(refusal(config).find("AMX"), std::string::npos);
  force_simd_target("");
  config.model.kind = ModelKind::linear;
  EXPECT_NE(refusal(config).find("hidden layers"), std::string::npos);
}

TEST(Posterior, SameSeedSameBits) {
  for (const FlowKind flow : {FlowKind::dgf, FlowKind::svgd, FlowKind::spos}) {
    EXPECT_EQ(numbers(posterior_after(tiny(flow), 30, 7)), numbers(posterior_after(tiny(flow), 30, 7)));
  }
}

TEST(Posterior, SpreadOverThreadsHasTheSameBits) {
  PosteriorConfig anchored = tiny(FlowKind::ensemble);
  anchored.perturbation.anchors = true;
  PosteriorConfig marked = anchored;
  marked.perturbation.weights = BootstrapWeights::exponential;
  for (const PosteriorConfig& config : {tiny(FlowKind::svgd, Rule::adam), anchored, marked}) {
    const std::vector<float> alone = numbers(posterior_after(config, 40, 6));
    for (const int threads : {2, 3, 16}) {  // 16: more than there are particles
      const InnerThreads inner(threads);
      EXPECT_EQ(numbers(posterior_after(config, 40, 6)), alone) << threads;
    }
  }
}

// Independent particles do not see each other: particle i with the noise that its last layers found is that of a
// posterior whose particles all have it. A training of no steps fits the last layers.
TEST(Posterior, ParticlesTrainWithTheNoiseOfTheirLastLayers) {
  PosteriorConfig config = tiny(FlowKind::ensemble, Rule::adam);
  config.model.noise_sd = 1e-3;
  config.last_layer = {.kind = LastLayerKind::exact, .train_noise = true};
  const auto fitted = [&] {
    Posterior posterior = posterior_after(config, 40, 0);
    posterior.train(0);
    return posterior;
  };
  const auto trained = [&](int threads) {
    const InnerThreads inner(threads);
    Posterior posterior = fitted();
    posterior.train(6);
    return numbers(posterior);
  };
  const std::vector<float> own = trained(1);
  EXPECT_EQ(trained(3), own);
  std::vector<double> noise;
  for (std::size_t i = 0; i < 4; ++i) noise.push_back(std::sqrt(fitted().last_layers()->noise_variance(i)));
  EXPECT_NE(noise[0], noise[1]);
  config.last_layer = {};
  const std::size_t P = own.size() / noise.size();
  for (std::size_t i = 0; i < noise.size(); ++i) {
    ASSERT_GT(noise[i], 1e-3);
    config.model.noise_sd = static_cast<float>(noise[i]);
    const std::vector<float> same = numbers(posterior_after(config, 40, 6));
    EXPECT_TRUE(std::equal(own.begin() + i * P, own.begin() + (i + 1) * P, same.begin() + i * P)) << i;
  }
}

TEST(Posterior, OtherSeedsAndRealizationsStartAndTrainOtherwise) {
  const PosteriorConfig config = tiny(FlowKind::svgd);
  for (const int steps : {0, 3}) {
    const std::vector<float> base = numbers(posterior_after(config, 30, steps));
    EXPECT_NE(base, numbers(posterior_after(config, 30, steps, 6)));
    EXPECT_NE(base, numbers(posterior_after(config, 30, steps, 5, 1)));
  }
}

// Draws have addresses, so that how the steps are split into calls leaves no trace; θ′ and Adam's memory persist.
TEST(Posterior, TrainingInPartsIsTrainingAtOnce) {
  for (const FlowKind flow : {FlowKind::dgf, FlowKind::dgf_released}) {
    const PosteriorConfig config = tiny(flow, Rule::adam);
    Posterior parts = posterior_after(config, 30, 0);
    for (const int steps : {1, 4, 2}) parts.train(steps);
    EXPECT_EQ(parts.steps_done(), 7);
    EXPECT_EQ(numbers(parts), numbers(posterior_after(config, 30, 7)));
  }
}

// θ₁ − θ₀ − step·v is √(2·temperature·step) N(0,1): v from the same seed without noise. SGLD has temperature 1 and
// SPOS β. The variance of n normal draws has relative standard error √(2/n).
void expect_diffusion(FlowKind noisy, FlowKind drift, double temperature) {
  PosteriorConfig config = tiny(noisy, Rule::sgd, 1e-4);
  config.particles = 300;
  config.flow.beta = temperature;
  config.optimizer.schedule = Schedule::exponential;
  config.optimizer.decay = 1.0;
  const std::vector<float> with_noise = numbers(posterior_after(config, 30, 1));
  config.flow.kind = drift;
  const std::vector<float> without = numbers(posterior_after(config, 30, 1));
  double mean = 0.0;
  double variance = 0.0;
  const auto n = static_cast<double>(without.size());
  for (std::size_t l = 0; l < without.size(); ++l) mean += (double{with_noise[l]} - without[l]) / n;
  for (std::size_t l = 0; l < without.size(); ++l) variance += std::pow(double{with_noise[l]} - without[l], 2) / n;
  const double expected = 2.0 * temperature * 1e-4;  // the first step's size, before any decay
  EXPECT_NEAR(variance, expected, 4.5 * expected * std::sqrt(2.0 / n));
  EXPECT_NEAR(mean, 0.0, 4.5 * std::sqrt(expected / n));
}

TEST(Posterior, LangevinNoiseHasTwiceTheStepAsVariance) { expect_diffusion(FlowKind::sgld, FlowKind::ensemble, 1.0); }

// SPOS drifts by SVGD + βG; SVGD alone differs from it by β·step·G, which a tiny β hides below the noise.
TEST(Posterior, SposNoiseHasTwiceBetaTimesTheStepAsVariance) { expect_diffusion(FlowKind::spos, FlowKind::svgd, 1e-3); }

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Posterior, NoisyFlowsRefuseOptimisersOtherThanPlainSteps) {
  for (const FlowKind flow : {FlowKind::spos, FlowKind::sgld}) {
    for (const Rule rule : {Rule::adam, Rule::sign, Rule::rmsprop, Rule::adagrad}) {
      const std::string message = refusal([&] { Posterior(tiny(flow, rule), d, K, {.seed = 1}); });
      EXPECT_NE(message.find("optimizer=sgd"), std::string::npos) << message;
      EXPECT_NE(message.find(format_value(flow)), std::string::npos) << message;
    }
    EXPECT_NO_THROW(Posterior(tiny(flow, Rule::sgd), d, K, {.seed = 1}));
  }
}

// Hundreds of steps after the first overflow: every flow must still come to the refusal and not to a crash.
TEST(Posterior, DivergenceIsAnErrorThatNamesTheStep) {
  for (const FlowKind flow : {FlowKind::ensemble, FlowKind::svgd, FlowKind::dgf, FlowKind::dgf_released,
                              FlowKind::dgf_sinkhorn, FlowKind::blob, FlowKind::gfsd, FlowKind::gfsf}) {
    PosteriorConfig config = tiny(flow, Rule::sgd, 1e6);
    config.flow.tau = 1e8;  // Sinkhorn's form refuses less than ten steps at once
    const std::string message = refusal([&] { posterior_after(config, 30, 300); });
    EXPECT_NE(message.find("diverged"), std::string::npos) << format_value(flow) << ": " << message;
    EXPECT_NE(message.find("1000000"), std::string::npos) << message;
  }
}

// A training that fails leaves the networks, their units and the optimiser as they were: a later one is that of a
// posterior which never failed. Plain steps of 0.3 on a linear model of 30 observations multiply θ by about 8.
TEST(Posterior, ATrainingThatDivergesIsUndone) {
  for (const UnitsKind units : {UnitsKind::raw, UnitsKind::standardised}) {
    PosteriorConfig config = tiny(FlowKind::ensemble, Rule::sgd, 0.3);
    config.model.kind = ModelKind::linear;
    config.units = units;
    const std::vector<float> x = {1.0F, 20.0F, -3.0F};
    Posterior posterior = posterior_after(config, 30, 5), spared = posterior_after(config, 30, 5);
    for (Posterior* p : {&posterior, &spared}) p->observe({.context = x, .action = 1, .reward = 5.0F});
    const std::span<const float> seen = posterior.standardiser().context(x);
    const std::vector<float> z(seen.begin(), seen.end());
    EXPECT_NE(refusal([&] { posterior.train(300); }).find("diverged"), std::string::npos);
    EXPECT_EQ(numbers(posterior), numbers(spared));
    EXPECT_EQ(posterior.steps_done(), 5);
    EXPECT_TRUE(std::ranges::equal(posterior.standardiser().context(x), z));
    posterior.train(2);
    spared.train(2);
    EXPECT_EQ(numbers(posterior), numbers(spared));
  }
}

TEST(Posterior, BernoulliModelsRefuseOtherRewards) {
  PosteriorConfig config = tiny(FlowKind::svgd);
  const std::vector<float> x(d, 0.5F);
  for (const ModelKind kind : {ModelKind::logistic, ModelKind::mlp_logistic}) {
    config.model.kind = kind;
    Posterior posterior(config, d, K, {.seed = 1});
    for (const float bad : {-0.01F, 1.01F, std::nanf("")}) {
      const std::string message = refusal([&] { posterior.observe({.context = x, .action = 0, .reward = bad}); });
      EXPECT_NE(message.find("0..1"), std::string::npos) << message;
    }
    for (const float good : {0.0F, 0.25F, 1.0F}) posterior.observe({.context = x, .action = 0, .reward = good});
    EXPECT_EQ(posterior.history().seen(), 3U);
  }
}

TEST(Posterior, BernoulliModelsRefuseOtherUnits) {
  PosteriorConfig config = tiny(FlowKind::svgd);
  for (const ModelKind kind : {ModelKind::logistic, ModelKind::mlp_logistic}) {
    config.model.kind = kind;
    for (const UnitsKind units : {UnitsKind::standardised, UnitsKind::robust}) {
      config.units = units;
      EXPECT_NE(refusal(config).find("units=raw"), std::string::npos) << refusal(config);
    }
    config.units = UnitsKind::raw;
    EXPECT_EQ(refusal(config), "");
  }
}

TEST(Posterior, RefusesToTrainOnNothingAndBadConfigs) {
  Posterior empty(tiny(FlowKind::svgd), d, K, {.seed = 1});
  EXPECT_THROW(empty.train(1), Error);
  const auto refused = [](auto change) {
    PosteriorConfig config = tiny(FlowKind::svgd);
    change(config);
    return refusal([&] { Posterior(config, d, K, {.seed = 1}); });
  };
  EXPECT_NE(refused([](auto& c) { c.particles = 0; }).find("particles"), std::string::npos);
  EXPECT_NE(refused([](auto& c) { c.batch = -1; }).find("batch"), std::string::npos);
  EXPECT_NE(refused([](auto& c) { c.memory.capacity = -1; }).find("capacity"), std::string::npos);
  EXPECT_NE(refused([](auto& c) { c.optimizer.step = -1.0; }).find("step"), std::string::npos);
}

}  // namespace
}  // namespace pits::test
