#include "pits/core/io/text_table.h"

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

// Characters on screen: continuation bytes of UTF-8 take no place.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::size_t> column_widths(const TextTable& table) {
  std::vector<std::size_t> widths(table.header.empty() ? table.rows.front().size() : table.header.size());
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], display_width(cells[c]));
  };
  widen(table.header);
  std::ranges::for_each(table.rows, widen);
  return widths;
}

}  // namespace

std::string as_text(const TextTable& table) {
  const std::vector<std::size_t> widths = column_widths(table);
  const auto line = [&](const std::vector<std::string>& cells, const auto& is_bold) {
    std::string out;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string space(widths[c] - display_width(cells[c]), ' ');
      const std::string cell = c < table.left ? cells[c] + space : space + cells[c];
      out += (c == 0 ? "" : "  ") + (is_bold(c) ? "\033[1m" + cell + "\033[0m" : cell);
    }
    return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
  };
  std::string out = table.header.empty() ? "" : line(table.header, [](std::size_t) { return false; });
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += line(table.rows[r],
                [&](std::size_t c) { return std::ranges::find(table.bold, std::pair(r, c)) != table.bold.end(); });
  }
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
