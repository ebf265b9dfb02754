// The policies that a log can judge.
//
//   uniform        every allowed action alike
//   fixed:ACTION   always the same; where it is not allowed, the allowed ones alike
//   saved:FILE     a saved bandit, as it was saved: it learns nothing
//   agent:SPEC     an agent that learns the log as it walks through it, judged on a round before it learns it. It
//                  learns from the logger's choices, which is not what it would have learned and earned alone.
//   column:NAME    probabilities that stand in the log
#pragma once

#include <memory>
#include <string>

#include "pits/evaluate/logged_data.h"

namespace pits {

class JudgedPolicy {
 public:
  virtual ~JudgedPolicy() = default;
  // π(·|x_i), p (K): 0 where not allowed. For any thread where the policy does not learn.
  virtual void probabilities(const LoggedData& data, std::size_t i, std::span<double> p) const = 0;
  virtual bool learns() const { return false; }
  virtual void learn(const LoggedData&, std::size_t) {}
  // What a reader of its estimate must know; empty: nothing.
  virtual std::string remark() const { return {}; }
};

struct PolicySettings {
  int draws = 50;  // simulated decisions where probabilities have no closed form: IPS and DR stay unbiased
  std::uint64_t seed = 0;
};

// The policy of a spec; an Error where it does not fit the log.
std::unique_ptr<JudgedPolicy> make_policy(const std::string& spec, const LoggedData& data,
                                          const PolicySettings& settings = {});

}  // namespace pits
