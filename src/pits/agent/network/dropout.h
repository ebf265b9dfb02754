// Dropout as a posterior (Gal and Ghahramani 2016): a network trained with dropout, and a decision by the network that
// one draw of dropout leaves.
#pragma once

#include "pits/agent/network/one_network.h"
#include "pits/model/dropout.h"

namespace pits {

struct DropoutConfig {
  NetworkConfig network{};
  double keep = 0.8;  // probability that a hidden unit stays
};
inline Fields fields(DropoutConfig& c) {
  return Fields{}
      .merge(fields(c.network))
      .add("keep", c.keep, "probability that a hidden unit stays, in training and acting",
           {.low = 0.0, .high = 1.0, .low_open = true});
}

class Dropout : public Cloned<Dropout, OneNetwork> {
 public:
  Dropout(const DropoutConfig& config, const AgentSetup& setup)
      : Cloned(with_dropout(config), setup), keep_(config.keep) {}

 private:
  static NetworkConfig with_dropout(const DropoutConfig& config) {
    NetworkConfig c = checked(config).network;
    c.posterior.keep_units = config.keep;
    return c;
  }

  void values(ContextView x, Stream& stream, std::span<double> out) const override {
    thread_local Network::Workspace workspace;
    thread_local std::vector<float> rewards;
    rewards.resize(out.size());
    evaluate_with_dropout(model().network(), theta(), keep_, x, stream, workspace, rewards);
    std::ranges::copy(rewards, out.begin());
  }

  double keep_;
};

}  // namespace pits
