// The first look at a CSV file: its delimiter, its header, and which columns hold numbers.
#pragma once

#include "pits/data/csv_table.h"

namespace pits {

bool is_missing(std::string_view field);  // empty, ? or NA

struct CsvSurvey {
  std::string file;
  char delimiter = ',';
  bool has_header = false;
  std::vector<std::string> names;  // of the header; "1", "2", ... without one
  std::vector<char> numeric;       // of each column: all that is not missing is a number
  std::size_t rows = 0;

  // The column of that name or, failing that, that number from 1; unknown ones get a "did you mean".
  std::size_t column(std::string_view name) const;
  // Of names joined by +; "none" and "" are none.
  std::vector<std::size_t> columns(std::string_view joined) const;
};

// Reads the file once. `needs_names`: the columns will be asked for by name, so there must be a header.
CsvSurvey survey_csv(const CsvTableConfig& config, bool needs_names);

}  // namespace pits
