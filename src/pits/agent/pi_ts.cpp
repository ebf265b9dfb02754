#include "pits/agent/pi_ts.h"

#include <algorithm>
#include <cmath>

namespace pits {
namespace {

class FrozenParticles final : public Policy {
 public:
  explicit FrozenParticles(const ParticleVote& vote)
      : model_(vote.model), theta_(copy_of(vote.theta)), vote_{model_,      theta_,    vote.floor, vote.initial_pulls,
                                                               vote.events, vote.setup} {}

  Decision choose(const Query& query) const override { return vote_.choose(query); }
  double propensities(const Query& query, std::uint32_t, std::span<float> p) const override {
    return vote_.propensities(query, p);
  }

 private:
  RewardModel model_;
  Particles theta_;
  ParticleVote vote_;  // by the copies above
};

}  // namespace

Fields fields(PiTsConfig& c) {
  return Fields{}
      .merge(fields(c.posterior))
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .add("train_every", c.train_every, "rounds between trainings", at_least(1))
      .add("train_steps", c.train_steps, "steps of the flow in a training", at_least(1))
      .add("floor", c.floor, "share of decisions made uniformly, so that no action's probability is 0", between(0, 1))
      .add("floor_decay", c.floor_decay, "the share falls with the rounds: floor/(1 + floor_decay·t)", at_least(0));
}

PiTsConfig pi_ts_preset(std::string_view name) {
  PiTsConfig c;
  if (name == "released") {  // docs/method.md, section 3: what the paper's table was made with
    c.posterior.flow.kind = FlowKind::dgf_released;
    c.posterior.model.noise_sd = std::sqrt(0.5);  // log p = −(r − m)²
    c.posterior.model.prior = PriorScale::same;
    c.posterior.model.prior_precision = 0.1;
    c.posterior.model.init = Init::fan_in;
    c.posterior.scale = LikelihoodScale::minibatch;
    c.posterior.optimizer = {.rule = Rule::sign, .step = 1e-3, .epsilon = 1e-6};
    c.train_every = 50;
    c.train_steps = 100;
  } else {  // the step falls to a tenth over the 2000 training steps of T = 2000
    c.posterior.optimizer = {.rule = Rule::adam, .step = 3e-3, .schedule = Schedule::exponential, .decay = 0.00115};
  }
  return c;
}

Action ParticleVote::preferred(std::size_t particle, const Query& query) const {
  thread_local Network::Workspace workspace;
  thread_local std::vector<float> values;
  values.resize(setup.actions);
  model.predict(theta.row(particle), query.x, workspace, values);
  return best_action(values, query.actions);
}

float ParticleVote::probability(std::size_t votes, const Query& query) const {
  const double even = 1.0 / static_cast<double>(query.actions.count(setup.actions));
  return static_cast<float>((1.0 - floor) * static_cast<double>(votes) / static_cast<double>(theta.rows()) +
                            floor * even);
}

Decision ParticleVote::choose(const Query& query) const {
  check_query(query, setup);
  if (const auto forced = forced_pull(events, initial_pulls, query, setup.first_actions())) return *forced;
  Stream stream = decision_stream(setup, query);
  Decision decision{};
  std::optional<std::size_t> drawn;
  if (floor > 0.0 && stream.uniform() < floor) {
    skip_to_place(stream, query, 1);
    decision.action = random_action(stream, query.actions, setup.actions);
  } else {
    drawn = stream.index(static_cast<std::uint32_t>(theta.rows()));
    decision.action = preferred(*drawn, query);
  }
  if (!query.want_propensity) return decision;
  std::size_t votes = 0;
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    if (i == drawn || preferred(i, query) == decision.action) ++votes;
  }
  decision.propensity = probability(votes, query);
  return decision;
}

std::vector<float> ParticleVote::probabilities(const Query& query) const {
  const std::size_t K = setup.actions;
  std::vector<float> p(K, 0.0F);
  if (const auto forced = forced_pull(events, initial_pulls, query, setup.first_actions())) {
    p[forced->action] = 1.0F;
    return p;
  }
  std::vector<std::size_t> votes(K, 0);
  for (std::size_t i = 0; i < theta.rows(); ++i) ++votes[preferred(i, query)];
  for (Action a = 0; a < K; ++a) {
    if (query.actions.admits(a)) p[a] = probability(votes[a], query);
  }
  return p;
}

double ParticleVote::propensities(const Query& query, std::span<float> p) const {
  check_query(query, setup);
  check_places(p, setup.actions);
  std::ranges::copy(probabilities(query), p.begin());
  return 0.0;
}

PiTs::PiTs(const PiTsConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      posterior_(config.posterior, setup.context_size, setup.actions, setup.seed, setup.realization) {}

ParticleVote PiTs::vote() const {
  const std::uint64_t t = posterior_.history().seen();
  const double floor = config_.floor / (1.0 + config_.floor_decay * static_cast<double>(t));
  return {posterior_.model(), posterior_.particles(), floor, config_.initial_pulls, t, setup_};
}

Decision PiTs::choose(const Query& query) const { return vote().choose(query); }

std::vector<float> PiTs::probabilities(const Query& query) const { return vote().probabilities(query); }

double PiTs::propensities(const Query& query, std::uint32_t, std::span<float> p) const {
  return vote().propensities(query, p);
}

void PiTs::add_actions(std::size_t n) {
  posterior_.add_actions(n);
  setup_.add_actions(n);
}

void PiTs::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    posterior_.observe({.context = event.x, .action = event.action, .reward = event.reward});
    const auto every = static_cast<std::uint64_t>(config_.train_every);
    if (posterior_.history().seen() % every == 0) posterior_.train(config_.train_steps);
  }
}

bool PiTs::draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const {
  const ParticlesView theta = posterior_.particles();
  if (theta.rows() == 1) return false;  // a point is no distribution
  Network::Workspace workspace;
  std::vector<float> values(setup_.actions);
  posterior_.model().predict(theta.row(draw % theta.rows()), x, workspace, values);
  std::ranges::copy(values, out.begin());
  return true;
}

std::unique_ptr<const Policy> frozen(const ParticleVote& vote) { return std::make_unique<FrozenParticles>(vote); }

}  // namespace pits
