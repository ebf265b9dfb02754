// Every allowed action with the same probability: the yardstick of normalised regret.
#pragma once

#include "pits/agent/agent.h"
#include "pits/core/fields.h"

namespace pits {

struct UniformConfig {};
Fields fields(UniformConfig& config);

class Uniform : public Agent {
 public:
  Uniform(const UniformConfig&, const AgentSetup& setup) : setup_(setup) {}

  Decision choose(const Query& query) const override;
  void learn(std::span<const Feedback> events) override;  // nothing to learn, but what does not fit is refused
  std::unique_ptr<const Policy> snapshot() const override { return std::make_unique<Uniform>(*this); }
  void state(Archive&) override {}
  void add_actions(std::size_t n) override { setup_.add_actions(n); }
  double propensities(const Query& query, std::uint32_t draws, std::span<float> p) const override;

 private:
  AgentSetup setup_;
};

}  // namespace pits
