#include "pits/experiment/health_probe.h"

#include <algorithm>
#include <cmath>

#include "pits/experiment/spaced_rounds.h"
#include "pits/posterior/spread.h"

namespace pits {
namespace {

constexpr std::size_t most_points = 100;
constexpr std::size_t first_point = 10;

template <class T>
void push(std::deque<T>& recent, T value) {
  recent.push_back(std::move(value));
  if (recent.size() > HealthProbe::recent) recent.pop_front();
}

double reward_sd(const PiTs& agent) { return agent.posterior().units().reward_scale().sd; }

}  // namespace

std::vector<std::size_t> health_rounds(std::size_t rounds) { return spaced_rounds(rounds, first_point, most_points); }

std::unique_ptr<HealthProbe> HealthProbe::of(const Agent& agent, std::size_t rounds) {
  const auto* particles = dynamic_cast<const PiTs*>(&agent);
  if (particles == nullptr || particles->posterior().particles().rows() < 2) return nullptr;
  return std::make_unique<HealthProbe>(*particles, rounds);
}

HealthProbe::HealthProbe(const PiTs& agent, std::size_t rounds)
    : agent_(agent),
      particles_(agent.posterior().particles().rows()),
      actions_(agent.posterior().model().actions()),
      planned_(health_rounds(rounds)) {}

// What untrained particles predict says nothing about them, and their units are not known yet.
void HealthProbe::before_learning(std::span<const Feedback> events) {
  if (trainings_ == 0) return;
  for (const Feedback& event : events) forecast(event);
}

void HealthProbe::forecast(const Feedback& event) {
  std::vector<double> rewards(actions_), mean(particles_), sd(particles_);
  for (std::size_t i = 0; i < particles_; ++i) {
    agent_.draw_rewards(event.x, static_cast<std::uint32_t>(i), rewards);
    mean[i] = rewards[event.action];
    sd[i] = agent_.noise_sd(i, event.action);
  }
  double average = 0.0;
  for (const double m : mean) average += m / static_cast<double>(particles_);
  const double r = event.reward;
  const Pit pit = agent_.posterior().model().bernoulli() ? coin_pit(r, average) : mixture_pit(r, mean, sd);
  histogram_.add(pit);
  push(forecasts_, Forecast{.pit = pit, .square = (r - average) * (r - average)});
}

void HealthProbe::after_learning(ContextView x) {
  ++round_;
  push(contexts_, std::vector<float>(x.begin(), x.end()));
  if (agent_.trained_at() == trained_at_) return;
  trained_at_ = agent_.trained_at();
  ++trainings_;
  if (forecasts_.empty() || next_ == planned_.size() || round_ < planned_[next_]) return;
  while (next_ < planned_.size() && planned_[next_] <= round_) ++next_;
  points_.push_back(measure());
}

HealthPoint HealthProbe::measure() const {
  const Matrix<double> predicted = predictions();
  const Forces forces = agent_.forces();
  return {.round = round_,
          .disagreement = disagreement(predicted, actions_),
          .spread = spread(predicted) / reward_sd(agent_),
          .collapse_line = collapse_line(),
          .repulsion = forces.repulsion / forces.drive,
          .effective = effective_particles(predicted),
          .covered50 = covered_share(0.5),
          .covered90 = covered_share(0.9)};
}

// The spread that is left when nothing had to be learned but one number an action: from n_a rewards of noise σ² each
// is known up to σ²/n_a, and the mean of these over the K actions is at least σ²K/t, however the actions of the t were
// chosen. σ² is the mean square by which recent rewards missed their predictions.
double HealthProbe::collapse_line() const {
  double square = 0.0;
  for (const Forecast& f : forecasts_) square += f.square / static_cast<double>(forecasts_.size());
  const double t = agent_.posterior().history().weight();
  return std::sqrt(square * static_cast<double>(actions_) / t) / reward_sd(agent_);
}

Matrix<double> HealthProbe::predictions() const {
  Matrix<double> all(particles_, contexts_.size() * actions_);
  for (std::size_t i = 0; i < particles_; ++i) {
    for (std::size_t c = 0; c < contexts_.size(); ++c) {
      agent_.draw_rewards(contexts_[c], static_cast<std::uint32_t>(i), all.row(i).subspan(c * actions_, actions_));
    }
  }
  return all;
}

double HealthProbe::covered_share(double level) const {
  double sum = 0.0;
  for (const Forecast& f : forecasts_) sum += covered(f.pit, level);
  return sum / static_cast<double>(forecasts_.size());
}

Health HealthProbe::health() const { return {.particles = particles_, .points = points_, .pit = histogram_.shares()}; }

}  // namespace pits
