#include <cmath>

#include "pits/serve/monitor.h"

namespace pits {

using nlohmann::json;

json Monitor::statistics() const {
  const std::scoped_lock lock(mutex_);
  const Microseconds offset = time_.utc - time_.elapsed;
  json out = {{"from", from_}, {"to", number_}, {"utc", seconds(now_ + offset)}};
  out["decisions"] = decisions_;
  out["rewards"] = rewards_;
  for (std::size_t reason = 0; reason < settled_.size(); ++reason) {
    out["settled"][enum_names<SettleReason>[reason]] = settled_[reason];
  }
  out["waiting"] = waiting_count_ << sample_bits_;
  out["one_in"] = std::uint64_t{1} << sample_bits_;
  out["window"] = window_;
  out["rates"] = rates();
  out["series"] = {{"all", all_.json(offset)}, {"recent", recent_.json(offset)}};
  out["propensities"] = propensities();
  out["calibration"] = calibration();
  out["models"] = models();
  out["values"] = values_.json(intervals_);
  out["values"]["left_out"] = left_out_;
  out["values"]["interval_rounds"] = interval_rounds_;
  return out;
}

// Events per second over the last whole seconds.
json Monitor::rates() const {
  json out;
  for (const std::size_t n : {std::size_t{10}, std::size_t{60}}) {
    const Bucket sums = seconds_.before(now_, n);
    const auto rate = [n](std::uint64_t count) { return static_cast<double>(count) / static_cast<double>(n); };
    out[fmt::format("last_{}_s", n)] = {
        {"decisions", rate(sums.decisions)}, {"rewards", rate(sums.rewards)}, {"settled", rate(sums.settled)}};
  }
  return out;
}

json Monitor::propensities() const {
  return {{"edges", propensity_edges},
          {"counts", histogram_},
          {"certain", certain_},
          {"estimated", estimated_},
          {"least", decisions_ > 0 ? json(least_) : json()}};
}

// For each tenth of the propensities: how often actions were taken, beside how often that should be.
json Monitor::calibration() const {
  json out = json::array();
  for (const Decile& decile : deciles_) {
    const auto pairs = static_cast<double>(decile.pairs);
    json one = {{"pairs", decile.pairs}};
    if (decile.pairs > 0) {
      one["expected"] = decile.expected / pairs;
      one["observed"] = static_cast<double>(decile.chosen) / pairs;
      one["error"] = std::sqrt(decile.variance) / pairs;
    }
    out.push_back(std::move(one));
  }
  return out;
}

json Monitor::models() const {
  const Microseconds offset = time_.utc - time_.elapsed;
  json versions = json::array(), trainings = json::array();
  for (const auto& [model, version] : versions_) {
    versions.push_back(
        {{"model", model}, {"decisions", version.decisions}, {"first_used", seconds(version.first + offset)}});
  }
  for (const Training& training : trainings_) {
    trainings.push_back({{"event", training.adopted},
                         {"began", training.began},
                         {"utc", seconds(training.elapsed + offset)},
                         {"problem", training.problem}});
  }
  return {{"versions", version_count_},
          {"last", std::move(versions)},
          {"adopted", adopted_},
          {"skipped", skipped_},
          {"trainings", std::move(trainings)}};
}

}  // namespace pits
