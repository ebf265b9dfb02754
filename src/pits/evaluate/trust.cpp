#include "pits/evaluate/trust.h"

#include <fmt/format.h>

#include <cmath>

namespace pits {

std::vector<std::string> reasons_for_doubt(const LoggedData& data, const JudgedResult& result) {
  std::vector<std::string> reasons;
  const WeightDiagnostics& w = result.weights;
  const double n = static_cast<double>(data.rounds());
  if (w.mean == 0.0) {
    reasons.push_back("The policy never takes a logged action: the log says nothing about it.");
    return reasons;
  }
  if (w.unsupported && *w.unsupported > 0.001) {
    reasons.push_back(fmt::format(
        "{:.1f} % of the policy's decisions are actions that the logger could not take: nothing is known of "
        "them, and only the model fills the gap.",
        100.0 * *w.unsupported));
  }
  if (!w.unsupported && std::abs(w.mean - 1.0) > 0.05) {
    reasons.push_back(
        "Support is unknown: the log has the propensities of the logged actions only, so actions that were never "
        "possible cannot be seen.");
  }
  if (std::abs(w.mean - 1.0) > 4.0 * w.mean_error + 1e-9) {
    reasons.push_back(
        fmt::format("The mean weight is {:.3g} and should be 1 (± {:.2g}): the propensities are not those of the "
                    "decisions, or the policy takes actions without support.",
                    w.mean, w.mean_error));
  }
  if (w.effective_rounds < 100.0 || w.effective_rounds < 0.01 * n) {
    reasons.push_back(fmt::format("The weights leave {:.0f} effective rounds of {}: too few for a normal interval.",
                                  w.effective_rounds, data.rounds()));
  }
  if (w.largest > 0.1 * w.mean * n) {
    reasons.push_back(fmt::format("One round has {:.0f} % of all weight.", 100.0 * w.largest / (w.mean * n)));
  }
  if (data.counts.estimated > 0) {
    reasons.push_back(
        fmt::format("{} propensities were estimated by simulated decisions: their noise biases 1/p upwards.",
                    data.counts.estimated));
  }
  if (result.sequence) {
    for (const Estimate& e : result.estimates) {
      if (!needs_model(e.kind) || (e.value >= result.sequence->low && e.value <= result.sequence->high)) continue;
      reasons.push_back(
          fmt::format("The estimate {} = {:.4g} lies outside of the confidence sequence: its model is wrong.",
                      enum_names<EstimatorKind>[static_cast<std::size_t>(e.kind)], e.value));
    }
  }
  return reasons;
}

}  // namespace pits
