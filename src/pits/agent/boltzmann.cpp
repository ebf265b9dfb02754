#include "pits/agent/boltzmann.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pits {
namespace {

// A copy that no longer learns.
class FrozenBoltzmann final : public Policy {
 public:
  explicit FrozenBoltzmann(const BoltzmannDraw& draw)
      : model_(draw.model),
        theta_(draw.theta.begin(), draw.theta.end()),
        config_(draw.config),
        pulls_(draw.pulls),
        draw_{model_, theta_, config_, pulls_, draw.events, draw.setup} {}

  Decision choose(const Query& query) const override { return draw_.choose(query); }
  double propensities(const Query& query, std::uint32_t draws, std::span<float> p) const override {
    return draw_.propensities(query, p) ? 0.0 : Policy::propensities(query, draws, p);
  }

 private:
  RewardModel model_;
  std::vector<float> theta_;
  BoltzmannConfig config_;
  std::vector<std::uint64_t> pulls_;
  BoltzmannDraw draw_;  // by the copies above
};

// An action without pulls has unbounded noise: it comes first.
Action best_with_gumbel_noise(std::span<const float> values, const BoltzmannDraw& d, const Query& query,
                              Stream& stream) {
  std::vector<double> noisy(values.size());
  for (Action a = 0; a < values.size(); ++a) {
    const double gumbel = -std::log(-std::log(stream.uniform()));
    const auto n = static_cast<double>(d.pulls[a]);
    noisy[a] =
        n > 0.0 ? values[a] + d.config.gumbel_scale / std::sqrt(n) * gumbel : std::numeric_limits<double>::infinity();
  }
  return best_action(noisy, query.actions);
}

}  // namespace

Fields fields(BoltzmannConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .add("temperature", c.temperature, "of the softmax, in units of the reward", above(0))
      .add("gumbel", c.gumbel, "Gumbel noise that falls with an action's pulls, instead of one temperature")
      .add("gumbel_scale", c.gumbel_scale, "C: the noise of an action pulled N times is multiplied by C/sqrt(N)",
           at_least(0));
}

BoltzmannConfig boltzmann_preset(std::string_view name) { return {.network = network_preset(name)}; }

std::vector<double> softmax(std::span<const float> values, double temperature, const ActionSet& actions) {
  const double largest = values[best_action(values, actions)];
  std::vector<double> p(values.size(), 0.0);
  double total = 0.0;
  for (Action a = 0; a < p.size(); ++a) {
    if (actions.admits(a)) total += p[a] = std::exp((values[a] - largest) / temperature);
  }
  for (double& x : p) x /= total;
  return p;
}

Decision BoltzmannDraw::choose(const Query& query) const {
  check_query(query, setup);
  if (const auto forced = forced_pull(events, config.network.initial_pulls, query, setup.first_actions()))
    return *forced;
  const std::vector<float> values = predictions(query.x);
  Stream stream = decision_stream(setup, query);
  if (config.gumbel) {
    return {.action = best_with_gumbel_noise(values, *this, query, stream), .propensity = std::nullopt};
  }
  const std::vector<double> p = softmax(values, config.temperature, query.actions);
  skip_to_place(stream, query, 2);
  const auto action = static_cast<Action>(stream.categorical(p));
  return {.action = action,
          .propensity = query.want_propensity ? std::optional(static_cast<float>(p[action])) : std::nullopt};
}

std::vector<float> BoltzmannDraw::predictions(ContextView x) const {
  thread_local Network::Workspace workspace;
  std::vector<float> values(setup.actions);
  model.predict(theta, x, workspace, values);
  return values;
}

bool BoltzmannDraw::propensities(const Query& query, std::span<float> p) const {
  check_query(query, setup);
  check_places(p, setup.actions);
  std::ranges::fill(p, 0.0F);
  if (const auto forced = forced_pull(events, config.network.initial_pulls, query, setup.first_actions())) {
    p[forced->action] = 1.0F;
    return true;
  }
  if (config.gumbel) return false;
  std::ranges::transform(softmax(predictions(query.x), config.temperature, query.actions), p.begin(),
                         [](double value) { return static_cast<float>(value); });
  return true;
}

Boltzmann::Boltzmann(const BoltzmannConfig& config, const AgentSetup& setup)
    : config_(checked(config)), setup_(setup), network_(as_particles(config.network), setup), pulls_(setup.actions) {}

BoltzmannDraw Boltzmann::draw() const {
  return {network().model(), network().particles().row(0), config_, pulls_, network().history().seen(), setup_};
}

double Boltzmann::propensities(const Query& query, std::uint32_t draws, std::span<float> p) const {
  return draw().propensities(query, p) ? 0.0 : Policy::propensities(query, draws, p);
}

void Boltzmann::add_actions(std::size_t n) {
  network_.add_actions(n);
  setup_.add_actions(n);
  pulls_.resize(setup_.actions);
}

void Boltzmann::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    network_.learn({&event, 1});
    ++pulls_[event.action];
  }
}

std::unique_ptr<const Policy> Boltzmann::snapshot() const { return std::make_unique<FrozenBoltzmann>(draw()); }

}  // namespace pits
