// Shapes of exact last layers, and how far they are from the plain ones.
#pragma once

#include <gtest/gtest.h>

#include "cuda/plain_layers.h"
#include "pits/agent/presets.h"

namespace pits::cuda {

constexpr std::size_t later = 30;  // observations after the fit

// Shapes whose sums take one pass and several, whose triangles fit into shared memory and do not (F = 227 and 211),
// with and without contexts among the features, of no, one and two hidden layers; particles that share a set of
// regressions in one block and several.
inline std::vector<Case> shapes() {
  std::vector<Case> list;
  const auto add = [&](std::string name, std::size_t d, std::size_t K, std::size_t G, std::vector<int> hidden,
                       std::size_t seen) -> PiTsConfig& {
    PiTsConfig c = pi_ts_preset("pi-ts", "exact");
    c.posterior.particles = 3;
    c.posterior.model.hidden = std::move(hidden);
    list.push_back({std::move(name), c, d, K, G, seen + later});
    return list.back().config;
  };
  add("statlog's", 9, 7, 3, {50}, 400);
  add("fast", 31, 8, 2, {32}, 150).posterior.last_layer.linear_inputs = 32;
  add("long contexts", 130, 3, 2, {20}, 120);
  add("few observations", 6, 9, 2, {12}, 5);
  add("tanh, two layers", 12, 4, 2, {16, 6}, 200).posterior.model.activation = Activation::tanh;
  add("linear", 11, 5, 2, {50}, 200).posterior.model.kind = ModelKind::linear;
  add("linear, long contexts", 210, 2, 2, {50}, 250).posterior.model.kind = ModelKind::linear;
  list.back().config.posterior.particles = 12;
  add("wide", 5, 2, 2, {130}, 300);
  add("wider", 6, 3, 1, {220}, 300);
  add("raw", 9, 4, 2, {20}, 200).posterior.units = UnitsKind::raw;
  add("the last 64", 9, 4, 2, {20}, 200).posterior.memory.capacity = 64;
  add("exploration of none, noise", 9, 4, 2, {20}, 200).posterior.last_layer = {
      .kind = LastLayerKind::exact, .posterior_scale = 0.0, .noise_shape = 1.0, .noise_scale = 2.0};
  return list;
}

// Small networks.
inline PiTsConfig small_exact() {
  PiTsConfig c = pi_ts_preset("pi-ts", "exact");
  c.posterior.particles = 4;
  c.posterior.model.hidden = {32};
  c.posterior.batch = 128;
  c.posterior.training.steps = 10;
  return c;
}

inline Settings settings_of(const Case& c) {
  return gpu_settings(c.config, {c.d, c.K, seed, 0}, c.seen, GpuPrecision::float32);
}

// ‖a − b‖/‖b‖, 0 where both are 0.
inline double relative(std::span<const double> a, const Eigen::VectorXd& b) {
  const Eigen::Map<const Eigen::VectorXd> map(a.data(), static_cast<Eigen::Index>(a.size()));
  return (map - b).norm() / std::max(b.norm(), 1e-300);
}

struct Errors {
  double mean = 0.0, deviation = 0.0, noise = 0.0, precision = 0.0;

  void raise(const Errors& e) {
    mean = std::max(mean, e.mean);
    deviation = std::max(deviation, e.deviation);
    noise = std::max(noise, e.noise);
    precision = std::max(precision, e.precision);
  }
  std::string text() const {
    return fmt::format("mean {:.1e} deviation {:.1e} noise {:.1e} precision {:.1e}", mean, deviation, noise, precision);
  }
};

inline double noise_of(const CpuLayers& cpu, std::span<const double> n, std::span<const double> misfit) {
  double a = cpu.c.config.posterior.last_layer.noise_shape, b = cpu.c.config.posterior.last_layer.noise_scale;
  for (std::size_t k = 0; k < n.size(); ++k) {
    a += 0.5 * n[k];
    b += misfit[k];
  }
  return b / a;
}

// The largest errors of realization `place` of the numbers against the plain ones. A mean that explains nothing, of an
// action without observations, is 0 in both.
inline Errors against_plain(const LastLayerNumbers& numbers, std::size_t place, const CpuLayers& cpu,
                            const PlainLayers& plain) {
  Errors e;
  const std::size_t M = cpu.particles(), K = cpu.c.K, F = static_cast<std::size_t>(plain.deviations.front().size());
  const std::size_t groups = plain.groups.front().size();
  for (std::size_t i = 0; i < M; ++i) {
    std::vector<double> n, misfit, plain_n, plain_misfit;
    for (std::size_t a = 0; a < K; ++a) {
      const std::size_t local = i * K + a, r = place * M * K + local;
      const BayesLinear& regression = plain.regressions[local];
      e.mean = std::max(e.mean, relative(std::span(numbers.mean).subspan(r * F, F), regression.mean()));
      e.deviation =
          std::max(e.deviation, relative(std::span(numbers.deviation).subspan(r * F, F), plain.deviations[local]));
      n.push_back(numbers.totals[r].n);
      misfit.push_back(numbers.totals[r].misfit);
      plain_n.push_back(regression.n());
      plain_misfit.push_back(regression.misfit());
    }
    EXPECT_EQ(n, plain_n) << cpu.c.name;
    e.noise = std::max(e.noise, std::abs(noise_of(cpu, n, misfit) / noise_of(cpu, plain_n, plain_misfit) - 1.0));
    for (std::size_t q = 0; q < groups; ++q) {
      const double precision = numbers.precision[(place * M + i) * groups + q];
      e.precision = std::max(e.precision, std::abs(precision / plain.groups[i][q].precision - 1.0));
    }
  }
  return e;
}

// Features in float32, whose sums run in another order than the CPU's: a relative 1e-7 of a feature; seen are 6e-7 of a
// mean.
constexpr double tolerance = 1e-5;

inline void expect_small(const Errors& e, const std::string& name) {
  EXPECT_LT(e.mean, tolerance) << name;
  EXPECT_LT(e.deviation, tolerance) << name;
  EXPECT_LT(e.noise, tolerance) << name;
  EXPECT_LT(e.precision, tolerance) << name;
}

inline RewardUnits reward_units(const CpuLayers& cpu) {
  const RewardScale& scale = cpu.posterior.standardiser().reward_scale();
  const bool raw = cpu.c.config.posterior.units == UnitsKind::raw;
  return {raw ? 0.0 : scale.mean, raw ? 1.0 : scale.sd, scale.low, scale.high, scale.size, scale.sd};
}

}  // namespace pits::cuda
