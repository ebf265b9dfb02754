#include "pits/agent/neural_linear.h"

#include <algorithm>

#include "pits/agent/network_agent.h"
#include "pits/model/layer_views.h"

namespace pits {
namespace {

// Features of one context, in the precision of the regressions; valid until this thread asks again.
const Eigen::VectorXd& features(const RewardModel& model, std::span<const float> theta, ContextView x) {
  thread_local Network::Workspace workspace;
  thread_local Eigen::VectorXd row;
  const std::span<const float> units = model.network().hidden(theta, x, workspace);
  row.resize(static_cast<Eigen::Index>(units.size()));
  std::ranges::copy(units, row.begin());
  return row;
}

// The numbers of a group of a batch, in the precision of the regressions.
struct GroupNumbers {
  std::vector<double> x, y;  // (count, features), (count)
};

// Adds a batch to the sums of its actions, (K); weights (B), or none where all are 1.
void add_batch(ConstMatrixView<float> units, const Minibatch& batch, std::span<const double> weights,
               GroupNumbers& numbers, std::vector<RegressionSums>& sums) {
  const std::size_t h = units.rows();
  numbers.x.resize(std::max(numbers.x.size(), h * batch.size()));
  numbers.y.resize(std::max(numbers.y.size(), batch.size()));
  for_each_group(batch, [&](const Group& g) {
    for (std::size_t i = 0; i < h; ++i) {
      for (std::size_t b = 0; b < g.count; ++b) numbers.x[b * h + i] = units(i, g.first + b);
    }
    std::ranges::copy_n(batch.rewards.begin() + static_cast<std::ptrdiff_t>(g.first),
                        static_cast<std::ptrdiff_t>(g.count), numbers.y.begin());
    const auto count = static_cast<Eigen::Index>(g.count);
    const Eigen::Map<const Eigen::MatrixXd> x(numbers.x.data(), static_cast<Eigen::Index>(h), count);
    const Eigen::Map<const Eigen::VectorXd> y(numbers.y.data(), count);
    if (weights.empty()) {
      sums[g.action].add(x, y);
    } else {
      sums[g.action].add(x, y, Eigen::Map<const Eigen::VectorXd>(weights.data() + g.first, count));
    }
  });
}

// A copy that no longer learns.
class FrozenLastLayer final : public Policy {
 public:
  explicit FrozenLastLayer(const LastLayerDraw& draw)
      : model_(draw.model),
        theta_(copy_of(draw.theta)),
        units_(draw.units),
        regressions_(draw.regressions),
        draw_{model_, theta_, units_, regressions_, draw.initial_pulls, draw.events, draw.setup} {}

  Decision choose(const Query& query) const override { return draw_.choose(query); }

 private:
  RewardModel model_;
  Particles theta_;
  Units units_;
  std::vector<BayesLinear> regressions_;
  LastLayerDraw draw_;  // by the copies above
};

}  // namespace

Fields fields(NeuralLinearConfig& c) {
  return Fields{}
      .merge(fields(c.networks))
      .merge(units_field(c.networks))
      .add("regression_lambda", c.prior.lambda, "prior precision of the regressions, in units of the noise", above(0))
      .add("a0", c.prior.a0, "shape of the inverse-gamma prior of their noise variance", above(0))
      .add("b0", c.prior.b0, "its scale", above(0))
      .add("initial_pulls", c.initial_pulls, "forced round-robin pulls of each action", at_least(0))
      .add("train_every", c.train_every, "rounds between trainings of the networks", at_least(1))
      .add("train_share", c.train_share,
           "trainings are at least this share of the rounds that are remembered apart, so that the cost of a round "
           "does not grow",
           between(0, 1))
      .add("train_steps", c.train_steps, "steps in a training", at_least(1));
}

NeuralLinearConfig neural_linear_preset(std::string_view name) {
  NeuralLinearConfig c;
  if (name == "auto") {
    const PiTsConfig particles = independent_particles(1, name);
    c.networks = particles.posterior;
    c.networks.model.noise_sd = 0.5;
    c.prior = {.lambda = 1.0, .a0 = 2.0, .b0 = 0.3};
    c.train_every = particles.train_every;
    c.train_share = particles.train_share;
    c.train_steps = 40;  // of 20 and 40 the better
    return c;
  }
  c.networks.optimizer.restart = name == "showdown-reset";
  return c;
}

Decision LastLayerDraw::choose(const Query& query) const {
  check_query(query, setup);
  const std::size_t K = setup.actions;
  if (const auto forced = forced_pull(events, initial_pulls, query, setup.first_actions())) return *forced;
  Stream stream = decision_stream(setup, query);
  const std::size_t drawn = stream.index(static_cast<std::uint32_t>(theta.rows()));
  thread_local std::vector<double> values;
  values.resize(K);
  draw(drawn, query.x, stream, values);
  return {.action = best_action(values, query.actions), .propensity = std::nullopt};
}

void LastLayerDraw::draw(std::size_t particle, ContextView x, Stream& stream, std::span<double> out) const {
  const Eigen::VectorXd& z = features(model, theta.row(particle), units.context(x));
  thread_local Eigen::VectorXd beta;
  for (std::size_t a = 0; a < out.size(); ++a) {
    regressions[particle * out.size() + a].sample(stream, beta);
    out[a] = beta.dot(z);
  }
}

NeuralLinear::NeuralLinear(const NeuralLinearConfig& config, const AgentSetup& setup)
    : config_(checked(config)),
      setup_(setup),
      networks_(config.networks, setup.context_size, setup.actions, setup.seed, setup.realization),
      regressions_(networks_.particles().rows() * setup.actions,
                   BayesLinear(config.prior, static_cast<Eigen::Index>(networks_.model().network().features()))),
      sums_(setup.actions, RegressionSums(static_cast<Eigen::Index>(networks_.model().network().features()))) {}

LastLayerDraw NeuralLinear::draw() const {
  return {networks_.model(),
          networks_.particles(),
          networks_.units(),
          regressions_,
          config_.initial_pulls,
          networks_.history().seen(),
          setup_};
}

// A refit walks the whole history: t observations every `share`·t rounds are as many a round early and late.
bool NeuralLinear::training_is_due() const {
  const auto gap = static_cast<double>(networks_.history().seen() - trained_at_);
  return gap >= std::max<double>(config_.train_every, config_.train_share * networks_.history().weight());
}

void NeuralLinear::learn(std::span<const Feedback> events) {
  for (const Feedback& event : events) {
    check_feedback(event, setup_);
    networks_.observe({.context = event.x, .action = event.action, .reward = event.reward});
    if (training_is_due()) {
      networks_.train(config_.train_steps);
      trained_at_ = networks_.history().seen();
      refit();
    } else {
      observe(event);
    }
  }
}

void NeuralLinear::observe(const Feedback& event) {
  if (config_.networks.discount < 1.0) {
    for (BayesLinear& regression : regressions_) regression.discount(config_.networks.discount);
  }
  const ParticlesView theta = networks_.particles();
  const ContextView x = networks_.units().context(event.x);
  const double reward = networks_.units().reward(event.reward);
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    regressions_[i * setup_.actions + event.action].observe(features(networks_.model(), theta.row(i), x), reward);
  }
}

void NeuralLinear::refit() {
  constexpr std::size_t piece = 1024;  // observations at a time, so that memory does not grow with the history
  const ParticlesView theta = networks_.particles();
  const Network& network = networks_.model().network();
  const History& history = networks_.history();
  thread_local Network::Workspace workspace;
  thread_local Minibatch batch;
  thread_local GroupNumbers numbers;
  std::vector<double> weights;  // empty: all are 1
  for (std::size_t i = 0; i < theta.rows(); ++i) {
    for (RegressionSums& s : sums_) s.clear();
    for (std::size_t first = 0; first < history.size(); first += piece) {
      history.slice(first, std::min(piece, history.size() - first), batch);
      networks_.units().apply(batch);
      if (config_.networks.discount < 1.0) weights = history.weights(first, batch);
      add_batch(network.hidden(theta.row(i), batch.contexts, workspace), batch, weights, numbers, sums_);
    }
    for (Action a = 0; a < setup_.actions; ++a) regressions_[i * setup_.actions + a].fit(config_.prior, sums_[a]);
  }
}

bool NeuralLinear::draw_rewards(ContextView x, std::uint32_t draw, std::span<double> out) const {
  Stream stream = posterior_stream(setup_, draw);
  this->draw().draw(draw % networks_.particles().rows(), x, stream, out);
  std::ranges::transform(out, out.begin(), [&](double r) { return networks_.units().raw_reward(r); });
  return true;
}

std::unique_ptr<const Policy> NeuralLinear::snapshot() const { return std::make_unique<FrozenLastLayer>(draw()); }

void NeuralLinear::add_actions(std::size_t n) {
  const BayesLinear prior(config_.prior, static_cast<Eigen::Index>(networks_.model().network().features()));
  for (std::size_t i = networks_.particles().rows(); i > 0; --i) {  // from the last particle: places before it stay
    regressions_.insert(regressions_.begin() + static_cast<std::ptrdiff_t>(i * setup_.actions), n, prior);
  }
  networks_.add_actions(n);
  setup_.add_actions(n);
  sums_.resize(setup_.actions, sums_.front());
}

}  // namespace pits
