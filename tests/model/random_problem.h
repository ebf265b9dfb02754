// Small random models with data, for the comparisons with the plain loops.
#pragma once

#include <rapidcheck.h>

#include "model/plain_model.h"
#include "pits/core/simd/kernels.h"

namespace pits::test {

struct Shape {
  ModelConfig config;
  std::size_t d = 1, K = 1, particles = 1, observations = 1;
};

struct Problem {
  PlainModel plain;
  RewardModel model;
  Particles theta;  // (M,P)
  std::vector<PlainObservation> data;
  double scale;
};

// Observations grouped by action, in order of arrival, by the plainest loop.
inline Minibatch make_minibatch(const std::vector<PlainObservation>& data, std::size_t d, std::size_t K, double scale) {
  Minibatch batch;
  batch.contexts.reshape(d, data.size());
  batch.likelihood_scale = static_cast<float>(scale);
  for (std::size_t a = 0; a < K; ++a) {
    batch.group_start.push_back(batch.rewards.size());
    for (const PlainObservation& o : data) {
      if (o.action != a) continue;
      for (std::size_t l = 0; l < d; ++l) batch.contexts(l, batch.rewards.size()) = static_cast<float>(o.x[l]);
      batch.rewards.push_back(static_cast<float>(o.reward));
    }
  }
  batch.group_start.push_back(batch.rewards.size());
  return batch;
}

// Numbers that float holds exactly, so that both sides see the same θ, x and r.
inline double float_normal(Stream& stream, double sd = 1.0) { return static_cast<float>(sd * stream.normal()); }

inline Problem make_problem(const Shape& shape, std::uint64_t seed) {
  Stream stream({.seed = seed, .purpose = Purpose::target_sample});
  Problem p{.plain = {shape.config, shape.d, shape.K},
            .model = RewardModel(shape.config, shape.d, shape.K),
            .theta = Particles(shape.particles, RewardModel(shape.config, shape.d, shape.K).parameters()),
            .data = {},
            .scale = static_cast<float>(0.25 + 4.0 * stream.uniform())};
  for (float& x : p.theta.flat()) x = static_cast<float>(float_normal(stream, 0.7));
  for (std::size_t b = 0; b < shape.observations; ++b) {
    PlainObservation o{.x = std::vector<double>(shape.d),
                       .action = stream.index(static_cast<std::uint32_t>(shape.K)),
                       .reward = p.plain.bernoulli() ? stream.uniform_float() : float_normal(stream, 2.0)};
    for (double& x : o.x) x = float_normal(stream);
    p.data.push_back(std::move(o));
  }
  return p;
}

inline Matrix<float> score_of(const RewardModel& model, const Particles& theta, const Minibatch& batch) {
  Network::Workspace workspace;
  Matrix<float> score(theta.rows(), theta.cols());
  model.score(theta, batch, workspace, score);
  return score;
}
inline Matrix<float> score_of(const Problem& p) {
  return score_of(p.model, p.theta, make_minibatch(p.data, p.plain.d, p.plain.K, p.scale));
}

// low .. high−1 with equal weight from the first case on (RapidCheck's own ranges grow with its size).
inline std::size_t any_between(std::size_t low, std::size_t high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high));
}

inline rc::Gen<ModelConfig> any_config() {
  return rc::gen::exec([] {
    ModelConfig c;
    c.kind = *rc::gen::element(ModelKind::linear, ModelKind::logistic, ModelKind::mlp, ModelKind::mlp_logistic);
    c.hidden.resize(any_between(1, 4));
    for (int& width : c.hidden) width = static_cast<int>(any_between(1, 20));
    c.activation = *rc::gen::element(Activation::relu, Activation::tanh);
    c.noise = *rc::gen::element(Noise::fixed, Noise::learned, Noise::learned_per_action);
    c.noise_sd = *rc::gen::element(0.1, 0.5, 2.0);
    c.noise_log_sd = *rc::gen::element(0.3, 1.0);
    c.prior = *rc::gen::element(PriorScale::same, PriorScale::fan_in);
    c.prior_precision = *rc::gen::element(0.1, 1.0, 7.0);
    return c;
  });
}

inline rc::Gen<Shape> any_shape() {
  return rc::gen::exec([] {
    return Shape{.config = *any_config(),
                 .d = any_between(1, 20),
                 .K = any_between(1, 6),
                 .particles = any_between(1, 4),
                 .observations = any_between(1, 20)};
  });
}

}  // namespace pits::test

namespace rc {
inline void showValue(const pits::test::Shape& s, std::ostream& out) {
  pits::ModelConfig c = s.config;
  out << "d=" << s.d << " K=" << s.K << " M=" << s.particles << " B=" << s.observations;
  for (const pits::Field& f : fields(c).list()) out << ' ' << f.name << '=' << f.get();
}
}  // namespace rc
