#include "pits/core/error.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pits {
namespace {

// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

// Near, with a letter in common: a name of one letter is one letter away from any other.
bool is_like(std::string_view name, std::string_view known) {
  const std::size_t distance = edit_distance(name, known);
  return distance <= std::max<std::size_t>(2, known.size() / 3) && distance < std::min(name.size(), known.size());
}

}  // namespace

Error unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  std::string message = fmt::format("unknown {} '{}'", what, name);
  const auto nearest =
      std::ranges::min_element(known, {}, [&](const std::string& k) { return edit_distance(name, k); });
  if (nearest != known.end() && is_like(name, *nearest)) {
    message += fmt::format("; did you mean '{}'?", *nearest);
  } else {
    message += ".";
  }
  if (known.empty()) return {ErrorKind::input, message + " There are none."};
  return {ErrorKind::input, message + fmt::format(" Known: {}", fmt::join(known, ", "))};
}

}  // namespace pits
