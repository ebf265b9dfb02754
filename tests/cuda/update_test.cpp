#include <gtest/gtest.h>

#include "cuda/random_group.h"

namespace pits::cuda {
namespace {

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
    for (std::size_t l = 0; l < theta.size(); ++l)
      EXPECT_NEAR(gradient[l], expected[l], 1e-4 * (1 + std::abs(expected[l])));
  }
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

// `steps` training steps on the GPU against the same in double.
Errors compare(const Case& c, GpuPrecision precision, int steps = 1) {
  const Setting s(c, 100 * c.d + c.K);
  const auto lockstep = on_gpu(c, s, precision);
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
    std::vector<double> gpu_move(M * P), plain_move(M * P), gpu_score(M * P);
    for (std::size_t l = 0; l < M * P; ++l) {
      gpu_move[l] = static_cast<double>(after[g * M * P + l]) - start[l];
      plain_move[l] = plain.theta.data()[l] - start[l];
      gpu_score[l] = scores[g * M * P + l];
    }
    errors.score = std::max(errors.score, relative_error(gpu_score, std::as_const(plain.score).flat()));
    errors.move = std::max(errors.move, relative_error(gpu_move, plain_move));
  }
  return errors;
}

constexpr FlowKind flows[] = {FlowKind::ensemble,     FlowKind::svgd, FlowKind::dgf,
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
  add("M=12", 9, 3, 2, 60).posterior.particles = 12;
  add("M=30", 40, 3, 1, 60).posterior.particles = 30;
  add("M=64", 5, 3, 1, 50).posterior.particles = 64;
  add("M=70", 5, 3, 2, 50).posterior.particles = 70;
  add("all observations", 12, 4, 2, 333).posterior.batch = 0;
  add("the last 64", 12, 4, 2, 150).posterior.memory.capacity = 64;
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
  add("two layers of 64 and 32", 21, 8, 2, 150).posterior.model.hidden = {64, 32};
  add("wide", 30, 3, 1, 90).posterior.model.hidden = {100};
  add("wider", 24, 3, 1, 90).posterior.model.hidden = {200};
  add("widest", 10, 3, 1, 60).posterior.model.hidden = {12, 700};
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
INSTANTIATE_TEST_SUITE_P(Lockstep, EveryFlow, testing::ValuesIn(flows), [](const auto& kind) {
  std::string name = format_value(kind.param);
  std::erase(name, '-');
  return name;
});

TEST_P(EveryFlow, OneStepIsThatOfTheDoubleReference) {
  NEEDS_GPU();
  for (const Case& c : shapes(GetParam())) {
    const Errors errors = compare(c, GpuPrecision::float32);
    EXPECT_LT(errors.score, 1e-4) << c.name;
    EXPECT_LT(errors.move, 1e-4) << c.name;
    RecordProperty(c.name, fmt::format("score {:.1e} move {:.1e}", errors.score, errors.move));
  }
}

// A mantissa of 10 bits: 2⁻¹¹ a product. With ReLU, a share of units of about that size falls on the other side of the
// kink, each an error of its whole part: the root of the share.
TEST_P(EveryFlow, OneStepInTf32IsNearTheDoubleReference) {
  NEEDS_GPU();
  for (Case c : shapes(GetParam())) {
    const Errors kinked = compare(c, GpuPrecision::tf32);
    EXPECT_LT(kinked.score, 5e-2) << c.name;
    EXPECT_LT(kinked.move, 5e-2) << c.name;
    c.config.posterior.model.activation = Activation::tanh;
    const Errors errors = compare(c, GpuPrecision::tf32);
    EXPECT_LT(errors.score, 3e-3) << c.name;
    EXPECT_LT(errors.move, 3e-3) << c.name;
  }
}

// Columns of contexts that are orders of magnitude apart, each with a gradient as good as the others'.
TEST(Lockstep, ColumnsOfAnyScaleKeepTheirGradients) {
  NEEDS_GPU();
  const Case c{"scales", smooth(FlowKind::ensemble), 40, 5, 2, 200};
  Setting s(c, 11);
  const auto scale = [](std::size_t column) { return std::pow(10.0F, static_cast<float>(column % 13) - 6.0F); };
  for (std::size_t i = 0; i < s.contexts.size(); ++i) s.contexts[i] *= scale(i % c.d);
  for (const GpuPrecision precision : {GpuPrecision::float32, GpuPrecision::tf32}) {
    const auto lockstep = on_gpu(c, s, precision);
    const std::vector<float> start = lockstep->particles();
    lockstep->train(1, c.seen);
    const std::vector<float> scores = lockstep->scores();
    const auto M = static_cast<std::size_t>(c.config.posterior.particles);
    const std::size_t P = start.size() / c.G / M, units = c.config.posterior.model.hidden.front();
    test::PlainPosterior plain(c.config.posterior, c.d, c.K, {.seed = seed, .realization = s.realization[1]});
    plain.theta.reshape(M, P);
    std::copy_n(start.data() + M * P, M * P, plain.theta.data());
    plain.step(s.history(c, 1), 0);
    for (std::size_t column = 0; column < c.d; ++column) {
      std::vector<double> gpu, expected;
      for (std::size_t i = 0; i < M * units; ++i) {
        const std::size_t at = i / units * P + i % units * c.d + column;
        gpu.push_back(scores[M * P + at]);
        expected.push_back(plain.score.data()[at]);
      }
      EXPECT_LT(relative_error(gpu, expected), precision == GpuPrecision::tf32 ? 5e-2 : 1e-4) << column;
    }
  }
}

// The cloud before, the rule's memory and the addresses of later draws; tanh, for a kink makes later steps jump.
TEST_P(EveryFlow, SeveralStepsAreThoseOfTheDoubleReference) {
  NEEDS_GPU();
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
      EXPECT_LT(compare(c, GpuPrecision::float32, 4).move, 1e-4) << c.name << " M=" << particles;
    }
  }
}

TEST(Lockstep, FieldsOfTheFlowsArriveAtTheGpu) {
  NEEDS_GPU();
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
      EXPECT_LT(compare(c, GpuPrecision::float32, 4).move, 1e-4) << c.name << " M=" << particles;
    }
  }
}

}  // namespace
}  // namespace pits::cuda
