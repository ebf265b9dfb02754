#include "pits/data/check.h"

#include <cmath>

#include "pits/core/error.h"
#include "pits/data/npy.h"

namespace pits {
namespace {

constexpr std::size_t users = 19181, jokes = 40;
constexpr double mean_rating = 1.5053, rating_deviation = 5.0796;
constexpr double rounding = 1e-3;  // float32 has ratings to 1e-6, a hundred times that is well below a step

// Empty where the ratings are right.
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

}  // namespace

void check_jester(std::string_view where, ConstMatrixView<double> ratings) {
  const std::string wrong = wrong_ratings(ratings);
  if (!wrong.empty()) throw bad_input("'{}' does not hold jester's ratings: {}", where, wrong);
}

Content check_content(const DataFile& file, const std::filesystem::path& path, std::string_view where,
                      const std::function<void(std::string_view)>& sink) {
  NpyReader shaped{std::string(where)};
  const Digest digest = read_unpacked(path, [&](std::string_view piece) {
    if (file.by_shape) shaped.feed(piece);
    sink(piece);
  });
  const Content content = verify_content(file, where, digest);
  if (file.by_shape) check_jester(where, std::move(shaped).finish());
  return content;
}

}  // namespace pits
