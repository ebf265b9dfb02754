#include "pits/core/io/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "pits/core/error.h"

namespace pits {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_header = 1 << 16;
constexpr std::size_t most_values = std::size_t{1} << 27;

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The text behind 'key': in the header, a Python dictionary, up to one of `ends`.
std::string_view entry(std::string_view header, std::string_view key, std::string_view ends) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size());
  header.remove_prefix(std::min(header.find_first_not_of(": "), header.size()));
  return header.substr(0, header.find_first_of(ends));
}

// "(19181, 40" → {19181, 40}; empty where it is no such list.
std::vector<std::size_t> parse_shape(std::string_view text) {
  std::vector<std::size_t> shape;
  if (!text.starts_with('(')) return {};
  for (text.remove_prefix(1); !text.empty();) {
    std::size_t n = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (status != std::errc{}) return {};
    shape.push_back(n);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  }
  return shape;
}

}  // namespace

std::string npy_header(std::size_t rows, std::size_t columns) {
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  constexpr std::size_t preamble = 10;  // magic, version, length of the header
  const std::size_t padded = (preamble + header.size() + 1 + 63) / 64 * 64 - preamble;
  header.resize(padded - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

std::string_view npy_row(std::span<const double> row) {
  return {reinterpret_cast<const char*>(row.data()), row.size_bytes()};
}

bool NpyReader::read_header() {
  if (!magic.starts_with(std::string_view(pending_).substr(0, magic.size())) ||
      (pending_.size() > 6 && pending_[6] != 1 && pending_[6] != 2)) {
    throw bad_input("'{}' is not a NumPy array file of version 1 or 2", file_);
  }
  if (pending_.size() < 12) return false;
  const std::size_t preamble = pending_[6] == 1 ? 10 : 12;
  const std::size_t size = little_endian(std::string_view(pending_).substr(8, preamble - 8));
  if (size > most_header) throw bad_input("'{}': a header of {} bytes", file_, size);
  if (pending_.size() < preamble + size) return false;
  const std::string_view header = std::string_view(pending_).substr(preamble, size);
  const std::string_view type = entry(header, "'descr'", ",}");
  if (type != "'<f8'" && type != "'<f4'") {
    throw bad_input("'{}': its numbers are {}, not '<f8' or '<f4'", file_, type.empty() ? "of no type" : type);
  }
  if (entry(header, "'fortran_order'", ",}") != "False") {
    throw bad_input("'{}' is in Fortran order; save it with numpy.ascontiguousarray", file_);
  }
  const std::vector<std::size_t> shape = parse_shape(entry(header, "'shape'", ")"));
  if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0 || shape[0] > most_values / shape[1]) {
    throw bad_input("'{}': its shape is {}), not (rows, columns)", file_, entry(header, "'shape'", ")"));
  }
  item_size_ = type == "'<f8'" ? 8 : 4;
  rows_ = shape[0];
  cols_ = shape[1];
  pending_.erase(0, preamble + size);
  return true;
}

void NpyReader::read_values(std::string_view piece) {
  if (piece.size() > (rows_ * cols_ - values_.size()) * item_size_) {
    throw bad_input("'{}' has more bytes than its shape ({}, {}) needs", file_, rows_, cols_);
  }
  for (; piece.size() >= item_size_; piece.remove_prefix(item_size_)) {
    double value = 0.0;
    if (item_size_ == 8) {
      std::memcpy(&value, piece.data(), 8);
    } else {
      float single = 0.0F;
      std::memcpy(&single, piece.data(), 4);
      value = single;
    }
    values_.push_back(value);
  }
  pending_ = piece;
}

void NpyReader::feed(std::string_view piece) {
  pending_ += piece;
  if (!has_header_ && !(has_header_ = read_header())) return;
  const std::string bytes = std::move(pending_);
  read_values(bytes);
}

Matrix<double> NpyReader::finish() && {
  if (!has_header_) throw bad_input("'{}' ends within its header", file_);
  if (values_.size() < rows_ * cols_ || !pending_.empty()) {
    throw bad_input("'{}' has {} numbers{}, but its shape is ({}, {})", file_, values_.size(),
                    pending_.empty() ? "" : " and a part of one", rows_, cols_);
  }
  for (const double x : values_) {
    if (!std::isfinite(x)) throw bad_input("'{}' holds a number that is not finite", file_);
  }
  Matrix<double> matrix(rows_, cols_);
  std::ranges::copy(values_, matrix.data());
  return matrix;
}

}  // namespace pits
