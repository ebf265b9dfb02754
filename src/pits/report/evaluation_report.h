// What `pits evaluate` shows: a table, and a page.
#pragma once

#include <string>

#include "pits/evaluate/evaluation.h"

namespace pits {

struct TableChoice {
  EstimatorKind estimator = EstimatorKind::dr;
  IntervalKind interval = IntervalKind::asymptotic;
};

// A row per policy (value, interval, difference, weights), what was left out of the log, and reasons for doubt.
std::string evaluation_text(const LoggedData& data, const EvaluationConfig& config, const Evaluation& result,
                            const TableChoice& choice);

struct EvaluationPage {
  TableChoice table{};
  std::string title{};
  std::string feature{};  // of the context, by name or number; empty: the first
  std::string command{};
};
std::string evaluation_page(const LoggedData& data, const EvaluationConfig& config, const Evaluation& result,
                            const EvaluationPage& page);

}  // namespace pits
