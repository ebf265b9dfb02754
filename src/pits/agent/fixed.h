// Actions with fixed probabilities, whatever the context.
#pragma once

#include "pits/agent/agent.h"
#include "pits/core/fields.h"

namespace pits {

struct FixedConfig {
  // Of each action; they are divided by their sum. None: ¾ for the first action and ¼ shared by the others, as in the
  // showdown's example for two actions.
  std::vector<double> probabilities{};
};
Fields fields(FixedConfig& config);

class Fixed : public Agent {
 public:
  Fixed(const FixedConfig& config, const AgentSetup& setup);

  // A mask leaves the allowed actions' probabilities in proportion; where they are all 0 the allowed are equally
  // likely.
  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;  // nothing to learn, but what does not fit is refused
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<Fixed>(*this); }
  void state(Archive&) override {}
  void add_actions(std::size_t n) override;  // where the config does not say the probabilities
  double propensities(const Query& query, std::uint32_t draws, std::span<float> p) const override;

 private:
  std::vector<double> weights(const Query& query) const;  // (K): probabilities of the allowed actions times a constant

  FixedConfig config_;
  AgentSetup setup_;
  std::vector<double> probabilities_;  // (K)
};

}  // namespace pits
