#include "pits/report/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace pits {
namespace {

std::string replace_all(std::string text, const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto hit =
        std::ranges::find_if(pairs, [&](const auto& p) { return text.compare(i, p.first.size(), p.first) == 0; });
    out += hit == pairs.end() ? text.substr(i, 1) : hit->second;
    i += hit == pairs.end() ? 1 : hit->first.size();
  }
  return out;
}

std::string latex_word(const std::string& word) {
  return replace_all(word, {{"\\", "\\textbackslash{}"},
                            {"&", "\\&"},
                            {"%", "\\%"},
                            {"_", "\\_"},
                            {"#", "\\#"},
                            {"$", "\\$"},
                            {"{", "\\{"},
                            {"}", "\\}"},
                            {"±", "$\\pm$"},
                            {"π", "$\\pi$"},
                            {"δ", "$\\delta$"},
                            {"σ²", "$\\sigma^2$"},
                            {"σ", "$\\sigma$"},
                            {"−", "$-$"},
                            {"~", "\\textasciitilde{}"},
                            {"^", "\\textasciicircum{}"}});
}

std::string csv_word(const std::string& word) {
  if (word.find_first_of(",\"\r\n") == std::string::npos) return word;
  return "\"" + replace_all(word, {{"\"", "\"\""}}) + "\"";
}

// Every row through `word`, cells joined by `between`, each line framed by `start` and `end`.
std::string lines(const TextTable& table, std::string (*word)(const std::string&), std::string_view between,
                  std::string_view start, std::string_view end, std::string_view after_header) {
  const auto line = [&](const std::vector<std::string>& cells) {
    std::vector<std::string> words;
    std::ranges::transform(cells, std::back_inserter(words), word);
    return fmt::format("{}{}{}\n", start, fmt::join(words, between), end);
  };
  std::string out = line(table.header) + std::string(after_header);
  for (const auto& row : table.rows) out += line(row);
  return out;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string pad_left(std::string_view text, std::size_t to) {
  return std::string(to - std::min(to, display_width(text)), ' ') + std::string(text);
}

std::string pad_right(std::string_view text, std::size_t to) {
  return std::string(text) + std::string(to - std::min(to, display_width(text)), ' ');
}

std::string as_text(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    widths.push_back(display_width(table.header[c]));
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out = pad_right(cells[0], widths[0]);
    for (std::size_t c = 1; c < cells.size(); ++c) out += "  " + pad_left(cells[c], widths[c]);
    return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  };
  std::string out = line(table.header);
  for (const auto& row : table.rows) out += line(row);
  for (const std::string& note : table.notes) out += "\n" + note;
  return table.notes.empty() ? out : out + "\n";
}

std::string as_markdown(const TextTable& table) {
  std::string rule = "|---|";
  for (std::size_t c = 1; c < table.header.size(); ++c) rule += "---:|";
  const auto word = [](const std::string& w) { return replace_all(w, {{"|", "\\|"}}); };
  std::string out = lines(table, word, " | ", "| ", " |", rule + "\n");
  for (const std::string& note : table.notes) out += "\n" + note + "\n";
  return out;
}

std::string as_latex(const TextTable& table) {
  std::string out = fmt::format("\\begin{{tabular}}{{l{}}}\n\\toprule\n", std::string(table.header.size() - 1, 'r'));
  out += lines(table, latex_word, " & ", "", " \\\\", "\\midrule\n") + "\\bottomrule\n";
  for (const std::string& note : table.notes) {
    out += fmt::format("\\multicolumn{{{}}}{{l}}{{\\footnotesize {}}} \\\\\n", table.header.size(), latex_word(note));
  }
  return out + "\\end{tabular}\n";
}

std::string as_csv(const TextTable& table) {
  TextTable given = table;
  if (!table.csv_header.empty()) given.header = table.csv_header;
  return lines(given, csv_word, ",", "", "", "");
}

}  // namespace pits
