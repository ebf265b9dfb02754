// An evaluation as JSON: for --json, Python and the page.
#pragma once

#include <nlohmann/json.hpp>

#include "pits/evaluate/evaluation.h"

namespace pits {

// {"rounds", "actions", "counts", "value", "error", "asymptotic", "sequence", ...} of what was logged.
nlohmann::ordered_json log_json(const LoggedData& data, const Evaluation& evaluation);
// {"policy", "estimates": {NAME: {...}}, "differences", "weights", "warnings", ...}; NaN and infinity become null.
nlohmann::ordered_json policy_json(const JudgedResult& result);

}  // namespace pits
