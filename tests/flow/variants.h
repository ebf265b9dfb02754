// Every flow the tests go through, by name, and clouds to try them on.
#pragma once

#include <string>
#include <vector>

#include "flow/plain_loops.h"
#include "pits/core/random.h"
#include "pits/flow/flow.h"

namespace pits::test {

struct Variant {
  std::string name;
  FlowConfig config;
};

inline std::vector<Variant> every_flow() {
  return {{"ensemble", {.kind = FlowKind::ensemble}},
          {"svgd", {.kind = FlowKind::svgd}},
          {"svgd-own", {.kind = FlowKind::svgd, .score_at = ScoreAt::own}},
          {"svgd-entropy", {.kind = FlowKind::svgd, .entropy = 0.3}},
          {"dgf", {.kind = FlowKind::dgf, .gamma = 0.8}},
          {"dgf-own", {.kind = FlowKind::dgf, .score_at = ScoreAt::own}},
          {"dgf-blob", {.kind = FlowKind::dgf, .entropy = 0.7, .drive = Drive::blob}},
          {"dgf-sinkhorn", {.kind = FlowKind::dgf_sinkhorn, .tau = 2.0}},
          {"dgf-sinkhorn-biased", {.kind = FlowKind::dgf_sinkhorn, .tau = 0.5, .debiased = false}},
          {"dgf-released", {.kind = FlowKind::dgf_released}},
          {"blob", {.kind = FlowKind::blob}},
          {"blob-entropy", {.kind = FlowKind::blob, .entropy = 0.3}},
          {"gfsd", {.kind = FlowKind::gfsd}},
          {"gfsd-entropy", {.kind = FlowKind::gfsd, .entropy = 0.3}},
          {"gfsf", {.kind = FlowKind::gfsf}},
          {"gfsf-entropy", {.kind = FlowKind::gfsf, .entropy = 0.3, .ridge = 0.05}},
          {"spos", {.kind = FlowKind::spos, .beta = 0.4}},
          {"sgld", {.kind = FlowKind::sgld}}};
}

inline double plain_lambda(const FlowConfig& f, const PlainCloud& c) {
  return f.lambda.rule == Scale::Rule::fixed ? f.lambda.value : plain_median(costs(c.theta, c.previous));
}

// False where Sinkhorn by plain scalings would not converge.
inline bool has_plain_velocity(const FlowConfig& f, const PlainCloud& c) {
  const double lambda = plain_lambda(f, c);
  return f.kind != FlowKind::dgf_sinkhorn || (plain_plan_converges(costs(c.theta, c.previous), lambda) &&
                                              plain_plan_converges(costs(c.theta, c.theta), lambda));
}

// The table of docs/method.md, section 2, by plain loops.
inline Rows plain_velocity(const FlowConfig& f, const PlainCloud& c) {
  const auto M = static_cast<double>(c.theta.size());
  if (c.theta.size() == 1 || f.kind == FlowKind::ensemble || f.kind == FlowKind::sgld) return c.score;
  const bool fixed = f.bandwidth.rule == Scale::Rule::fixed;
  const double h = fixed ? f.bandwidth.value : plain_median(costs(c.theta, c.theta)) / std::log(M + 1.0);
  const double lambda = plain_lambda(f, c);
  const bool own = f.score_at == ScoreAt::own;
  if (f.kind == FlowKind::blob) return plain_density_flow(c, h, true, f.entropy);
  if (f.kind == FlowKind::gfsd) return plain_density_flow(c, h, false, f.entropy);
  if (f.kind == FlowKind::gfsf) return plain_gfsf(c, h, f.ridge, f.entropy);
  const bool released = f.kind == FlowKind::dgf_released;
  const bool dgf = f.kind == FlowKind::dgf || f.kind == FlowKind::dgf_sinkhorn;
  Rows v = dgf && f.drive == Drive::blob ? plain_density_flow(c, h, true, f.entropy)
                                         : plain_svgd(c, h, own, released ? 0.0 : f.entropy);
  if (f.kind == FlowKind::spos) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      for (std::size_t l = 0; l < v[i].size(); ++l) v[i][l] += f.beta * c.score[i][l];
    }
  }
  if (released) add_plain_released_transport(c, v);
  if (f.kind == FlowKind::dgf) add_plain_transport(c, lambda, f.gamma, v);
  if (f.kind == FlowKind::dgf_sinkhorn) add_plain_sinkhorn(c, lambda, f.tau, f.debiased, v);
  return v;
}

inline Rows random_rows(Stream& stream, std::size_t M, std::size_t P, double sd = 1.0) {
  Rows rows = zeros(M, P);
  for (Row& row : rows) {
    for (double& x : row) x = static_cast<float>(sd * stream.normal());  // the same number in float and double
  }
  return rows;
}

// θ′ is θ moved a little, as between two steps.
inline PlainCloud random_cloud(std::size_t M, std::size_t P, std::uint64_t seed) {
  Stream stream({.seed = seed});
  PlainCloud c{.theta = random_rows(stream, M, P),
               .score = random_rows(stream, M, P),
               .previous = random_rows(stream, M, P, 0.2)};
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t l = 0; l < P; ++l) c.previous[i][l] = static_cast<float>(c.previous[i][l] + c.theta[i][l]);
  }
  return c;
}

template <class T>
Matrix<T> matrix(const Rows& rows) {
  Matrix<T> out(rows.size(), rows[0].size());
  for (std::size_t i = 0; i < out.rows(); ++i) {
    for (std::size_t l = 0; l < out.cols(); ++l) out(i, l) = static_cast<T>(rows[i][l]);
  }
  return out;
}

// The velocity by the code under test.
template <class T>
Matrix<T> velocity(const FlowConfig& config, const PlainCloud& c) {
  const Matrix<T> theta = matrix<T>(c.theta);
  const Matrix<T> score = matrix<T>(c.score);
  const Matrix<T> previous = matrix<T>(c.previous);
  Matrix<T> v(theta.rows(), theta.cols());
  Workspace<T> w;
  flow_velocity<T>(config, {.theta = theta, .score = score, .previous = previous}, w, v);
  return v;
}

}  // namespace pits::test
