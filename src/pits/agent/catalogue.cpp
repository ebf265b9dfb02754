#include "pits/agent/catalogue.h"

#include "pits/agent/context_free/context_free_ts.h"
#include "pits/agent/context_free/fixed.h"
#include "pits/agent/context_free/ucb1.h"
#include "pits/agent/context_free/uniform.h"
#include "pits/agent/linear/lin_ts.h"
#include "pits/agent/linear/lin_ucb.h"
#include "pits/agent/linear/logistic_ts.h"
#include "pits/agent/network/boltzmann.h"
#include "pits/agent/network/dropout.h"
#include "pits/agent/network/gradient_agents.h"
#include "pits/agent/network/neural_logistic.h"
#include "pits/agent/network/parameter_noise.h"
#include "pits/agent/network/vi_ts.h"
#include "pits/agent/particle/bootstrap_heads.h"
#include "pits/agent/particle/feature_ts.h"
#include "pits/agent/presets.h"

namespace pits {
namespace {

template <class Made, class Config>
AgentEntry agent(std::string name, std::string summary, std::vector<Preset> presets = {},
                 Config (*preset)(std::string_view) = default_config<Config>) {
  return make_entry<Agent, AgentSetup, Made, Config>(std::move(name), std::move(summary), std::move(presets), preset);
}

// An agent that is rows of the table of presets.
AgentEntry particles(std::string name, std::string summary) {
  AgentEntry entry = agent<PiTs, PiTsConfig>(name, std::move(summary));
  for (const PiTsPreset& row : pi_ts_presets()) {
    if (row.agent == name) entry.presets.push_back({std::string(row.name), std::string(row.summary)});
  }
  entry.recipe = [name](std::string_view preset) {
    return make_recipe<Agent, AgentSetup, PiTs>(pi_ts_preset(name, preset));
  };
  return entry;
}

// An agent on one network of the showdown, which its config calls `network`.
template <class Made, class Config>
AgentEntry on_network(std::string name, std::string summary) {
  std::vector<Preset> presets;
  for (const Preset& p : particles("neural-greedy", "").presets) presets.push_back(p);
  return agent<Made, Config>(std::move(name), std::move(summary), std::move(presets), [](std::string_view preset) {
    Config c;
    c.network.posterior = pi_ts_preset("neural-greedy", preset).posterior;
    if constexpr (std::is_same_v<Config, NeuralLogisticConfig>) {
      c.network.posterior.model.kind = ModelKind::mlp_logistic;
    }
    return c;
  });
}

// As published, or with what pi-ts:exact does for networks, on the contexts themselves.
AgentEntry linear_ts() {
  AgentEntry entry = agent<LinTs, LinTsConfig>("lin-ts", "linear Thompson sampling with exact posteriors",
                                               {{"showdown", "as Riquelme et al. (2018) set it"}});
  const AgentEntry others = particles("lin-ts", "");
  entry.presets.insert(entry.presets.end(), others.presets.begin(), others.presets.end());
  entry.recipe = [published = entry.recipe, others = others.recipe](std::string_view preset) {
    return preset == "showdown" ? published(preset) : others(preset);
  };
  return entry;
}

FeatureTsConfig feature_ts(std::string_view) {
  FeatureTsConfig c{.posterior = pi_ts_preset("pi-ts", "paper").posterior};
  c.exploration.initial_pulls = 0;  // there may be thousands of actions
  return c;
}

}  // namespace

// To add an agent: one file, one line here, one test. One that is settings of pi-ts is rows of presets.cpp.
const std::vector<AgentEntry>& agent_catalogue() {
  static const std::vector<AgentEntry> catalogue = {
      particles("pi-ts", "particle-interactive Thompson sampling: networks moved by a gradient flow"),
      agent<FeatureTs, FeatureTsConfig>("feature-ts", "pi-ts over the features of contexts and actions together",
                                        {{"paper", "particles as pi-ts:paper moves them, no forced pulls"}},
                                        feature_ts),
      linear_ts(),
      agent<BernoulliTs, BernoulliTsConfig>("bernoulli-ts", "context-free Thompson sampling, Beta posteriors"),
      agent<GaussianTs, GaussianTsConfig>("gaussian-ts",
                                          "context-free Thompson sampling, normal-inverse-gamma posteriors"),
      agent<ViTs, ViTsConfig>("vi-ts", "Thompson sampling by a mean-field posterior of a network (Bayes by backprop)",
                              {{"showdown", "as Riquelme et al. (2018) set it"}}),
      on_network<Dropout, DropoutConfig>("dropout", "Thompson sampling by dropout, in training and acting"),
      on_network<ParameterNoise, ParameterNoiseConfig>("parameter-noise",
                                                       "a network whose parameters get noise when it acts"),
      on_network<NeuralUcb, NeuralUcbConfig>("neural-ucb", "upper confidence bounds by the gradients of a network"),
      on_network<NeuralTs, NeuralTsConfig>("neural-ts", "Thompson sampling by the gradients of a network"),
      on_network<NeuralLogistic, NeuralLogisticConfig>("neural-logistic",
                                                       "Bayesian logistic regressions on a network's last layer"),
      particles("langevin", "Thompson sampling by a network that takes noisy gradient steps"),
      agent<Uniform, UniformConfig>("uniform", "every action with the same probability"),
      particles("neural-linear", "exact Bayesian regressions on a network's last layer"),
      particles("neural-greedy", "one network's best action"),
      particles("ensemble", "independent networks, one drawn per round"),
      particles("ensemble-sampling", "networks with their own perturbed rewards and priors"),
      particles("bootstrap", "networks that each keep a random part of the data"),
      on_network<BootstrapHeads, BootstrapHeadsConfig>("bootstrap-heads",
                                                       "bootstrapped heads on the body of one network"),
      particles("weighted-bootstrap", "networks with their own random weights of the data"),
      particles("epsilon-greedy", "one network's best action, or a random one"),
      on_network<Boltzmann, BoltzmannConfig>("boltzmann",
                                             "softmax of one network's predicted rewards, or Gumbel noise"),
      agent<Fixed, FixedConfig>("fixed", "fixed probabilities of the actions"),
      agent<Ucb1, Ucb1Config>("ucb1", "context-free upper confidence bounds"),
      agent<LinUcb, LinUcbConfig>("lin-ucb", "upper confidence bounds of linear models"),
      agent<LogisticTs, LogisticTsConfig>("logistic-ts", "Thompson sampling with logistic regressions"),
  };
  return catalogue;
}

}  // namespace pits
