// One network with several heads on a shared body (Osband et al. 2016): each head keeps each observation with
// probability `keep`, the body's gradient is divided by the number of heads, and one head is drawn per round.
#pragma once

#include "pits/agent/network/one_network.h"

namespace pits {

struct BootstrapHeadsConfig {
  NetworkConfig network{};  // its minibatch is for each head
  int heads = 10;
  double keep = 0.95;
};
Fields fields(BootstrapHeadsConfig& config);

class BootstrapHeads : public Cloned<BootstrapHeads> {
 public:
  BootstrapHeads(const BootstrapHeadsConfig& config, const AgentSetup& setup);

  bool training_due() const override { return due(events()); }
  void train() override { train(events()); }
  // Head h's output for action a is output h·K + a.
  const Posterior& network() const { return network_; }

 private:
  Action decide(const Query& query, Stream& stream, ActionProbabilities* exact) const override;
  void observe(const Feedback& event) override;
  bool due(std::uint64_t t) const { return network_.config().training.due(t, trained_at_, memory_); }
  void train(std::uint64_t t);  // after t events
  void state(Archive& archive) override { archive.version("BootstrapHeads", 1)(network_, trained_at_); }
  void grow(std::size_t n) override { network_.add_actions(n); }

  int heads_;
  double keep_;
  Memory memory_;  // in rounds; the network's counts the observations of all heads
  Posterior network_;
  std::uint64_t trained_at_ = 0;
};

}  // namespace pits
