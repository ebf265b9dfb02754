// The first reading of a CSV file: its delimiter, its header, and what its columns hold.
#pragma once

#include "pits/data/read/bytes.h"
#include "pits/data/read/csv_table.h"

namespace pits {

bool is_missing(std::string_view field);  // empty, ? or NA

struct CsvColumn {
  std::string name;         // of the header; "1", "2", ... without one
  std::size_t numbers = 0;  // fields; missing ones count nowhere
  std::size_t commas = 0;   // numbers with a comma: 43,5 or 1.234,5 or 1,234
  std::size_t words = 0;    // anything else
  std::string odd{};        // the first field that is not a number, in quotes
  bool odd_comma = false;   // it is a number with a comma
  std::size_t odd_line = 0;

  bool numeric() const { return commas + words == 0; }
  bool mostly_numbers() const { return numbers + commas > words; }
};

struct CsvSurvey {
  std::string file;
  char delimiter = ',';
  bool has_header = false;
  std::size_t first_line = 1;  // of the first row or the header
  std::vector<CsvColumn> columns;
  std::size_t rows = 0;
  Digest digest{};

  // The column of that name or, failing that, that number from 1; unknown ones get a "did you mean".
  std::size_t column(std::string_view name) const;
};

// Throws where the file is not regular (a pipe can be read only once), not UTF-8 text or without rows.
CsvSurvey survey_csv(const CsvTableConfig& config);

// The second reading. Throws where the file has changed since the survey.
Table read_csv_table(const CsvTableConfig& config, const CsvSurvey& survey, const std::vector<ColumnKind>& kinds);

}  // namespace pits
