#include "pits/experiment/diagnostics/posterior_distance.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "pits/core/error.h"
#include "pits/experiment/curve_sums.h"
#include "pits/experiment/diagnostics/spaced_rounds.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

double density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi); }

// Φ⁻¹ by bisection on std::erfc: exact to rounding, and called for 19 fixed levels only.
double normal_quantile(double u) {
  double low = -40.0, high = 40.0;
  for (int i = 0; i < 200 && high - low > 1e-15; ++i) {
    const double z = 0.5 * (low + high);
    (0.5 * std::erfc(-z / std::numbers::sqrt2) < u ? low : high) = z;
  }
  return 0.5 * (low + high);
}

// φ at the ends of n slices of equal mass, n+1 numbers; 0 at infinity.
std::vector<double> slice_densities(std::size_t n) {
  std::vector<double> at(n + 1, 0.0);
  for (std::size_t i = 1; i < n; ++i) at[i] = density(normal_quantile(static_cast<double>(i) / static_cast<double>(n)));
  return at;
}

std::unique_ptr<Observer> observer_of(const ObservedRun& run) {
  const auto* linear = dynamic_cast<const Linear*>(&run.environment);
  if (linear == nullptr) throw bad_input("probe=posterior knows the exact posterior of linear and sparse_linear only");
  auto observer = std::make_unique<PosteriorDistance>(*linear, run.agent, run.steps, run.rounds());
  (void)observer->measure(run.agent);
  return observer;
}

void check_readings(const Json& cell, std::size_t rounds) {
  const std::size_t planned = probe_rounds(rounds).size();
  for (const char* name : {"posterior_w2", "posterior_floor"}) {
    const std::size_t n = cell.at(name).get<std::vector<double>>().size();
    if (n != planned) throw bad_input("{} has {} readings, not {}", name, n, planned);
  }
}

Json summarise_readings(std::span<const Json> cells, std::size_t rounds) {
  CurveSums w2, floor;
  for (const Json& cell : cells) {
    w2.add(numbers_in(cell.at("posterior_w2")));
    floor.add(numbers_in(cell.at("posterior_floor")));
  }
  return {{"posterior_rounds", probe_rounds(rounds)},
          {"posterior_w2", w2.mean()},
          {"posterior_w2_se", w2.se()},
          {"posterior_floor", floor.mean()}};
}

}  // namespace

// ∫ (x_i − μ − σ Φ⁻¹(u))² du over the slices; the mean of Φ⁻¹ over slice i is n (φ(z_i) − φ(z_{i+1})).
double w2_to_normal(std::vector<double> x, double mean, double sd) {
  std::ranges::sort(x);
  const auto n = static_cast<double>(x.size());
  thread_local std::vector<double> phi;
  if (phi.size() != x.size() + 1) phi = slice_densities(x.size());
  double square = sd * sd;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = x[i] - mean;
    square += off * off / n - 2.0 * off * sd * (phi[i] - phi[i + 1]);
  }
  return std::sqrt(std::max(square, 0.0));
}

std::vector<std::size_t> probe_rounds(std::size_t rounds) { return spaced_rounds(rounds, 20, 20); }

PosteriorDistance::PosteriorDistance(const Linear& problem, const Agent& agent, std::size_t steps, std::size_t rounds)
    : problem_(problem), agent_(agent), planned_(probe_rounds(rounds)) {
  const auto d = static_cast<Eigen::Index>(problem.context_size());
  Round round;
  for (std::size_t i = 0; i < contexts; ++i) {
    problem.draw(steps + i, round);
    tests_.push_back(Eigen::Map<const Eigen::VectorXf>(round.context.data(), d).cast<double>());
  }
  precision_.assign(problem.actions(), static_cast<double>(d) * Eigen::MatrixXd::Identity(d, d));
  moment_.assign(problem.actions(), Eigen::VectorXd::Zero(d));
  for (std::size_t a = 0; a < problem.actions(); ++a) {
    if (problem.noise_sd(a) > 0.0) continue;
    throw bad_input("probe=posterior needs noise: without it the exact posterior is a point");
  }
}

void PosteriorDistance::observe(const Feedback& event) {
  const double precision = 1.0 / std::pow(problem_.noise_sd(event.action), 2);
  const Eigen::VectorXd x =
      Eigen::Map<const Eigen::VectorXf>(event.x.data(), static_cast<Eigen::Index>(event.x.size())).cast<double>();
  precision_[event.action].selfadjointView<Eigen::Lower>().rankUpdate(x, precision);
  moment_[event.action] += precision * static_cast<double>(event.reward) * x;
}

PosteriorDistance::Normal PosteriorDistance::exact(std::size_t context, Action a) const {
  const Eigen::LLT<Eigen::MatrixXd> cholesky(precision_[a]);
  const Eigen::VectorXd solved = cholesky.solve(tests_[context]);  // Σ x
  return {.mean = solved.dot(moment_[a]), .sd = std::sqrt(solved.dot(tests_[context]))};
}

PosteriorDistance::Reading PosteriorDistance::measure(const Agent& agent) const {
  const std::size_t K = problem_.actions();
  std::vector<double> rewards(K);
  std::vector<std::vector<double>> drawn(K, std::vector<double>(draws));
  double square = 0.0, variance = 0.0;
  for (std::size_t c = 0; c < contexts; ++c) {
    const Eigen::VectorXf x = tests_[c].cast<float>();
    for (std::uint32_t k = 0; k < draws; ++k) {
      if (!agent.draw_rewards({x.data(), static_cast<std::size_t>(x.size())}, k, rewards)) {
        throw bad_input("probe=posterior: the agent holds no posterior to draw from");
      }
      for (std::size_t a = 0; a < K; ++a) drawn[a][k] = rewards[a];
    }
    for (Action a = 0; a < K; ++a) {
      const Normal normal = exact(c, a);
      square += std::pow(w2_to_normal(drawn[a], normal.mean, normal.sd), 2);
      variance += normal.sd * normal.sd;
    }
  }
  const auto marginals = static_cast<double>(contexts * K);
  return {.w2 = std::sqrt(square / marginals), .floor = std::sqrt(unit_floor * variance / marginals)};
}

void PosteriorDistance::after_learning(std::span<const Feedback> events) {
  for (const Feedback& event : events) observe(event);
  if (++round_ != planned_[w2_.size()]) return;
  const auto [w2, floor] = measure(agent_);
  w2_.push_back(w2);
  floor_.push_back(floor);
}

Json PosteriorDistance::finish() { return {{"posterior_w2", w2_}, {"posterior_floor", floor_}}; }

Diagnostic posterior_diagnostic() {
  return {.name = "posterior", .make = observer_of, .check = check_readings, .summarise = summarise_readings};
}

}  // namespace pits
