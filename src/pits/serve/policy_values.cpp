#include "pits/serve/policy_values.h"

#include <algorithm>
#include <cmath>

#include "pits/serve/timeline.h"

namespace pits {

void PolicySums::add(double weight, double reward) {
  const double term = weight * reward;
  weights += weight, weights_squared += weight * weight;
  rewards += term, rewards_squared += term * term;
  if (sequence) sequence->add(weight, reward);
}

nlohmann::json PolicySums::json(double rounds) const {
  const double mean = rewards / rounds;
  const double variance = std::max(0.0, rewards_squared - rounds * mean * mean) / (rounds - 1.0);
  return {{"ips", mean},
          {"error", std::sqrt(variance / rounds)},
          {"snips", rewards / weights},
          {"effective", weights * weights / weights_squared}};
}

void PolicyValues::set_range(RewardRange range) {
  if (!(range.low < range.high)) throw bad_input("a range of rewards is LOW,HIGH, LOW < HIGH");
  if (rounds_ > 0) throw bad_input("the range of rewards must be known before the first round is judged");
  range_ = range;
  for (PolicySums* sums : {&logged_, &uniform_}) sums->sequence.emplace(range);
}

void PolicyValues::add(const JudgedRound& round, std::size_t actions, double reward) {
  // No earlier round could take a new action, so that it has been judged as uniform until now.
  fixed_.resize(std::max(fixed_.size(), std::min(actions, shown_actions)), uniform_);
  ++rounds_;
  if (range_ && (reward < range_->low || reward > range_->high)) ++outside_;
  const double uniform = 1.0 / (static_cast<double>(round.propensity) * round.allowed);
  logged_.add(1.0, reward);
  uniform_.add(uniform, reward);
  for (std::size_t a = 0; a < fixed_.size(); ++a) {
    const bool possible = (round.mask >> a & 1U) != 0;
    const double fixed = a == round.action ? 1.0 / static_cast<double>(round.propensity) : 0.0;
    fixed_[a].add(possible ? fixed : uniform, reward);
  }
}

std::vector<Interval> PolicyValues::intervals() const {
  std::vector<Interval> all;
  if (!range_ || outside_ > 0) return all;
  all.push_back(logged_.sequence->interval(level));
  all.push_back(uniform_.sequence->interval(level));
  for (const PolicySums& sums : fixed_) all.push_back(sums.sequence->interval(level));
  return all;
}

nlohmann::json PolicyValues::json(const std::vector<Interval>& intervals) const {
  const auto one = [&](const PolicySums& sums, std::size_t place) {
    nlohmann::json out = sums.json(static_cast<double>(rounds_));
    const bool known = outside_ == 0 && place < intervals.size();
    out["interval"] = known ? nlohmann::json{intervals[place].low, intervals[place].high} : nlohmann::json();
    return out;
  };
  nlohmann::json out = {
      {"level", level}, {"rounds", rounds_}, {"outside", outside_}, {"actions", nlohmann::json::array()}};
  out["range"] = range_ ? nlohmann::json{range_->low, range_->high} : nlohmann::json();
  out["logged"] = one(logged_, 0);
  out["uniform"] = one(uniform_, 1);
  for (std::size_t a = 0; a < fixed_.size(); ++a) out["actions"].push_back(one(fixed_[a], a + 2));
  return out;
}

}  // namespace pits
