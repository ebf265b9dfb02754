// A table of words in the formats that people paste: aligned text, Markdown, LaTeX, CSV.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pits {

struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // as long as the header; the first column is left-aligned
  std::vector<std::string> notes{};            // lines under the table
  std::vector<std::string> csv_header{};       // what a CSV file says instead, where there is more to say
};

std::string as_text(const TextTable& table);
std::string as_markdown(const TextTable& table);
std::string as_latex(const TextTable& table);  // booktabs; ± becomes $\pm$
std::string as_csv(const TextTable& table);    // RFC 4180; it has no place for the notes

// Characters on screen: continuation bytes of UTF-8 take no place.
std::size_t display_width(std::string_view text);
std::string pad_left(std::string_view text, std::size_t to);
std::string pad_right(std::string_view text, std::size_t to);

}  // namespace pits
