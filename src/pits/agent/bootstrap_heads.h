// One network with several heads on a shared body (Osband et al. 2016): each head keeps each observation with
// probability `keep`, the body's gradient is divided by the number of heads, and one head is drawn a round.
#pragma once

#include "pits/agent/network_agent.h"

namespace pits {

struct BootstrapHeadsConfig {
  NetworkConfig network{};  // its minibatch is for each head
  int heads = 10;
  double keep = 0.95;
};
Fields fields(BootstrapHeadsConfig& config);
BootstrapHeadsConfig bootstrap_heads_preset(std::string_view name);

class BootstrapHeads : public Agent {
 public:
  BootstrapHeads(const BootstrapHeadsConfig& config, const AgentSetup& setup);

  Decision choose(const Query& query) const override { return vote().choose(query); }
  void learn(std::span<const Feedback> events) override;
  std::unique_ptr<const Policy> snapshot() const override { return frozen(vote()); }
  void state(Archive& archive) override;
  void add_actions(std::size_t n) override;
  double propensities(const Query& query, std::uint32_t, std::span<float> p) const override {
    return vote().propensities(query, p);
  }

  // Head h's output for action a is output h·K + a.
  const ParticlePosterior& network() const { return network_; }
  ParticlesView members() const { return members_; }

 private:
  ParticleVote vote() const;
  void observe(const Feedback& event);  // once for each head that keeps it
  void split();

  BootstrapHeadsConfig config_;
  AgentSetup setup_;
  ParticlePosterior network_;
  RewardModel member_;  // body and one head
  Particles members_;   // (heads, P of member_), as of the last training
  std::uint64_t events_ = 0;
};

}  // namespace pits
