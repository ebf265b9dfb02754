#include "pits/data/source/check.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include "pits/core/error.h"
#include "pits/core/io/npy.h"
#include "pits/data/read/bytes.h"

namespace pits {
namespace {

constexpr std::size_t users = 19181, jokes = 40;
constexpr double mean_rating = 1.5053, rating_deviation = 5.0796;
constexpr double rounding = 1e-3;  // float32 has ratings to 1e-6, a hundred times that is well below a step

// Empty where the rating is right.
std::string wrong_rating(double rating) {
  if (!(std::abs(rating) <= 10.0)) return fmt::format("a rating of {}, not from -10 to 10", rating);
  const double steps = 100.0 * rating;
  if (std::abs(steps - std::round(steps)) <= rounding) return {};
  return fmt::format("a rating of {}, not in steps of 0.01", rating);
}

std::string wrong_moment(std::string_view name, double actual, double expected) {
  if (std::abs(actual - expected) <= 1e-4) return {};
  return fmt::format("a {} of {:.4f}, not {}", name, actual, expected);
}

std::string wrong_ratings(ConstMatrixView<double> ratings) {
  if (ratings.rows() != users || ratings.cols() != jokes) {
    return fmt::format("{} users x {} jokes, not {} x {}", ratings.rows(), ratings.cols(), users, jokes);
  }
  double sum = 0.0, squares = 0.0;
  for (const double rating : ratings.flat()) {
    if (std::string wrong = wrong_rating(rating); !wrong.empty()) return wrong;
    sum += rating;
    squares += rating * rating;
  }
  const double mean = sum / (users * jokes);
  if (std::string wrong = wrong_moment("mean", mean, mean_rating); !wrong.empty()) return wrong;
  return wrong_moment("standard deviation", std::sqrt(squares / (users * jokes) - mean * mean), rating_deviation);
}

std::string accepted(const DataFile& file) {
  std::string text;
  for (const Content& content : file.contents) {
    text += fmt::format("{}{} bytes with sha256 {}", text.empty() ? "" : " or ", content.bytes, content.sha256);
  }
  return text;
}

Content verified(const DataFile& file, std::string_view where, const Digest& digest) {
  for (const Content& content : file.contents) {
    if (content.sha256 == digest.sha256 && content.bytes == digest.bytes) return content;
  }
  if (file.check != nullptr) return {.sha256 = digest.sha256, .bytes = digest.bytes, .remark = ""};
  throw bad_input("'{}' is not {}: {} bytes with sha256 {}, not {}", where, file.name, digest.bytes, digest.sha256,
                  accepted(file));
}

}  // namespace

void check_jester(std::string_view where, ConstMatrixView<double> ratings) {
  const std::string wrong = wrong_ratings(ratings);
  if (!wrong.empty()) throw bad_input("'{}' does not hold jester's ratings: {}", where, wrong);
}

std::uint64_t most_bytes(const DataFile& file) {
  constexpr std::uint64_t headers = 1 << 20;
  return std::ranges::max(file.contents, {}, &Content::bytes).bytes + headers;
}

Content read_data_file(const DataFile& file, const std::filesystem::path& path, std::string_view where,
                       const std::function<void(std::string_view)>& sink) {
  NpyReader shaped{std::string(where)};
  std::exception_ptr complaint;
  std::uint64_t bytes = 0;
  const Digest digest = read_unpacked(path, [&](std::string_view piece) {
    bytes += piece.size();
    if (bytes > most_bytes(file)) {
      throw bad_input("'{}' is not {}: more than {} bytes, not {}", where, file.name, most_bytes(file), accepted(file));
    }
    if (complaint) return;
    try {
      if (file.check != nullptr) shaped.feed(piece);
      sink(piece);
    } catch (const Error&) {
      complaint = std::current_exception();
    }
  });
  const Content content = verified(file, where, digest);
  if (complaint) std::rethrow_exception(complaint);
  if (file.check != nullptr) file.check(where, std::move(shaped).finish());
  return content;
}

}  // namespace pits
