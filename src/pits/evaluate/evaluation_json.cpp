#include "pits/evaluate/evaluation_json.h"

#include <cmath>

#include "pits/core/fields.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

Json number(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }
Json pair(const Interval& interval) { return {number(interval.low), number(interval.high)}; }
void add(Json& out, const char* name, const std::optional<Interval>& interval) {
  if (interval) out[name] = pair(*interval);
}

Json estimate_json(const Estimate& e) {
  Json out = {{"value", number(e.value)}, {"error", number(e.error)}, {"asymptotic", pair(e.asymptotic)}};
  if (e.kind == EstimatorKind::dros && e.shrinkage > 0.0) out["shrinkage"] = number(e.shrinkage);
  add(out, "bootstrap", e.bootstrap);
  add(out, "bernstein", e.bernstein);
  return out;
}

Json estimates_json(const std::vector<Estimate>& estimates) {
  Json out = Json::object();
  for (const Estimate& e : estimates) out[format_value(e.kind)] = estimate_json(e);
  return out;
}

}  // namespace

Json log_json(const LoggedData& data, const Evaluation& evaluation) {
  const LogCounts& c = data.counts;
  Json out = {{"rounds", evaluation.rounds},
              {"actions", data.action_names},
              {"context_size", data.context_size},
              {"counts",
               {{"cold_start", c.cold_start},
                {"certain", c.certain},
                {"expired", c.expired},
                {"estimated", c.estimated},
                {"cancelled", c.cancelled},
                {"waiting", c.waiting},
                {"erased", c.erased},
                {"dangling", c.dangling},
                {"restored", c.restored},
                {"unlogged", c.unlogged}}}};
  out.update(estimate_json(evaluation.logged));
  add(out, "sequence", evaluation.logged_sequence);
  if (evaluation.logged_truth) out["truth"] = number(*evaluation.logged_truth);
  return out;
}

Json policy_json(const JudgedResult& result) {
  const WeightDiagnostics& w = result.weights;
  Json out = {{"policy", result.policy},
              {"estimates", estimates_json(result.estimates)},
              {"differences", estimates_json(result.differences)}};
  add(out, "sequence", result.sequence);
  add(out, "sequence_difference", result.sequence_difference);
  if (result.truth) out["truth"] = number(*result.truth);
  out["weights"] = {{"effective_rounds", w.effective_rounds},
                    {"largest", w.largest},
                    {"mean", w.mean},
                    {"mean_error", w.mean_error},
                    {"largest_possible", w.largest_possible},
                    {"unsupported", w.unsupported ? Json(*w.unsupported) : Json(nullptr)}};
  out["action_shares"] = result.action_shares;
  if (!result.remark.empty()) out["remark"] = result.remark;
  out["warnings"] = result.warnings;
  Json& curve = out["curve"] = Json::array();
  for (const CurvePoint& p : result.curve) {
    Json point = {{"rounds", p.rounds}, {"ips", number(p.ips)}, {"snips", number(p.snips)}};
    if (p.dr) point["dr"] = number(*p.dr);
    add(point, "sequence", p.sequence);
    curve.push_back(std::move(point));
  }
  return out;
}

}  // namespace pits
