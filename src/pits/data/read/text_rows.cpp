#include "pits/data/read/text_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace pits {
namespace {

// std::from_chars for the whole field; it takes no '+' of its own.
std::errc parse(std::string_view field, double& value) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  const char* end = field.data() + field.size();
  const auto [stop, status] = std::from_chars(field.data(), end, value);
  return stop == end ? status : std::errc::invalid_argument;
}

// Bytes of the UTF-8 character that `text` begins with (RFC 3629); 0 where it does not begin with one.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return size;
}

}  // namespace

std::string in_quotes(std::string_view field) {
  constexpr std::size_t most = 60;
  std::string text;
  std::size_t at = 0;
  while (at < field.size()) {
    const std::size_t size = character_size(field.substr(at));
    if (at + std::max<std::size_t>(size, 1) > most) break;
    const bool control = static_cast<unsigned char>(field[at]) < 0x20 || field[at] == 0x7F;
    text += size == 0 || control ? "?" : field.substr(at, size);
    at += std::max<std::size_t>(size, 1);
  }
  return at == field.size() ? fmt::format("'{}'", text) : fmt::format("'{}...' ({} bytes)", text, field.size());
}

// Contexts are float, so a number must be one there too.
bool read_number(std::string_view field, double& value) {
  return parse(field, value) == std::errc{} && std::abs(value) <= std::numeric_limits<float>::max();
}

bool looks_like_number(std::string_view field) {
  double ignored = 0.0;
  return parse(field, ignored) != std::errc::invalid_argument;
}

double parse_number(std::string_view field, std::size_t column, const Place& place) {
  double value = 0.0;
  if (!read_number(field, value)) {
    throw place.wrong("column {} must be a finite number, not {}", column + 1, in_quotes(field));
  }
  return value;
}

}  // namespace pits
