// Groups with random rounds and random actions in the past, on the GPU.
#pragma once

#include <memory>
#include <string>

#include "cuda/plain_update.h"
#include "pits/cuda/device/device.h"
#include "pits/cuda/gpu_settings.h"
#include "pits/cuda/lockstep.h"

#define NEEDS_GPU() \
  if (pits::cuda::device_count() == 0) GTEST_SKIP() << "no GPU here"

namespace pits::cuda {

using test::PlainObservation;

// A problem of G realizations with random rounds and random actions in the past.
struct Case {
  std::string name;
  PiTsConfig config;
  std::size_t d, K, G, seen;
  float level = 3.0F;  // of the rewards of changing_rounds.h
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

inline std::unique_ptr<Lockstep> on_gpu(const Case& c, const Setting& s, GpuPrecision precision) {
  PiTsConfig config = c.config;
  config.posterior.training.every = 1;  // step sizes for more steps than any test takes
  config.posterior.training.steps = 5;
  config.posterior.training.first = 0;
  config.posterior.training.share = 0.0;
  const Settings settings = gpu_settings(config, {c.d, c.K, seed, 0}, c.seen, precision);
  auto lockstep = std::make_unique<Lockstep>(settings, s.realization, c.seen);
  for (std::size_t g = 0; g < c.G; ++g) {
    lockstep->set_rounds(g, std::span(s.contexts).subspan(g * c.seen * c.d, c.seen * c.d),
                         std::span(s.rewards).subspan(g * c.seen * c.K, c.seen * c.K));
  }
  lockstep->set_history(s.actions);
  return lockstep;
}

// Steps large enough that the rounding of θ itself does not hide them; rules whose root or sign is smooth near 0.
inline PiTsConfig smooth(FlowKind flow, Rule rule = Rule::sgd) {
  PiTsConfig c;
  c.posterior.particles = 7;
  c.posterior.flow.kind = flow;
  c.posterior.optimizer = {.rule = rule, .step = 0.5, .epsilon = 1.0};
  c.posterior.model.noise_sd = 0.8;
  c.posterior.batch = 100;
  return c;
}

}  // namespace pits::cuda
