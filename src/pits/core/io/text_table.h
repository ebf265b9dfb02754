// A table as aligned text, Markdown, LaTeX or CSV.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pits {

struct TextTable {
  std::vector<std::string> header;             // may be empty in text
  std::vector<std::vector<std::string>> rows;  // as long as the header
  std::vector<std::string> notes{};            // lines under the table
  std::vector<std::string> csv_header{};       // the header of a CSV file, if it differs
  std::size_t left = 1;                        // number of first columns that text aligns to the left; else right
  std::vector<std::pair<std::size_t, std::size_t>> bold{};  // (row, column) of cells that text shows in bold (ANSI)
};

std::string as_text(const TextTable& table);
std::string as_markdown(const TextTable& table);
std::string as_latex(const TextTable& table);  // booktabs; ± becomes $\pm$
std::string as_csv(const TextTable& table);    // RFC 4180; without the notes

}  // namespace pits
