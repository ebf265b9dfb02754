#include "pits/experiment/diagnostics/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pits/core/error.h"
#include "pits/core/io/text_table.h"
#include "pits/experiment/curve_sums.h"
#include "pits/experiment/diagnostics/spaced_rounds.h"
#include "pits/experiment/diagnostics/spread.h"
#include "pits/experiment/summary.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_points = 100;
constexpr std::size_t first_point = 10;

template <class T>
void push(std::deque<T>& recent, T value) {
  recent.push_back(std::move(value));
  if (recent.size() > ParticleHealth::recent) recent.pop_front();
}

double reward_sd(const PiTs& agent) { return agent.posterior().standardiser().reward_scale().sd; }

std::unique_ptr<Observer> observer_of(const ObservedRun& run) {
  const auto* agent = dynamic_cast<const PiTs*>(&run.agent);
  if (agent == nullptr || agent->posterior().particles().rows() < 2) return nullptr;
  return std::make_unique<ParticleHealth>(*agent, run.rounds());
}

void check_health(const Json& cell, std::size_t) {
  if (!cell.contains("health")) return;
  const Json& health = cell.at("health");
  (void)health.at("particles").get<std::size_t>();
  const std::size_t points = health.at("rounds").get<std::vector<std::size_t>>().size();
  for (const char* name : ParticleHealth::series) {
    const std::size_t n = numbers_in(health.at(name)).size();
    if (n != points) throw bad_input("{} has {} points, not {}", name, n, points);
  }
  const std::size_t bins = health.at("pit").get<std::vector<double>>().size();
  if (bins != PitHistogram::bins) throw bad_input("pit has {} bins, not {}", bins, PitHistogram::bins);
}

// Mean and standard error of each series, the mean histogram, and how many realizations end collapsed.
Json summarise_health(std::span<const Json> cells, std::size_t) {
  const Json& first = cells.front().at("health");
  std::vector<CurveSums> sums(ParticleHealth::series.size());
  std::array<double, PitHistogram::bins> pit{};
  std::size_t collapsed = 0, earliest = 0;
  for (const Json& cell : cells) {
    const Json& health = cell.at("health");
    if (health.at("rounds") != first.at("rounds")) {
      throw bad_input("realizations of one agent were trained at different rounds");
    }
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k].add(numbers_in(health.at(ParticleHealth::series[k])));
    for (std::size_t b = 0; b < pit.size(); ++b) {
      pit[b] += health.at("pit")[b].get<double>() / static_cast<double>(cells.size());
    }
    const std::size_t since = collapsed_since(health);
    if (since == 0) continue;
    ++collapsed;
    earliest = earliest == 0 ? since : std::min(earliest, since);
  }
  Json summary = {{"particles", first.at("particles")}, {"rounds", first.at("rounds")}};
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const std::string name = ParticleHealth::series[k];
    summary[name] = sums[k].mean();
    summary[name + "_se"] = sums[k].se();
  }
  summary["pit"] = pit;
  summary["collapsed"] = collapsed;
  summary["collapsed_since"] = earliest;
  return {{"health", summary}};
}

bool observed(const SummaryRow& row) { return row.observed.contains("health"); }
bool has_points(const SummaryRow& row) { return observed(row) && !row.observed["health"]["rounds"].empty(); }

std::vector<std::string> text_row(const SummaryRow& row) {
  const Json& health = row.observed["health"];
  const auto last = [&](const char* name) { return health[name].back().get<double>(); };
  const auto percent = [&](double level) {
    return fmt::format("{:.1f} %", 100.0 * coverage(numbers_in(health["pit"]), level));
  };
  return {row.agent,
          row.environment,
          fmt::format("{}", health["rounds"].back().get<std::size_t>()),
          fmt::format("{:.3f}", last("disagreement")),
          fmt::format("{:.3g}", last("spread")),
          fmt::format("{:.2g}", last("repulsion")),
          fmt::format("{:.1f} of {}", last("effective"), health["particles"].get<std::size_t>()),
          percent(0.5),
          percent(0.9)};
}

std::string collapse_warning(const SummaryRow& row) {
  if (!observed(row) || row.observed["health"]["collapsed"] == 0) return "";
  const Json& health = row.observed["health"];
  return fmt::format(
      "warning: {} on {}: the particles have collapsed in {} of {} realizations, from round {} on; they differ by less "
      "than if there were one number per action to learn\n",
      row.agent, row.environment, health["collapsed"].get<std::size_t>(), row.finals.size(),
      health["collapsed_since"].get<std::size_t>());
}

// A line that names the agents for which it holds, each once; empty where there is none.
std::string line_of_agents(const char* start, const std::vector<SummaryRow>& rows, bool (*holds)(const SummaryRow&)) {
  std::vector<std::string> agents;
  for (const SummaryRow& row : rows) {
    if (holds(row) && std::ranges::find(agents, row.agent) == agents.end()) agents.push_back(row.agent);
  }
  return agents.empty() ? "" : fmt::format("{}: {}\n", start, fmt::join(agents, ", "));
}

// A line per agent of particles and problem, warnings, and the agents that have nothing to show.
std::string health_text(const std::vector<SummaryRow>& rows) {
  TextTable table{.header = {"particles of", "problem", "round", "disagreement", "spread", "repulsion/drive",
                             "effective number", "50 % covers", "90 % covers"},
                  .rows = {}};
  std::string warnings;
  for (const SummaryRow& row : rows) {
    if (has_points(row)) table.rows.push_back(text_row(row));
    warnings += collapse_warning(row);
  }
  std::string text = "\n";
  if (!table.rows.empty()) {
    text += as_text(table) +
            "\nAfter that round's training, mean over realizations: share of contexts on which two particles disagree; "
            "their spread in standard deviations\nof the reward. Over the run: share of rewards within the central 50 "
            "and 90 % of what was predicted.\n";
  }
  return text + warnings +
         line_of_agents("No particles to look at", rows, [](const SummaryRow& row) { return !observed(row); }) +
         line_of_agents("Too few trainings to look at", rows,
                        [](const SummaryRow& row) { return observed(row) && !has_points(row); });
}

}  // namespace

std::vector<std::size_t> health_rounds(std::size_t rounds) { return spaced_rounds(rounds, first_point, most_points); }

ParticleHealth::ParticleHealth(const PiTs& agent, std::size_t rounds)
    : agent_(agent),
      particles_(agent.posterior().particles().rows()),
      actions_(agent.posterior().model().actions()),
      planned_(health_rounds(rounds)),
      seen_({{"particles", particles_}, {"rounds", Json::array()}}) {
  for (const char* name : series) seen_[name] = Json::array();
}

// What untrained particles predict says nothing about them, and their units are not known yet.
void ParticleHealth::before_learning(std::span<const Feedback> events) {
  if (trainings_ == 0) return;
  for (const Feedback& event : events) forecast(event);
}

void ParticleHealth::forecast(const Feedback& event) {
  std::vector<double> rewards(actions_), mean(particles_), sd(particles_);
  for (std::size_t i = 0; i < particles_; ++i) {
    agent_.particle_rewards(static_cast<std::uint32_t>(i), event.x, rewards);
    mean[i] = rewards[event.action];
    sd[i] = agent_.posterior().noise_sd(i, event.action);
  }
  double average = 0.0;
  for (const double m : mean) average += m / static_cast<double>(particles_);
  const double r = event.reward;
  const Pit pit = agent_.posterior().model().bernoulli() ? coin_pit(r, average) : mixture_pit(r, mean, sd);
  histogram_.add(pit);
  push(forecasts_, Forecast{.pit = pit, .square = (r - average) * (r - average)});
}

void ParticleHealth::after_learning(std::span<const Feedback> events) {
  ++round_;
  const ContextView x = events.front().x;
  push(contexts_, std::vector<float>(x.begin(), x.end()));
  if (agent_.posterior().trained_at() == trained_at_) return;
  trained_at_ = agent_.posterior().trained_at();
  ++trainings_;
  if (forecasts_.empty() || next_ == planned_.size() || round_ < planned_[next_]) return;
  while (next_ < planned_.size() && planned_[next_] <= round_) ++next_;
  measure();
}

void ParticleHealth::measure() {
  const Matrix<double> predicted = predictions();
  const Forces forces = agent_.posterior().forces();
  const std::array<double, series.size()> point = {disagreement(predicted, actions_),
                                                   spread(predicted) / reward_sd(agent_),
                                                   collapse_line(),
                                                   forces.repulsion / forces.drive,
                                                   effective_particles(predicted),
                                                   covered_share(0.5),
                                                   covered_share(0.9)};
  seen_["rounds"].push_back(round_);
  for (std::size_t k = 0; k < series.size(); ++k) seen_[series[k]].push_back(point[k]);
}

// The spread that is left when only one number per action had to be learned: with noise σ² it is known up to σ²/n_a
// after n_a rewards, and the mean of these over the K actions is at least σ²K/t, however the actions of the t rounds
// were chosen. σ² is the mean square of the errors of recent predictions.
double ParticleHealth::collapse_line() const {
  double square = 0.0;
  for (const Forecast& f : forecasts_) square += f.square / static_cast<double>(forecasts_.size());
  const double t = agent_.posterior().history().weight();
  return std::sqrt(square * static_cast<double>(actions_) / t) / reward_sd(agent_);
}

Matrix<double> ParticleHealth::predictions() const {
  Matrix<double> all(particles_, contexts_.size() * actions_);
  for (std::size_t i = 0; i < particles_; ++i) {
    for (std::size_t c = 0; c < contexts_.size(); ++c) {
      agent_.particle_rewards(static_cast<std::uint32_t>(i), contexts_[c], all.row(i).subspan(c * actions_, actions_));
    }
  }
  return all;
}

double ParticleHealth::covered_share(double level) const {
  double sum = 0.0;
  for (const Forecast& f : forecasts_) sum += covered(f.pit, level);
  return sum / static_cast<double>(forecasts_.size());
}

Json ParticleHealth::finish() {
  seen_["pit"] = histogram_.shares();
  return {{"health", seen_}};
}

std::size_t collapsed_since(const Json& health) {
  const std::vector<double> spread = numbers_in(health.at("spread")), line = numbers_in(health.at("collapse_line"));
  std::size_t since = 0;
  for (std::size_t i = spread.size(); i > 0 && spread[i - 1] < line[i - 1]; --i) {
    since = health.at("rounds")[i - 1].get<std::size_t>();
  }
  return since;
}

Diagnostic health_diagnostic() {
  return {.name = "health",
          .make = observer_of,
          .check = check_health,
          .summarise = summarise_health,
          .text = health_text,
          .nothing_to_observe =
              "diagnostics look at particles, and no agent here has two or more; pi-ts, ensemble, ensemble-sampling, "
              "bootstrap and weighted-bootstrap have them"};
}

}  // namespace pits
