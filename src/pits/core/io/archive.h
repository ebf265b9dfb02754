// What a thing has learned, as bytes and back. A class lists its fields once, and the list both writes and reads them:
//
//   void state(Archive& archive) { archive.version("Mover", 1)(particles_, steps_done_); }
//
// The version rises whenever the list changes. A class that still reads its older lists says so:
//
//   archive.version("Mover", 2, 1)(particles_, steps_done_);  // reads version 1 too
//   if (archive.version_of("Mover") >= 2) archive(momentum_);
//
// Reading fills an object that was made as the written one was: a vector or matrix that has a size already keeps it,
// and bytes that do not fit are an Error. Types of other rooms come with a function state(Archive&, Type&) beside them.
//
// An archive of a policy holds what decisions need and nothing of what only learning does: a class whose list differs
// asks policy().
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "pits/core/error.h"
#include "pits/core/matrix.h"

namespace pits {

static_assert(std::endian::native == std::endian::little, "saved files are little-endian");

class Archive {
 public:
  Archive() = default;                                                               // writes
  explicit Archive(std::string bytes) : bytes_(std::move(bytes)), reading_(true) {}  // reads

  bool reading() const { return reading_; }
  bool policy() const { return policy_; }
  void set_policy() { policy_ = true; }
  const std::string& bytes() const { return bytes_; }

  template <class... Fields>
  Archive& operator()(Fields&... fields) {
    (field(fields), ...);
    return *this;
  }

  // The list of fields of a class that follows. Reading throws where it was written in a version that is not among
  // oldest..current; the Error names the class.
  Archive& version(std::string_view name, std::uint32_t current, std::uint32_t oldest);
  Archive& version(std::string_view name, std::uint32_t current) { return version(name, current, current); }
  // That of a class in these bytes, after version().
  std::uint32_t version_of(std::string_view name) const;
  // What was written, behind a table of its classes and their versions; and an archive that reads it. An archive that
  // reads bytes without a table takes them for those of this build.
  std::string with_versions() const;
  static Archive from_versions(std::string bytes);

  // A number of elements of at least `element_bytes` each; reading refuses more of them than the bytes that are left
  // could hold.
  std::uint64_t count(std::uint64_t n, std::size_t element_bytes);
  // The same for rows · cols elements.
  struct Shape {
    std::uint64_t rows, cols;
  };
  Shape shape(Shape shape, std::size_t element_bytes);
  void raw(void* data, std::size_t size);
  // Writes over what was written at a position: a size that was not known then.
  void overwrite(std::size_t position, std::uint32_t value);
  // After the last field: reading throws where bytes are left.
  void finish() const;

 private:
  template <class T>
  void field(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = value ? 1 : 0;
      raw(&byte, 1);
      value = byte != 0;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      raw(&value, sizeof value);
    } else if constexpr (requires { value.state(*this); }) {
      value.state(*this);
    } else {
      state(*this, value);
    }
  }

  std::string bytes_;
  std::size_t position_ = 0;
  std::vector<std::pair<std::string, std::uint32_t>> versions_;  // of the classes in the bytes
  bool has_table_ = false;                                       // of them, in the bytes
  bool reading_ = false;
  bool policy_ = false;
};

// Throws where a field has a shape already and the saved one is another.
void check_saved_shape(std::size_t had_rows, std::size_t had_cols, std::size_t rows, std::size_t cols);

void state(Archive& archive, std::string& value);

template <class A, class B>
void state(Archive& archive, std::pair<A, B>& value) {
  archive(value.first, value.second);
}

template <class T, std::size_t n>
void state(Archive& archive, std::array<T, n>& values) {
  for (T& value : values) archive(value);
}

template <class T, class Allocator>
void state(Archive& archive, std::vector<T, Allocator>& values) {
  constexpr bool numbers = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
  const std::uint64_t n = archive.count(values.size(), numbers ? sizeof(T) : 1);
  if (archive.reading()) {
    if constexpr (std::is_default_constructible_v<T>) {
      check_saved_shape(values.size(), 1, n, 1);
      values.resize(n);
    } else if (n != values.size()) {
      throw bad_input("the saved state does not fit: {} parts where {} belong", n, values.size());
    }
  }
  if constexpr (numbers) {
    archive.raw(values.data(), n * sizeof(T));
  } else {
    for (T& value : values) archive(value);
  }
}

template <class T>
void state(Archive& archive, Matrix<T>& values) {
  const auto [rows, cols] = archive.shape({values.rows(), values.cols()}, sizeof(T));
  if (archive.reading()) {
    check_saved_shape(values.rows(), values.cols(), rows, cols);
    values.reshape(rows, cols);
  }
  archive.raw(values.data(), values.size() * sizeof(T));
}

// A saved file: magic, version of this frame, kind of what is saved, its bytes, and the SHA-256 of all that, which
// guards against damage and not against forgery.
inline constexpr std::uint32_t saved_version = 6;

std::string sealed(std::string_view kind, std::string_view bytes);
// The bytes that were sealed. Throws an Error that starts with `source` where they are not a saved file, were written
// by a newer pits, are truncated, damaged or of another kind.
std::string unsealed(std::string_view kind, std::string_view file, std::string_view source);

}  // namespace pits
