#include "pits/data/source/check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiment/expect_error.h"

namespace pits {
namespace {

constexpr std::size_t users = 19181, jokes = 40;
constexpr std::size_t count = users * jokes;

// Ratings a and b in such numbers, and at such a distance, that mean and deviation are Jester's. With a share p of a:
// mean = pa + (1-p)b, variance = p(1-p)(a-b)². Here p = 1/2 up to one rating, so a, b = 1.5053 ± 5.0796 in steps of
// 0.01.
Matrix<double> two_ratings() {
  Matrix<double> ratings(users, jokes);
  // 6.58 and 6.59 average to 6.5849, -3.57 and -3.58 to -3.5743, in these shares.
  const auto high = static_cast<std::size_t>(0.49 * count / 2), low = static_cast<std::size_t>(0.43 * count / 2);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t pair = i / 2;
    ratings.data()[i] = i % 2 == 0 ? (pair < high ? 6.59 : 6.58) : (pair < low ? -3.58 : -3.57);
  }
  return ratings;
}

std::string refusal(const Matrix<double>& ratings) {
  std::string message = test::message_of([&] { check_jester("a.npy", ratings); });
  test::expect_mentions(message, {"'a.npy'"});
  return message;
}

TEST(Jester, AcceptsRatingsOfTheRightShapeRangeStepsMeanAndDeviation) {
  Matrix<double> ratings = two_ratings();
  EXPECT_NO_THROW(check_jester("a.npy", ratings));
  for (std::size_t i = 0; i < count; ++i) ratings.data()[i] = static_cast<float>(ratings.data()[i]);
  EXPECT_NO_THROW(check_jester("a.npy", ratings)) << "as float32";
}

TEST(Jester, RefusesAnotherShape) {
  test::expect_mentions(refusal(Matrix<double>(users, jokes - 1)), {"19181 users x 39 jokes", "19181 x 40"});
  test::expect_mentions(refusal(Matrix<double>(jokes, users)), {"40 users x 19181 jokes"});
}

TEST(Jester, RefusesRatingsOutOfRangeMissingOrBetweenSteps) {
  for (const double bad : {10.01, -10.01, 99.0, 6.585, std::nan("")}) {
    Matrix<double> ratings = two_ratings();
    ratings(users - 1, 3) = bad;
    test::expect_mentions(refusal(ratings), {fmt::format("a rating of {}", bad)});
  }
}

// 154 ratings one step of 10 points off move the mean by 2e-3 points: twenty times what is allowed.
TEST(Jester, RefusesAnotherMeanOrDeviation) {
  Matrix<double> ratings = two_ratings();
  for (std::size_t i = 0; i < 308; i += 2) ratings.data()[i] -= 10.0;
  test::expect_mentions(refusal(ratings), {"mean of 1.503"});
  ratings = two_ratings();
  for (std::size_t i = 0; i < 2000; ++i) ratings.data()[i] = 1.51;
  test::expect_mentions(refusal(ratings), {"standard deviation of 5.07"});
}

}  // namespace
}  // namespace pits
