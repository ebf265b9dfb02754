#include "pits/data/text_rows.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace pits {

bool read_number(std::string_view field, double& value) {
  const char* end = field.data() + field.size();
  const auto [stop, status] = std::from_chars(field.data(), end, value);
  // Contexts are float, so a number must be one there too.
  return status == std::errc{} && stop == end && std::abs(value) <= std::numeric_limits<float>::max();
}

double parse_number(std::string_view field, std::size_t column, const Place& place) {
  double value = 0.0;
  if (!read_number(field, value)) throw place.wrong("column {} must be a finite number, not '{}'", column + 1, field);
  return value;
}

}  // namespace pits
