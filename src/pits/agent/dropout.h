// Dropout as a posterior (Gal and Ghahramani 2016): a network trained with dropout, and a decision by the network that
// one draw of dropout leaves.
#pragma once

#include "pits/agent/one_network.h"

namespace pits {

struct DropoutConfig {
  NetworkConfig network{};
  double keep = 0.8;  // probability that a hidden unit stays
};
Fields fields(DropoutConfig& config);

class Dropout : public OneNetwork {
 public:
  Dropout(const DropoutConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override;
  std::unique_ptr<const Policy> snapshot() const override;

 private:
  double keep_;
};

}  // namespace pits
