#include "pits/cuda/card_executor.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>

#include "pits/core/parallel.h"
#include "pits/cuda/card_settings.h"
#include "pits/cuda/lockstep.h"
#include "pits/cuda/on_card.h"

namespace pits::cuda {
namespace {

constexpr std::size_t most_together = 32768;  // copies that a launch can number
constexpr std::size_t most_rounds = std::numeric_limits<int>::max();

// The agent's config where the card can run it, else the reason.
struct Ability {
  std::optional<PiTsConfig> config{};
  std::string reason{};
};

Ability ability(const Plan& plan, const Cell& cell) {
  if (plan.diagnoses()) return {.reason = "diagnostics look at particles, which stay on the card"};
  if (plan.probes()) return {.reason = "a probe looks at posteriors, which stay on the card"};
  if (plan.feedback() != Revealed::played) return {.reason = "the card learns the rewards of actions played only"};
  const auto environment = plan.make_environment(cell);
  const auto agent = plan.make_agent(cell, *environment);
  const auto* particles = dynamic_cast<const PiTs*>(agent.get());
  if (particles == nullptr) return {.reason = "it has no GPU version"};
  std::string reason =
      why_not_on_card(particles->config(), {environment->context_size(), environment->actions(), plan.seed(), 0});
  if (!reason.empty()) return {.reason = std::move(reason)};
  return {.config = particles->config()};
}

// Plays what the card has played, so that the loop of the CPU keeps the books.
class Replay final : public Agent {
 public:
  explicit Replay(std::span<const std::int32_t> actions) : actions_(actions) {}
  Decision choose(const Query& query) const override {
    return {.action = static_cast<Action>(actions_[query.id]), .propensity = std::nullopt};
  }
  void learn(std::span<const Feedback>) override {}
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<Replay>(*this); }

 private:
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
      const std::size_t rounds = on_card([&] { return lockstep_->advance(); });
      if (stop) throw Interrupted();
      if (rounds == 0) break;
      done(rounds * cells_.size());
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    check_divergence();
    check_singular();
    const std::vector<std::int32_t> actions = on_card([&] { return lockstep_->actions(); });
    parallel_for(cells_.size(), [&](std::size_t g) {
      Replay replay{std::span(actions).subspan(g * rounds_, rounds_)};
      Trajectory path = run_rounds(replay, *plan_.make_environment(plan_.cell(cells_[g])), plan_.steps());
      path.seconds = elapsed.count() / static_cast<double>(cells_.size());  // its share of the card's time
      results.put(cells_[g], path);
    });
  }

 private:
  std::unique_ptr<Lockstep> make() const {
    std::vector<std::uint32_t> realizations;
    for (const std::size_t cell : cells_) realizations.push_back(plan_.cell(cell).realization);
    return on_card([&] { return std::make_unique<Lockstep>(settings_, realizations, rounds_); });
  }

  void upload(std::size_t g) {
    const auto environment = plan_.make_environment(plan_.cell(cells_[g]));
    if (rounds_of(plan_, *environment) != rounds_) throw failed("realizations of a problem differ in their rounds");
    const AgentSetup setup{environment->context_size(), environment->actions()};
    const std::size_t d = setup.context_size, K = setup.actions;
    std::vector<float> contexts(rounds_ * d), rewards(rounds_ * K);
    Round round;
    for (std::size_t t = 0; t < rounds_; ++t) {
      environment->draw(t, round);
      check_query({.x = round.context, .id = t}, setup);
      std::ranges::copy(round.context, contexts.begin() + static_cast<std::ptrdiff_t>(t * d));
      for (std::size_t a = 0; a < K; ++a) rewards[t * K + a] = checked_reward(round.rewards[a]);
    }
    on_card([&] { lockstep_->set_rounds(g, contexts, rewards); });
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
    const std::vector<std::int32_t> diverged = on_card([&] { return lockstep_->diverged(); });
    for (std::size_t g = 0; g < diverged.size(); ++g) {
      if (diverged[g] == 0) continue;
      throw failed("realization {}: the particles diverged after {} training steps; a smaller step may hold them",
                   plan_.cell(cells_[g]).realization, diverged[g]);
    }
  }

  void check_singular() const {
    const std::vector<std::int32_t> singular = on_card([&] { return lockstep_->singular(); });
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

// All open cells of one agent on one problem, in as many groups as the card's memory asks for.
void run_on_card(const Plan& plan, const std::vector<std::size_t>& cells, const PiTsConfig& config, Results& results,
                 const std::atomic<bool>& stop, const RoundsDone& done) {
  const auto environment = plan.make_environment(plan.cell(cells.front()));
  const std::size_t rounds = rounds_of(plan, *environment);
  if (rounds > most_rounds) throw bad_input("{} rounds: the card numbers at most {}", rounds, most_rounds);
  const AgentSetup setup{environment->context_size(), environment->actions(), plan.seed(), 0};
  const CardPrecision precision = plan.precision() == "float32" ? CardPrecision::float32 : CardPrecision::tf32;
  const Settings settings = card_settings(config, setup, rounds, precision);
  for (std::size_t first = 0; first < cells.size();) {
    const std::size_t free = on_card([] { return free_bytes(); });
    const std::size_t together = on_card([&] { return largest_group(settings, cells.size() - first, rounds, free); });
    if (together == 0) {
      throw failed("one realization needs {} of the card's memory, and {} is free: the largest group that fits is 0",
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

std::string without_card_version(const Plan& plan) {
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

void CardExecutor::run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
                       const RoundsDone& done) {
  if (plan.device().empty()) return cpu_->run(plan, results, threads, stop, done);
  {
    const ThreadScope scope(threads);
    for (const auto& [which, cells] : open_cells(plan, *results)) {
      const Cell first = plan.cell(cells.front());
      try {
        const Ability can = ability(plan, first);
        if (can.config) run_on_card(plan, cells, *can.config, *results, stop, done);
      } catch (const Error& e) {
        throw named(plan, first, e);
      }
    }
  }
  cpu_->run(plan, results, threads, stop, done);
}

}  // namespace pits::cuda
