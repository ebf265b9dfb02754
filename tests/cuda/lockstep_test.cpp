#include "pits/cuda/lockstep.h"

#include <gtest/gtest.h>

#include "cuda/plain_update.h"
#include "pits/core/error.h"
#include "pits/cuda/card_settings.h"
#include "pits/cuda/device.h"

namespace pits::cuda {
namespace {

using test::PlainObservation;

#define NEEDS_CARD() \
  if (device_count() == 0) GTEST_SKIP() << "no GPU here"

TEST(PlainScore, IsTheGradientOfThePlainLogPosterior) {
  for (const bool tanh : {false, true}) {
    ModelConfig config;
    config.hidden = {5, 4};
    config.activation = tanh ? Activation::tanh : Activation::relu;
    config.noise = Noise::learned_per_action;
    const test::PlainModel model{config, 3, 2};
    Stream stream({.seed = 3});
    std::vector<double> theta(model.parameters());
    for (double& x : theta) x = 0.7 * stream.normal();
    std::vector<PlainObservation> data;
    for (std::size_t b = 0; b < 6; ++b) {
      data.push_back({.x = {stream.normal(), stream.normal(), stream.normal()}, .action = b % 2, .reward = 0.3});
    }
    const auto gradient = test::plain_score(model, theta, data, 1.7);
    const auto expected = test::central_differences(
        [&](const std::vector<double>& at) { return model.log_posterior(at, data, 1.7); }, theta);
    for (std::size_t l = 0; l < theta.size(); ++l) EXPECT_NEAR(gradient[l], expected[l], 1e-4 * (1 + std::abs(expected[l])));
  }
}

// A problem of G realizations with random rounds and random actions in the past.
struct Case {
  std::string name;
  PiTsConfig config;
  std::size_t d, K, G, seen;
};

struct Setting {
  std::vector<float> contexts, rewards;    // (G,T,d), (G,T,K)
  std::vector<std::int32_t> actions;       // (G,T)
  std::vector<std::uint32_t> realization;  // (G)

  Setting(const Case& c, std::uint64_t seed) {
    Stream stream({.seed = seed, .purpose = Purpose::target_sample});
    const std::size_t T = c.seen;
    contexts.resize(c.G * T * c.d);
    rewards.resize(c.G * T * c.K);
    actions.resize(c.G * T);
    stream.fill_normal(contexts);
    const ModelKind kind = c.config.posterior.model.kind;
    const bool bernoulli = kind == ModelKind::logistic || kind == ModelKind::mlp_logistic;
    for (float& r : rewards) r = bernoulli ? stream.uniform_float() : static_cast<float>(stream.normal());
    for (std::int32_t& a : actions) a = static_cast<std::int32_t>(stream.index(static_cast<std::uint32_t>(c.K)));
    for (std::size_t g = 0; g < c.G; ++g) realization.push_back(static_cast<std::uint32_t>(3 * g + 1));
  }

  std::vector<PlainObservation> history(const Case& c, std::size_t g) const {
    std::vector<PlainObservation> list;
    for (std::size_t t = 0; t < c.seen; ++t) {
      const std::size_t round = g * c.seen + t;
      const float* x = contexts.data() + round * c.d;
      const auto a = static_cast<std::size_t>(actions[round]);
      list.push_back({.x = {x, x + c.d}, .action = a, .reward = rewards[round * c.K + a]});
    }
    return list;
  }
};

constexpr std::uint64_t seed = 77;

std::unique_ptr<Lockstep> on_card(const Case& c, const Setting& s, CardPrecision precision) {
  PiTsConfig config = c.config;
  config.train_every = 1;  // step sizes for more steps than any test takes
  config.train_steps = 5;
  const Settings settings = card_settings(config, {c.d, c.K, seed, 0}, c.seen, precision);
  auto lockstep = std::make_unique<Lockstep>(settings, s.realization, c.seen);
  for (std::size_t g = 0; g < c.G; ++g) {
    lockstep->set_rounds(g, std::span(s.contexts).subspan(g * c.seen * c.d, c.seen * c.d),
                         std::span(s.rewards).subspan(g * c.seen * c.K, c.seen * c.K));
  }
  lockstep->set_history(s.actions);
  return lockstep;
}

// ‖a − b‖/‖b‖
double relative_error(std::span<const double> a, std::span<const double> b) {
  double difference = 0.0, size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

struct Errors {
  double score = 0.0, move = 0.0;  // the largest of all realizations
};

// `steps` training steps on the card against the same in double.
Errors compare(const Case& c, CardPrecision precision, int steps = 1) {
  const Setting s(c, 100 * c.d + c.K);
  const auto lockstep = on_card(c, s, precision);
  const std::vector<float> before = lockstep->particles();
  lockstep->train(steps, c.seen);
  const std::vector<float> after = lockstep->particles(), scores = lockstep->scores();
  const auto M = static_cast<std::size_t>(c.config.posterior.particles);
  const std::size_t P = before.size() / c.G / M;
  Errors errors;
  for (std::size_t g = 0; g < c.G; ++g) {
    test::PlainPosterior plain(c.config.posterior, c.d, c.K, {.seed = seed, .realization = s.realization[g]});
    plain.theta.reshape(M, P);
    std::copy_n(before.data() + g * M * P, M * P, plain.theta.data());
    const std::vector<double> start(plain.theta.flat().begin(), plain.theta.flat().end());
    const std::vector<PlainObservation> history = s.history(c, g);
    for (int k = 0; k < steps; ++k) plain.step(history, static_cast<std::uint32_t>(k));
    std::vector<double> card_move(M * P), plain_move(M * P), card_score(M * P);
    for (std::size_t l = 0; l < M * P; ++l) {
      card_move[l] = static_cast<double>(after[g * M * P + l]) - start[l];
      plain_move[l] = plain.theta.data()[l] - start[l];
      card_score[l] = scores[g * M * P + l];
    }
    errors.score = std::max(errors.score, relative_error(card_score, std::as_const(plain.score).flat()));
    errors.move = std::max(errors.move, relative_error(card_move, plain_move));
  }
  return errors;
}

// Steps large enough that the rounding of θ itself does not hide them; rules whose root or sign is smooth near 0.
PiTsConfig smooth(FlowKind flow, Rule rule = Rule::sgd) {
  PiTsConfig c;
  c.posterior.particles = 7;
  c.posterior.flow.kind = flow;
  c.posterior.optimizer = {.rule = rule, .step = 0.5, .epsilon = 1.0};
  c.posterior.model.noise_sd = 0.8;
  c.posterior.batch = 100;
  return c;
}

constexpr FlowKind flows[] = {FlowKind::ensemble, FlowKind::svgd, FlowKind::dgf,
                              FlowKind::dgf_released, FlowKind::blob, FlowKind::gfsd};

// Shapes that the narrow kernel takes, with every number of columns that it is compiled for, and some that it does not.
std::vector<Case> shapes(FlowKind flow) {
  std::vector<Case> list;
  const auto add = [&](std::string name, std::size_t d, std::size_t K, std::size_t G, std::size_t seen) -> PiTsConfig& {
    list.push_back({format_value(flow) + " " + name, smooth(flow), d, K, G, seen});
    return list.back().config;
  };
  for (const std::size_t d : {1U, 15U, 16U, 40U, 80U, 110U, 150U, 200U, 389U}) {
    add(fmt::format("narrow d={}", d), d, 1 + d % 16, 2, 150).posterior.model.hidden = {static_cast<int>(1 + d % 63)};
  }
  add("M=1", 9, 7, 2, 60).posterior.particles = 1;
  add("M=20, B=512", 9, 7, 3, 300) = [&] {
    PiTsConfig c = smooth(flow);
    c.posterior.particles = 20;
    c.posterior.batch = 512;
    return c;
  }();
  add("M=64", 5, 3, 1, 50).posterior.particles = 64;
  add("M=70", 5, 3, 2, 50).posterior.particles = 70;
  add("all observations", 12, 4, 2, 333).posterior.batch = 0;
  add("the last 64", 12, 4, 2, 150).posterior.capacity = 64;
  add("tanh", 12, 4, 2, 150).posterior.model.activation = Activation::tanh;
  add("linear", 11, 5, 2, 150).posterior.model.kind = ModelKind::linear;
  add("logistic", 11, 5, 2, 150).posterior.model.kind = ModelKind::logistic;
  add("mlp-logistic", 11, 5, 2, 150).posterior.model.kind = ModelKind::mlp_logistic;
  add("two layers", 21, 8, 2, 150).posterior.model.hidden = {50, 50};
  add("three layers, tanh", 6, 2, 2, 90) = [&] {
    PiTsConfig c = smooth(flow);
    c.posterior.model.hidden = {17, 5, 9};
    c.posterior.model.activation = Activation::tanh;
    return c;
  }();
  add("two layers, fused ReLU", 21, 8, 2, 150).posterior.model.hidden = {64, 32};
  add("wide", 30, 3, 1, 90).posterior.model.hidden = {100};
  add("many actions", 6, 40, 1, 200);
  add("two layers, all observations", 6, 3, 2, 77) = [&] {
    PiTsConfig c = smooth(flow);
    c.posterior.model.hidden = {8, 8};
    c.posterior.batch = 0;
    return c;
  }();
  for (const Noise noise : {Noise::learned, Noise::learned_per_action}) {
    add("noise " + format_value(noise), 12, 4, 2, 150).posterior.model.noise = noise;
    PiTsConfig& c = add("two layers, noise " + format_value(noise), 12, 4, 2, 150);
    c.posterior.model.noise = noise;
    c.posterior.model.hidden = {9, 9};
  }
  return list;
}

class EveryFlow : public testing::TestWithParam<FlowKind> {};
INSTANTIATE_TEST_SUITE_P(Lockstep, EveryFlow, testing::ValuesIn(flows),
                         [](const auto& kind) {
                           std::string name = format_value(kind.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EveryFlow, OneStepIsThatOfTheDoubleReference) {
  NEEDS_CARD();
  for (const Case& c : shapes(GetParam())) {
    const Errors errors = compare(c, CardPrecision::float32);
    EXPECT_LT(errors.score, 1e-4) << c.name;
    EXPECT_LT(errors.move, 1e-4) << c.name;
    RecordProperty(c.name, fmt::format("score {:.1e} move {:.1e}", errors.score, errors.move));
  }
}

// A mantissa of 10 bits: 2⁻¹¹ a product. With ReLU, a share of units of about that size falls on the other side of the
// kink, each an error of its whole part: the root of the share.
TEST_P(EveryFlow, OneStepInTf32IsNearTheDoubleReference) {
  NEEDS_CARD();
  for (Case c : shapes(GetParam())) {
    const Errors kinked = compare(c, CardPrecision::tf32);
    EXPECT_LT(kinked.score, 5e-2) << c.name;
    EXPECT_LT(kinked.move, 5e-2) << c.name;
    c.config.posterior.model.activation = Activation::tanh;
    const Errors errors = compare(c, CardPrecision::tf32);
    EXPECT_LT(errors.score, 3e-3) << c.name;
    EXPECT_LT(errors.move, 3e-3) << c.name;
  }
}

// The cloud before, the rule's memory and the addresses of later draws; tanh, for a kink makes later steps jump.
TEST_P(EveryFlow, SeveralStepsAreThoseOfTheDoubleReference) {
  NEEDS_CARD();
  for (const Rule rule : {Rule::sgd, Rule::adagrad, Rule::rmsprop, Rule::adam, Rule::sign}) {
    for (const int particles : {5, 66}) {
      PiTsConfig config = smooth(GetParam(), rule);
      config.posterior.particles = particles;
      config.posterior.model.activation = Activation::tanh;
      config.posterior.optimizer.step = 0.02;
      config.posterior.optimizer.schedule = Schedule::exponential;
      config.posterior.optimizer.decay = 0.1;
      config.posterior.optimizer.first_square = 1.0;
      const Case c{format_value(GetParam()) + format_value(rule), config, 9, 4, 2, 80};
      EXPECT_LT(compare(c, CardPrecision::float32, 4).move, 1e-4) << c.name << " M=" << particles;
    }
  }
}

TEST(Lockstep, FieldsOfTheFlowsArriveAtTheCard) {
  NEEDS_CARD();
  std::vector<Case> list;
  const auto add = [&](std::string name, FlowKind flow) -> FlowConfig& {
    list.push_back({std::move(name), smooth(flow), 9, 4, 2, 80});
    list.back().config.posterior.model.activation = Activation::tanh;
    list.back().config.posterior.optimizer.step = 0.02;
    return list.back().config.posterior.flow;
  };
  add("fixed bandwidth", FlowKind::svgd).bandwidth = Scale::fixed(30.0);
  add("off the diagonal", FlowKind::blob).bandwidth = {Scale::Rule::median_off_diagonal, 0.0};
  add("own score", FlowKind::svgd).score_at = ScoreAt::own;
  add("entropy", FlowKind::gfsd).entropy = 0.3;
  add("blob drive", FlowKind::dgf).drive = Drive::blob;
  add("fixed lambda", FlowKind::dgf).lambda = Scale::fixed(25.0);
  add("lambda off the diagonal", FlowKind::dgf).lambda = {Scale::Rule::median_off_diagonal, 0.0};
  add("gamma", FlowKind::dgf).gamma = 2.5;
  add("held cloud", FlowKind::dgf).inner_steps = 2;
  for (const LikelihoodScale scale : {LikelihoodScale::minibatch, LikelihoodScale::mean}) {
    add("scale", FlowKind::dgf);
    list.back().config.posterior.scale = scale;
  }
  for (Case c : list) {
    for (const int particles : {6, 65}) {
      c.config.posterior.particles = particles;
      EXPECT_LT(compare(c, CardPrecision::float32, 4).move, 1e-4) << c.name << " M=" << particles;
    }
  }
}

// Float numbers between a and b.
std::int64_t ulps(float a, float b) {
  const auto ordered = [](float x) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(x));
    return bits < 0x80000000LL ? bits : 0x80000000LL - bits;
  };
  return std::abs(ordered(a) - ordered(b));
}

TEST(Lockstep, FirstParticlesAreTheCpus) {
  NEEDS_CARD();
  for (const Init init : {Init::prior, Init::fan_in, Init::uniform}) {
    for (const Noise noise : {Noise::fixed, Noise::learned_per_action}) {
      Case c{"init", smooth(FlowKind::svgd), 13, 5, 3, 10};
      c.config.posterior.model.init = init;
      c.config.posterior.model.noise = noise;
      c.config.posterior.model.hidden = {50, 7};
      c.config.posterior.particles = 20;
      const Setting s(c, 1);
      const std::vector<float> drawn = on_card(c, s, CardPrecision::tf32)->particles();
      const std::size_t size = drawn.size() / c.G;
      for (std::size_t g = 0; g < c.G; ++g) {
        const ParticlePosterior cpu(c.config.posterior, c.d, c.K, seed, s.realization[g]);
        ASSERT_EQ(cpu.particles().size(), size);
        for (std::size_t l = 0; l < size; ++l) {
          const float expected = cpu.particles().data()[l];
          ASSERT_LE(ulps(drawn[g * size + l], expected), init == Init::uniform ? 0 : 4) << l;
        }
      }
    }
  }
}

// With particles that never move, every decision is known.
TEST(Lockstep, DecisionsAreTheCpus) {
  NEEDS_CARD();
  for (const double floor : {0.0, 0.3}) {
    for (const std::vector<int>& hidden : {std::vector<int>{50}, std::vector<int>{20, 10}}) {
      Case c{"decisions", smooth(FlowKind::svgd), 21, 8, 3, 500};
      c.config.posterior.model.hidden = hidden;
      c.config.floor = floor;
      c.config.floor_decay = 0.01;
      c.config.train_every = 1000;
      const Setting s(c, 5);
      const Settings settings = card_settings(c.config, {c.d, c.K, seed, 0}, c.seen, CardPrecision::tf32);
      Lockstep lockstep(settings, s.realization, c.seen);
      for (std::size_t g = 0; g < c.G; ++g) {
        lockstep.set_rounds(g, std::span(s.contexts).subspan(g * c.seen * c.d, c.seen * c.d),
                            std::span(s.rewards).subspan(g * c.seen * c.K, c.seen * c.K));
      }
      while (lockstep.advance() > 0) {
      }
      const std::vector<std::int32_t> actions = lockstep.actions();
      std::size_t other = 0;
      for (std::size_t g = 0; g < c.G; ++g) {
        PiTs agent(c.config, {c.d, c.K, seed, s.realization[g]});
        for (std::size_t t = 0; t < c.seen; ++t) {
          const std::size_t round = g * c.seen + t;
          const ContextView x(s.contexts.data() + round * c.d, c.d);
          const Action a = agent.choose({.x = x, .id = t}).action;
          if (static_cast<std::int32_t>(a) != actions[round]) ++other;
          const Feedback event{.x = x, .action = a, .reward = s.rewards[round * c.K + a], .id = t};
          agent.learn({&event, 1});
        }
      }
      EXPECT_LE(other, 1U);  // two values that are equal up to rounding
    }
  }
}

TEST(Lockstep, TheSameBitsInGroupsOfAnySize) {
  NEEDS_CARD();
  for (const std::vector<int>& hidden : {std::vector<int>{50}, std::vector<int>{12, 6}}) {
    Case c{"groups", smooth(FlowKind::dgf), 30, 4, 3, 90};
    c.config.posterior.model.hidden = hidden;
    const Setting s(c, 9);
    const auto all = on_card(c, s, CardPrecision::tf32);
    all->train(3, c.seen);
    const std::vector<float> together = all->particles();
    Case alone = c;
    alone.G = 1;
    Setting second = s;
    second.realization = {s.realization[1]};
    second.contexts.assign(s.contexts.begin() + 90 * 30, s.contexts.begin() + 2 * 90 * 30);
    second.rewards.assign(s.rewards.begin() + 90 * 4, s.rewards.begin() + 2 * 90 * 4);
    second.actions.assign(s.actions.begin() + 90, s.actions.begin() + 180);
    const auto one = on_card(alone, second, CardPrecision::tf32);
    one->train(3, c.seen);
    const std::vector<float> apart = one->particles();
    const std::size_t size = apart.size();
    for (std::size_t l = 0; l < size; ++l) ASSERT_EQ(together[size + l], apart[l]) << l;
  }
}

TEST(Lockstep, ParametersOfTheCardAreThoseOfTheCpu) {
  PiTsConfig config;
  config.posterior.model.hidden = {6, 5};
  config.posterior.model.noise = Noise::learned_per_action;
  const Settings s = card_settings(config, {7, 3, 0, 0}, 100, CardPrecision::tf32);
  const RewardModel model(config.posterior.model, 7, 3);
  ASSERT_EQ(s.parameters.size(), model.parameters());
  std::vector<std::int64_t> places;
  for (const CardParameter& p : s.parameters) places.push_back(p.at);
  std::ranges::sort(places);
  EXPECT_TRUE(std::ranges::adjacent_find(places) == places.end());
  EXPECT_LT(places.back(), s.network.stride);
  EXPECT_EQ(s.parameters[7].at, s.network.layer[0].stride);  // row 1, column 0
}

}  // namespace
}  // namespace pits::cuda
