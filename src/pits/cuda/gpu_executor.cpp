#include "pits/cuda/gpu_executor.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>

#include "pits/core/parallel.h"
#include "pits/cuda/device/on_gpu.h"
#include "pits/cuda/gpu_settings.h"
#include "pits/cuda/lockstep.h"

namespace pits::cuda {
namespace {

constexpr std::size_t most_together = 32768;  // copies that a launch can number
constexpr std::size_t most_rounds = std::numeric_limits<int>::max();

// The agent's config where the GPU can run it, else the reason.
struct Ability {
  std::optional<PiTsConfig> config{};
  std::string reason{};
};

Ability ability(const Plan& plan, const Cell& cell) {
  if (plan.config().training_delay > 0) return {.reason = "trainings on the GPU are in line"};
  if (!plan.diagnostics().empty()) return {.reason = "diagnostics look at particles, which stay on the GPU"};
  if (plan.feedback() != FeedbackKind::played) return {.reason = "the GPU learns the rewards of played actions only"};
  const auto environment = plan.make_environment(cell);
  if (!environment->timing().immediate()) return {.reason = "the GPU learns rewards at once: no delay, no batches"};
  if (environment->masks_actions()) return {.reason = "the GPU plays problems whose actions are always allowed"};
  const auto agent = plan.make_agent(cell, *environment);
  const auto* particles = dynamic_cast<const PiTs*>(agent.get());
  if (particles == nullptr) return {.reason = "it has no GPU version"};
  std::string reason =
      why_not_on_gpu(particles->config(), {environment->context_size(), environment->actions(), plan.seed(), 0});
  if (!reason.empty()) return {.reason = std::move(reason)};
  return {.config = particles->config()};
}

// Replays the GPU's actions, so that the CPU's loop computes the regret.
class Replay final : public Cloned<Replay> {
 public:
  Replay(const AgentSetup& setup, std::span<const std::int32_t> actions) : Cloned(setup), actions_(actions) {}

 private:
  Action decide(const Query& query, Stream&, ActionProbabilities*) const override {
    return static_cast<Action>(actions_[query.id]);
  }
  void observe(const Feedback&) override {}
  void state(Archive&) override {}

  std::span<const std::int32_t> actions_;
};

std::size_t rounds_of(const Plan& plan, const Environment& environment) {
  return std::min(plan.steps(), environment.horizon());
}

// Cells of one agent and one problem, all of as many rounds.
class GroupRun {
 public:
  GroupRun(const Plan& plan, std::span<const std::size_t> cells, std::size_t rounds, const Settings& settings)
      : plan_(plan), cells_(cells), rounds_(rounds), settings_(settings), lockstep_(make()) {}

  void run(Results& results, const std::atomic<bool>& stop, const RoundsDone& done) {
    parallel_for(cells_.size(), [&](std::size_t g) { upload(g); });
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
      const std::size_t rounds = on_gpu([&] { return lockstep_->advance(); });
      if (stop) throw Interrupted();
      if (rounds == 0) break;
      done(rounds * cells_.size());
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    check_divergence();
    check_singular();
    const std::vector<std::int32_t> actions = on_gpu([&] { return lockstep_->actions(); });
    parallel_for(cells_.size(), [&](std::size_t g) {
      const auto environment = plan_.make_environment(plan_.cell(cells_[g]));
      Replay replay({.context_size = environment->context_size(), .actions = environment->actions()},
                    std::span(actions).subspan(g * rounds_, rounds_));
      Trajectory path = run_rounds(
          replay, *environment, plan_.steps(), [](std::size_t) {}, {}, FeedbackKind::played, plan_.config().regret);
      path.seconds = elapsed.count() / static_cast<double>(cells_.size());  // its share of the GPU's time
      results.put(cells_[g], path);
    });
  }

 private:
  std::unique_ptr<Lockstep> make() const {
    std::vector<std::uint32_t> realizations;
    for (const std::size_t cell : cells_) realizations.push_back(plan_.cell(cell).realization);
    return on_gpu([&] { return std::make_unique<Lockstep>(settings_, realizations, rounds_); });
  }

  void upload(std::size_t g) {
    const auto environment = plan_.make_environment(plan_.cell(cells_[g]));
    if (rounds_of(plan_, *environment) != rounds_) throw failed("realizations of a problem differ in their rounds");
    const AgentSetup setup{environment->context_size(), environment->actions()};
    const Replay checks(setup, {});
    const std::size_t d = setup.context_size, K = setup.actions;
    std::vector<float> contexts(rounds_ * d), rewards(rounds_ * K);
    Round round;
    for (std::size_t t = 0; t < rounds_; ++t) {
      environment->draw(t, round);
      checks.check(Query{.x = round.context, .id = t});
      std::ranges::copy(round.context, contexts.begin() + static_cast<std::ptrdiff_t>(t * d));
      for (std::size_t a = 0; a < K; ++a) rewards[t * K + a] = checked_reward(round.rewards[a]);
    }
    on_gpu([&] { lockstep_->set_rounds(g, contexts, rewards); });
  }

  float checked_reward(double reward) const {
    const auto r = static_cast<float>(reward);
    if (!std::isfinite(r)) throw bad_input("a reward must be finite, not {}", reward);
    if (settings_.network.bernoulli && !(r >= 0.0F && r <= 1.0F)) {
      throw bad_input("a Bernoulli model needs rewards in 0..1, not {}; use model=linear or model=mlp", r);
    }
    return r;
  }

  void check_divergence() const {
    const std::vector<std::int32_t> diverged = on_gpu([&] { return lockstep_->diverged(); });
    for (std::size_t g = 0; g < diverged.size(); ++g) {
      if (diverged[g] == 0) continue;
      throw failed("realization {}: the particles diverged after {} training steps; a smaller step may hold them",
                   plan_.cell(cells_[g]).realization, diverged[g]);
    }
  }

  void check_singular() const {
    const std::vector<std::int32_t> singular = on_gpu([&] { return lockstep_->singular(); });
    for (std::size_t g = 0; g < singular.size(); ++g) {
      if (singular[g] == 0) continue;
      throw failed(
          "realization {}: a precision matrix of the last layers is singular to working precision; "
          "units=standardised may help",
          plan_.cell(cells_[g]).realization);
    }
  }

  const Plan& plan_;
  std::span<const std::size_t> cells_;
  std::size_t rounds_;
  const Settings& settings_;
  std::unique_ptr<Lockstep> lockstep_;
};

std::string gibibytes(std::size_t bytes) { return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1U << 30)); }

// All open cells of one agent on one problem, in as many groups as the GPU's memory asks for.
void run_on_gpu(const Plan& plan, const std::vector<std::size_t>& cells, const PiTsConfig& config, Results& results,
                const std::atomic<bool>& stop, const RoundsDone& done) {
  const auto environment = plan.make_environment(plan.cell(cells.front()));
  const std::size_t rounds = rounds_of(plan, *environment);
  if (rounds > most_rounds) throw bad_input("{} rounds: the GPU numbers at most {}", rounds, most_rounds);
  const AgentSetup setup{environment->context_size(), environment->actions(), plan.seed(), 0};
  const GpuPrecision precision =
      plan.config().precision == Precision::float32 ? GpuPrecision::float32 : GpuPrecision::tf32;
  const Settings settings = gpu_settings(config, setup, rounds, precision);
  for (std::size_t first = 0; first < cells.size();) {
    const std::size_t free = on_gpu([] { return free_bytes(); });
    const std::size_t together = on_gpu([&] { return largest_group(settings, cells.size() - first, rounds, free); });
    if (together == 0) {
      throw failed("one realization needs {} of the GPU's memory, and {} is free: the largest group that fits is 0",
                   gibibytes(lockstep_bytes(settings, 1, rounds)), gibibytes(free));
    }
    GroupRun(plan, std::span(cells).subspan(first, together), rounds, settings).run(results, stop, done);
    first += together;
  }
}

Error named(const Plan& plan, const Cell& cell, const Error& e) {
  return {e.kind(), fmt::format("agent '{}' on '{}': {}", plan.agents()[cell.agent],
                                plan.environments()[cell.environment], e.what())};
}

// The open cells of each agent on each problem.
std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> open_cells(const Plan& plan,
                                                                                   const Results& results) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> open;
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    const Cell cell = plan.cell(i);
    if (!results.has(i)) open[{cell.environment, cell.agent}].push_back(i);
  }
  return open;
}

}  // namespace

std::string without_gpu_version(const Plan& plan) {
  for (std::size_t i = 0; i < plan.cells(); i += plan.realizations()) {
    const Cell cell = plan.cell(i);
    const Ability can = ability(plan, cell);
    if (!can.config) return fmt::format("agent '{}': {}", plan.agents()[cell.agent], can.reason);
  }
  return {};
}

std::size_t largest_group(const Settings& settings, std::size_t wanted, std::size_t rounds, std::size_t free) {
  const std::size_t usable = free - free / 20;  // the driver's own needs, and the gaps between arrays
  const auto fits = [&](std::size_t G) { return lockstep_bytes(settings, G, rounds) <= usable; };
  std::size_t low = 0, high = std::min(wanted, most_together);
  while (low < high) {
    const std::size_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

void GpuExecutor::run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
                      const RoundsDone& done) {
  if (plan.config().device != Device::cuda) return cpu_->run(plan, results, threads, stop, done);
  {
    const ThreadScope scope(threads);
    for (const auto& [which, cells] : open_cells(plan, *results)) {
      const Cell first = plan.cell(cells.front());
      try {
        const Ability can = ability(plan, first);
        if (can.config) run_on_gpu(plan, cells, *can.config, *results, stop, done);
      } catch (const Error& e) {
        throw named(plan, first, e);
      }
    }
  }
  cpu_->run(plan, results, threads, stop, done);
}

}  // namespace pits::cuda
