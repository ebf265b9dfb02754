// The paper's benchmark with our numbers: its tables in every format, and one page with all figures.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "pits/core/io/text_table.h"
#include "pits/experiment/paper/reproduction.h"
#include "pits/experiment/summary.h"
#include "pits/report/run_report.h"

namespace pits {

struct SectionResult {
  Section section;
  std::shared_ptr<const Plan> plan;
  std::vector<SummaryRow> rows;
};

struct Reproduction {
  std::vector<SectionResult> sections;
  std::vector<MissingData> missing;
  Origin origin;
};

// The paper's Table 1, its figures beside ours; only the problems that were run.
TextTable problems_table(const Reproduction& r);
// The paper's Table 2: mean ± std (se) of ours, mean ± its figure of the paper's, difference in our standard errors.
TextTable regret_comparison(const Reproduction& r);
// Mean and standard error of one section: normalised regret, or regret itself.
TextTable section_table(const SectionResult& result, bool normalized);
// W2 to the exact posterior over rounds.
TextTable posterior_table(const SectionResult& result);

// Table 2 as numbers, as the page and table-2.json have it.
nlohmann::ordered_json comparison_json(const Reproduction& r);
// Follows web/README.md, kind "reproduce".
nlohmann::ordered_json reproduction_data(const Reproduction& r);

// DIR/report.html and DIR/tables/*.{txt,md,tex,csv,json}. Only the page has anything that differs from run to run.
void write_reproduction(const std::filesystem::path& directory, const Reproduction& r);

// All that DIR holds, from its run directories; a section that lacks cells is an Error.
Reproduction load_reproduction(const std::filesystem::path& directory);

}  // namespace pits
