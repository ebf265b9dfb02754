#include "pits/flow/flow.h"

#include <algorithm>
#include <cmath>

#include "pits/flow/blob.h"
#include "pits/flow/gfsd.h"
#include "pits/flow/gfsf.h"
#include "pits/flow/svgd.h"
#include "pits/flow/transport.h"

namespace pits {
namespace {

template <class T>
Matrix<double> in_double(ConstMatrixView<T> block) {
  Matrix<double> copy(block.rows(), block.cols());
  std::ranges::copy(block.flat(), copy.data());
  return copy;
}

// F₁ of the JKO step: descends KL(μ‖p).
template <class T>
void add_drive(const FlowConfig& c, const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v) {
  if (c.drive == Drive::blob) return add_blob(cloud, w, v, c.entropy);
  add_svgd(cloud, c.score_at, c.entropy, w, v);
}

double no_noise(const FlowConfig&) { return 0.0; }

template <class T>
struct FlowRow {
  FlowKind kind;
  const char* summary;
  // Adds the velocity's terms, with their weights at this cloud of several particles, to v; w.kernel is that at θ.
  // Null: every particle follows its own score.
  void (*add_terms)(const FlowConfig&, const Cloud<T>&, Workspace<T>&, Velocity<T>&) = nullptr;
  bool looks_back = false;  // needs θ′
  double (*temperature)(const FlowConfig&) = no_noise;
};

template <class T>
constexpr FlowRow<T> flows[] = {
    {.kind = FlowKind::ensemble, .summary = "independent particles; ensemble sampling"},
    {.kind = FlowKind::svgd,
     .summary = "Stein variational gradient descent (Liu and Wang 2016)",
     .add_terms = [](auto& c, auto& cloud, auto& w, auto& v) { add_svgd(cloud, c.score_at, c.entropy, w, v); }},
    {.kind = FlowKind::dgf,
     .summary = "discrete gradient flow, the paper's Eq. 6 with constant multipliers",
     .add_terms =
         [](auto& c, auto& cloud, auto& w, auto& v) {
           add_drive(c, cloud, w, v);
           add_transport(cloud, c.lambda, c.gamma, w, v);
         },
     .looks_back = true},
    {.kind = FlowKind::dgf_sinkhorn,
     .summary = "discrete gradient flow with Sinkhorn's transport plan, debiased by default",
     .add_terms =
         [](auto& c, auto& cloud, auto& w, auto& v) {
           add_drive(c, cloud, w, v);
           add_sinkhorn_transport(cloud, c.lambda, c.tau, c.debiased, w, v);
         },
     .looks_back = true},
    {.kind = FlowKind::dgf_released,
     .summary = "discrete gradient flow as in the authors' released code",
     .add_terms =
         [](auto& c, auto& cloud, auto& w, auto& v) {
           add_svgd(cloud, c.score_at, 0.0, w, v);
           add_released_transport(cloud, w, v);
         },
     .looks_back = true},
    {.kind = FlowKind::blob,
     .summary = "Blob: kernel-smoothed entropy; the paper's pi-TS-Blob",
     .add_terms = [](auto& c, auto& cloud, auto& w, auto& v) { add_blob(cloud, w, v, c.entropy); }},
    {.kind = FlowKind::gfsd,
     .summary = "gradient flow with smoothed density; KDE-repulsive ensemble",
     .add_terms = [](auto& c, auto& cloud, auto& w, auto& v) { add_gfsd(cloud, w, v, c.entropy); }},
    {.kind = FlowKind::gfsf,
     .summary = "gradient flow with smoothed test functions; Stein gradient estimator",
     .add_terms = [](auto& c, auto& cloud, auto& w, auto& v) { add_gfsf(cloud, c.ridge, w, v, c.entropy); }},
    {.kind = FlowKind::spos,
     .summary = "stochastic particle optimisation: SVGD plus Langevin noise",
     .add_terms =
         [](auto& c, auto& cloud, auto& w, auto& v) {
           add_svgd(cloud, c.score_at, c.entropy, w, v);
           v.add_scores(c.beta);
         },
     .temperature = [](auto& c) { return c.beta; }},
    {.kind = FlowKind::sgld,
     .summary = "stochastic gradient Langevin dynamics; LMC-TS",
     .temperature = [](auto&) { return 1.0; }},
};

// Row k is that of flow k, and every named flow has one.
template <class T>
constexpr bool in_order() {
  for (std::size_t k = 0; k < std::size(flows<T>); ++k) {
    if (flows<T>[k].kind != static_cast<FlowKind>(k)) return false;
  }
  return std::size(flows<T>) == enum_names<FlowKind>.size();
}
static_assert(in_order<float>());

template <class T>
const FlowRow<T>& row(FlowKind kind) {
  return flows<T>[static_cast<std::size_t>(kind)];
}

template <class T>
void weigh_terms(const FlowConfig& c, const Cloud<T>& cloud, Workspace<T>& w, Velocity<T>& v) {
  v.clear();
  const auto add_terms = row<T>(c.kind).add_terms;
  if (cloud.theta.rows() == 1 || add_terms == nullptr) return v.add_scores();
  evaluate_kernel(cloud.theta, c.bandwidth, w.kernel);
  add_terms(c, cloud, w, v);
}

}  // namespace

std::vector<std::string> flow_summaries() {
  std::vector<std::string> lines;
  for (const FlowRow<float>& flow : flows<float>) lines.emplace_back(flow.summary);
  return lines;
}

double temperature(const FlowConfig& config) { return row<float>(config.kind).temperature(config); }

Fields fields(FlowConfig& c) {
  return Fields{}
      .add("flow", c.kind, "velocity of the particles; see 'pits list flows'")
      .add("bandwidth", c.bandwidth, "h of the kernel: a number, median or median-off-diagonal (over log(M+1))")
      .add("score_at", c.score_at, "score that the kernel weighs in SVGD and DGF: neighbour or own")
      .add("entropy", c.entropy, "lambda_1, weight of the entropy: scales the repulsion", at_least(0))
      .add("drive", c.drive, "velocity inside DGF that descends KL: svgd or blob")
      .add("lambda", c.lambda, "lambda_2, squared length of DGF's transport: a number, median or median-off-diagonal")
      .add("gamma", c.gamma, "DGF: constant multipliers of Eq. 6", at_least(0))
      .add("tau", c.tau, "DGF with Sinkhorn: step of the JKO scheme", above(0))
      .add("debiased", c.debiased, "DGF with Sinkhorn: subtract the cloud's plan to itself")
      .add("inner_steps", c.inner_steps, "DGF: steps for which the earlier cloud is held; above 1 is the JKO scheme",
           at_least(1))
      .add("beta", c.beta, "SPOS: weight of the Langevin part", at_least(0))
      .add("ridge", c.ridge, "GFSF: ridge of the kernel matrix", above(0));
}

template <class T>
void flow_velocity(const FlowConfig& c, const Cloud<T>& cloud, Workspace<T>& w, MatrixView<T> v) {
  Velocity<T> terms;
  weigh_terms(c, cloud, w, terms);
  terms.evaluate(cloud, v);
}

// Eq. 6 looks back one step, so that θ′ lags θ. The JKO scheme holds the cloud that its outer step started from.
template <class T>
ConstMatrixView<T> Flow<T>::previous_cloud(ConstMatrixView<T> theta) {
  if (!row<T>(config_.kind).looks_back) return theta;
  const auto copy = [&](Matrix<T>& to) {
    to.reshape(theta.rows(), theta.cols());
    std::ranges::copy(theta.flat(), to.data());
  };
  if (config_.inner_steps > 1) {
    if (calls_ % config_.inner_steps == 0) copy(held_);
  } else {
    if (calls_ == 0) copy(last_);
    std::swap(held_, last_);
    copy(last_);
  }
  return std::as_const(held_).view();
}

template <class T>
Cloud<T> Flow<T>::weigh(ConstMatrixView<T> theta, ConstMatrixView<T> score) {
  const Cloud<T> cloud{.theta = theta, .score = score, .previous = previous_cloud(theta)};
  ++calls_;
  weigh_terms(config_, cloud, workspace_, velocity_);
  return cloud;
}

template <class T>
void Flow<T>::velocity(ConstMatrixView<T> theta, ConstMatrixView<T> score, MatrixView<T> v) {
  velocity(weigh(theta, score), v);
}

template <class T>
ConstMatrixView<T> Flow<T>::next_previous(ConstMatrixView<T> theta) const {
  if (!row<T>(config_.kind).looks_back) return theta;
  if (config_.inner_steps > 1) return calls_ % config_.inner_steps == 0 ? theta : held_.view();
  return calls_ == 0 ? theta : last_.view();
}

template <class T>
Forces Flow<T>::forces(ConstMatrixView<T> theta, ConstMatrixView<T> score) const {
  const Matrix<double> now = in_double(theta), g = in_double(score), previous = in_double(next_previous(theta));
  return flow_forces(config_, {.theta = now, .score = g, .previous = previous});
}

// In double: the drive is found as a difference.
Forces flow_forces(const FlowConfig& config, const Cloud<double>& cloud) {
  Workspace<double> workspace;
  Matrix<double> all(cloud.theta.rows(), cloud.theta.cols()), alone = all, no_score = all;
  flow_velocity(config, cloud, workspace, all.view());
  flow_velocity(config, {.theta = cloud.theta, .score = no_score, .previous = cloud.previous}, workspace, alone.view());
  double drive = 0.0, repulsion = 0.0;
  for (std::size_t l = 0; l < all.size(); ++l) {
    drive += std::pow(all.data()[l] - alone.data()[l], 2);
    repulsion += std::pow(alone.data()[l], 2);
  }
  return {.drive = std::sqrt(drive), .repulsion = std::sqrt(repulsion)};
}

template <class T>
void add_diffusion(double temperature, double step, Stream& stream, MatrixView<T> theta) {
  const double sd = std::sqrt(2.0 * temperature * step);
  for (T& x : theta.flat()) x += static_cast<T>(sd * stream.normal());
}

template class Flow<float>;
template class Flow<double>;
template void flow_velocity<float>(const FlowConfig&, const Cloud<float>&, Workspace<float>&, MatrixView<float>);
template void flow_velocity<double>(const FlowConfig&, const Cloud<double>&, Workspace<double>&, MatrixView<double>);
template void add_diffusion<float>(double, double, Stream&, MatrixView<float>);
template void add_diffusion<double>(double, double, Stream&, MatrixView<double>);

}  // namespace pits
