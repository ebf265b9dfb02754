#include "pits/agent/particle_vote.h"

#include <algorithm>

namespace pits {
namespace {

class FrozenParticles final : public Policy {
 public:
  explicit FrozenParticles(const ParticleVote& vote)
      : model_(vote.model),
        theta_(copy_of(vote.theta)),
        units_(vote.units),
        last_layers_(vote.last_layers == nullptr ? DrawnLayers{} : *vote.last_layers),
        vote_{model_,      theta_,
              units_,      vote.last_layers == nullptr ? nullptr : &last_layers_,
              vote.floor,  vote.initial_pulls,
              vote.events, vote.setup} {}

  Decision choose(const Query& query) const override { return vote_.choose(query); }
  double propensities(const Query& query, std::uint32_t, std::span<float> p) const override {
    return vote_.propensities(query, p);
  }

 private:
  RewardModel model_;
  Particles theta_;
  Units units_;
  DrawnLayers last_layers_;
  ParticleVote vote_;  // by the copies above
};

}  // namespace

const Matrix<float>* ParticleVote::together(ContextView x) const {
  if (last_layers == nullptr || last_layers->alone()) return nullptr;
  thread_local Network::Workspace workspace;
  thread_local Matrix<float> rewards;
  last_layers->values(model.network(), theta, x, workspace, rewards);
  return &rewards;
}

void ParticleVote::values(std::size_t particle, ContextView x, std::span<float> out) const {
  thread_local Network::Workspace workspace;
  if (const Matrix<float>* all = together(x)) {
    std::ranges::copy(all->row(particle), out.begin());
  } else if (last_layers != nullptr) {
    last_layers->values(model.network(), theta, particle, x, workspace, out);
  } else {
    model.predict(theta.row(particle), x, workspace, out);
  }
}

Action ParticleVote::preferred(std::size_t particle, ContextView x, const Matrix<float>* together,
                               const ActionSet& actions) const {
  if (together != nullptr) return best_action(together->row(particle), actions);
  thread_local std::vector<float> rewards;
  rewards.resize(setup.actions);
  values(particle, x, rewards);
  return best_action(rewards, actions);
}

float ParticleVote::probability(std::size_t votes, const Query& query) const {
  const double even = 1.0 / static_cast<double>(query.actions.count(setup.actions));
  return static_cast<float>((1.0 - floor) * static_cast<double>(votes) / static_cast<double>(theta.rows()) +
                            floor * even);
}

Decision ParticleVote::choose(const Query& query) const {
  check_query(query, setup);
  if (const auto forced = forced_pull(events, initial_pulls, query, setup.first_actions())) return *forced;
  const ContextView x = units.context(query.x);
  Stream stream = decision_stream(setup, query);
  const bool by_chance = floor > 0.0 && stream.uniform() < floor;
  const Matrix<float>* all = by_chance && !query.want_propensity ? nullptr : together(x);
  Decision decision{};
  std::optional<std::size_t> drawn;
  if (by_chance) {
    skip_to_place(stream, query, 1);
    decision.action = random_action(stream, query.actions, setup.actions);
  } else {
    drawn = stream.index(static_cast<std::uint32_t>(theta.rows()));
    decision.action = preferred(*drawn, x, all, query.actions);
  }
  if (!query.want_propensity) return decision;
  std::size_t votes = 0;
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    if (i == drawn || preferred(i, x, all, query.actions) == decision.action) ++votes;
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
  const ContextView x = units.context(query.x);
  const Matrix<float>* all = together(x);
  for (std::size_t i = 0; i < theta.rows(); ++i) ++votes[preferred(i, x, all, query.actions)];
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

std::unique_ptr<const Policy> frozen(const ParticleVote& vote) { return std::make_unique<FrozenParticles>(vote); }

}  // namespace pits
