// Exact last layers of one realization three ways: the CPU's own, in double observation by observation, and by the
// GPU's arithmetic on threads of the CPU.
#pragma once

#include <Eigen/Dense>

#include "cuda/crew.h"
#include "cuda/random_group.h"
#include "pits/cuda/last_layer/evidence.h"
#include "pits/cuda/last_layer/features.h"
#include "pits/cuda/normals.h"

namespace pits::cuda {

// Rewards that contexts explain in part.
inline void add_signal(const Case& c, Setting& s) {
  Stream stream({.seed = 31});
  std::vector<float> beta(c.d * c.K);
  stream.fill_normal(beta, 1.0F / std::sqrt(static_cast<float>(c.d)));
  for (std::size_t round = 0; round < c.G * c.seen; ++round) {
    for (std::size_t a = 0; a < c.K; ++a) {
      float& r = s.rewards[round * c.K + a];
      r = 3.0F + 0.5F * r;
      for (std::size_t j = 0; j < c.d; ++j) r += beta[a * c.d + j] * s.contexts[round * c.d + j];
    }
  }
}

inline Observation observation_of(const Case& c, const Setting& s, std::size_t g, std::size_t t) {
  const std::size_t round = g * c.seen + t;
  const auto a = static_cast<std::uint32_t>(s.actions[round]);
  return {.context = {s.contexts.data() + round * c.d, c.d}, .action = a, .reward = s.rewards[round * c.K + a]};
}

// The CPU's: observations first .. fitted−1, a training, a fit.
struct CpuLayers {
  const Case& c;
  const Setting& s;
  std::size_t g;
  Posterior posterior;

  CpuLayers(const Case& the_case, const Setting& setting, std::size_t realization, std::size_t fitted)
      : c(the_case),
        s(setting),
        g(realization),
        posterior(without_trainings(c.config.posterior), c.d, c.K, {.seed = seed, .realization = s.realization[g]}) {
    for (std::size_t t = 0; t < fitted; ++t) posterior.observe(observation(t));
    posterior.train(2);
  }

  Observation observation(std::size_t t) const { return observation_of(c, s, g, t); }
  const LastLayers& layers() const { return *posterior.last_layers(); }
  void observe(std::size_t t) { posterior.learn(observation(t)); }
  std::size_t particles() const { return posterior.particles().rows(); }

 private:
  static PosteriorConfig without_trainings(PosteriorConfig config) {
    config.training = {.every = 1000000000};
    return config;
  }
};

// In double, with the network's own float units as features: all kept observations up to `last`, with precisions from
// those that were there at the fit, and its draws. Precisions of the group start where the agent starts them.
struct PlainLayers {
  std::vector<std::vector<CoefficientGroup>> groups;  // (M)
  std::vector<BayesLinear> regressions;               // (M·K)
  std::vector<Eigen::VectorXd> deviations;            // (M·K)

  PlainLayers(const CpuLayers& cpu, std::size_t fitted, std::size_t last) {
    const LastLayerConfig& config = cpu.c.config.posterior.last_layer;
    const BayesLinearConfig noise{.lambda = 1.0, .a0 = config.noise_shape, .b0 = config.noise_scale};
    Stream stream({.seed = seed, .realization = cpu.s.realization[cpu.g], .purpose = Purpose::last_layer, .step = 1});
    for (std::size_t i = 0; i < cpu.particles(); ++i) {
      groups.push_back(coefficient_groups(config, cpu.posterior.model().network()));
      std::vector<RegressionSums> then = sums(cpu, i, fitted, fitted), now = sums(cpu, i, fitted, last);
      evidence_step(then, noise, groups.back());
      Eigen::VectorXd prior;
      prior_precision(groups.back(), prior);
      for (const RegressionSums& of_action : now) {
        regressions.emplace_back(noise, of_action);
        regressions.back().fit(noise, prior, of_action);
        const Eigen::VectorXd z = Eigen::VectorXd::NullaryExpr(prior.size(), [&] { return stream.normal(); });
        deviations.emplace_back();
        regressions.back().deviation(z, deviations.back());
      }
    }
  }

 private:
  static std::vector<RegressionSums> sums(const CpuLayers& cpu, std::size_t i, std::size_t fitted, std::size_t last) {
    const Network& network = cpu.posterior.model().network();
    const bool inputs = inputs_are_features(cpu.c.config.posterior.last_layer, network);
    const auto capacity = static_cast<std::size_t>(cpu.c.config.posterior.memory.capacity);
    std::vector<RegressionSums> out;
    for (std::size_t t = capacity > 0 && fitted > capacity ? fitted - capacity : 0; t < last; ++t) {
      const Observation o = cpu.observation(t);
      const auto view = cpu.posterior.standardiser().context(o.context);
      const std::vector<float> x(view.begin(), view.end());
      Network::Workspace w;
      const auto units = network.hidden(cpu.posterior.particles().row(i), x, w);
      std::vector<double> row(units.begin(), units.end());
      if (inputs) row.insert(row.end(), x.begin(), x.end());
      row.push_back(1.0);
      const auto F = static_cast<Eigen::Index>(row.size());
      if (out.empty()) out.assign(cpu.c.K, RegressionSums(F));
      const auto reward = static_cast<float>(cpu.posterior.standardiser().reward(o.reward));
      const Eigen::Map<const Eigen::VectorXd> features(row.data(), F);
      RegressionSums& of_action = out[o.action];
      of_action.xx += features * features.transpose();
      of_action.xy += reward * features;
      of_action.yy += double{reward} * reward;
      of_action.n += 1.0;
    }
    return out;
  }
};

// By the GPU's arithmetic: memory as the GPU has it, of one realization.
class AloneLayers {
 public:
  AloneLayers(const CpuLayers& cpu, const Settings& settings)
      : s_(settings),
        M_(static_cast<std::size_t>(s_.particles)),
        K_(static_cast<std::size_t>(s_.actions)),
        F_(static_cast<std::size_t>(s_.last_layer.features)),
        address_{.seed = seed, .realization = cpu.s.realization[cpu.g], .purpose = Purpose::last_layer, .step = 1},
        theta_(M_ * static_cast<std::size_t>(s_.network.stride)),
        contexts_(s_.context_floats(1, cpu.c.seen)),
        tile_size_(largest_tile(s_.network, s_.last_layer.features)),
        tile_memory_(tile_bytes(s_.network, s_.last_layer.features, tile_size_) / sizeof(TwoDoubles) + 1),
        inverse_(M_ * K_ * triangle()),
        moment_(M_ * K_ * F_),
        draw_(moment_.size()) {
    numbers.mean.resize(moment_.size());
    numbers.deviation.resize(moment_.size());
    numbers.totals.resize(M_ * K_);
    const std::size_t P = s_.parameters.size(), stride = static_cast<std::size_t>(s_.network.stride);
    for (std::size_t l = 0; l < M_ * P; ++l) {
      theta_[l / P * stride + static_cast<std::size_t>(s_.parameters[l % P].at)] = cpu.posterior.particles().data()[l];
    }
    for (std::size_t t = 0; t < cpu.c.seen; ++t) {
      const Observation o = cpu.observation(t);
      float* row = contexts_.data() + t * static_cast<std::size_t>(s_.context_stride());
      std::ranges::copy(cpu.posterior.standardiser().context(o.context), row);
      row[cpu.c.d] = 1.0F;
      rewards_received_.push_back(static_cast<float>(cpu.posterior.standardiser().reward(o.reward)));
      actions_taken_.push_back(static_cast<std::int32_t>(o.action));
    }
  }

  LastLayerNumbers numbers;
  int warps = 2;  // that sum

  // Of particle i and action a, number i·K + a. Particles that share a set have copies of its numbers.
  Regression regression(std::size_t r) {
    return {inverse_.data() + r * triangle(),  moment_.data() + r * F_,
            numbers.mean.data() + r * F_,      draw_.data() + r * F_,
            numbers.deviation.data() + r * F_, numbers.totals.data() + r};
  }

  void fit(std::size_t fitted) {
    const int n = static_cast<int>(fitted), first = s_.capacity > 0 && n > s_.capacity ? n - s_.capacity : 0;
    std::vector<double> place(triangle()), work(4 * F_), prior(F_);
    for (std::size_t l = 0; l < draw_.size(); ++l) draw_[l] = normal(address_, static_cast<std::int64_t>(l));
    for (std::size_t i = 0; i < sets(); ++i) {
      std::vector<double> precision;
      for (int g = 0; g < s_.last_layer.groups; ++g) precision.push_back(s_.last_layer.group[g].precision);
      std::vector<EvidenceTerms> evidence_terms(K_);
      for (std::size_t a = 0; a < K_; ++a) {
        sum_action(i, a, first, n);
        if (numbers.totals[i * K_ + a].n == 0.0) continue;
        find_evidence_terms(Alone(), s_.last_layer, regression(i * K_ + a), precision.data(), place.data(), work.data(),
                            evidence_terms[a]);
      }
      step_precisions(s_.last_layer, evidence_terms.data(), s_.actions, precision.data());
      for (std::size_t f = 0; f < F_; ++f) prior[f] = prior_of(s_.last_layer, precision.data(), static_cast<int>(f));
      for (std::size_t r = i * K_; r < (i + 1) * K_; ++r) {
        const Regression of = regression(r);
        std::copy_n(of.inverse, place.size(), place.data());
        cuda::fit(Alone(), s_.last_layer.features, of, prior.data(), place.data(), work.data());
        std::ranges::copy(place, of.inverse);
      }
      for (std::size_t k = 0; k < M_ / sets(); ++k) {
        numbers.precision.insert(numbers.precision.end(), precision.begin(), precision.end());
      }
    }
    for (std::size_t a = 0; a < K_; ++a) share(a);
  }

  void observe(std::size_t t) {
    std::vector<double> work(3 * F_ + 1);
    for (std::size_t i = 0; i < sets(); ++i) {
      const std::vector<float> phi = features(i, t);
      const std::vector<double> x(phi.begin(), phi.end());
      cuda::observe(Alone(), s_.last_layer.features, regression(i * K_ + static_cast<std::size_t>(actions_taken_[t])),
                    x.data(), rewards_received_[t], work.data());
    }
    share(static_cast<std::size_t>(actions_taken_[t]));
  }

  std::vector<float> features(std::size_t i, std::size_t t) {
    const Tile tile(s_.network, s_.last_layer.features, tile_size_, tile_memory_.data());
    feature_rows(Alone(), s_.last_layer, s_.network, theta_of(i),
                 {contexts_.data(), s_.context_stride(), nullptr, nullptr, static_cast<int>(t), 1}, tile);
    return {tile.rows, tile.rows + F_};
  }

 private:
  std::size_t sets() const { return static_cast<std::size_t>(s_.sets()); }
  // What particles that share a set have of an action.
  void share(std::size_t a) {
    if (sets() == M_) return;
    const Regression of = regression(a);
    Crew::run(warps, [&](const Crew& crew) {
      deviate(crew, s_.last_layer.features, of.inverse, of.draw + K_ * F_, of.deviation + K_ * F_,
              static_cast<int>(M_) - 1, static_cast<std::int64_t>(K_ * F_));
    });
    for (std::size_t i = 1; i < M_; ++i) {
      std::copy_n(of.mean, F_, regression(i * K_ + a).mean);
      numbers.totals[i * K_ + a] = *of.totals;
    }
  }
  std::size_t triangle() const { return static_cast<std::size_t>(packed_size(s_.last_layer.features)); }
  const float* theta_of(std::size_t i) const { return theta_.data() + i * static_cast<std::size_t>(s_.network.stride); }

  void sum_action(std::size_t i, std::size_t a, int first, int last) {
    std::vector<std::int32_t> list;
    for (int t = first; t < last; ++t) {
      if (actions_taken_[static_cast<std::size_t>(t)] == static_cast<std::int32_t>(a)) list.push_back(t);
    }
    const TileRounds all{
        contexts_.data(), s_.context_stride(), rewards_received_.data(), list.data(), 0, static_cast<int>(list.size())};
    const Tile tile(s_.network, s_.last_layer.features, tile_size_, tile_memory_.data());
    Crew::run(warps, [&](const Crew& crew) {
      sum_up(crew, s_.last_layer, s_.network, theta_of(i), all, tile, regression(i * K_ + a));
    });
  }

  Settings s_;
  std::size_t M_, K_, F_;
  Address address_;
  std::vector<float> theta_, contexts_, rewards_received_;
  std::vector<std::int32_t> actions_taken_;
  int tile_size_;
  std::vector<TwoDoubles> tile_memory_;
  std::vector<double> inverse_, moment_, draw_;
};

}  // namespace pits::cuda
