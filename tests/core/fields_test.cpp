#include "pits/core/fields.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace pits {
enum class Taste { sweet, sour, bitter };
template <>
inline constexpr auto enum_names<Taste> = std::array{"sweet", "sour", "bitter"};

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Recipe {
  int spoons = 2;
  double heat = 0.5;
  float salt = 0.25F;
  bool stirred = true;
  Taste taste = Taste::sour;
  std::string cook = "anna";
  std::vector<int> layers = {50, 50};
  std::vector<double> weights = {};
  std::int64_t calories = 9'000'000'000;
  std::vector<std::string> guests = {};
};

Fields fields(Recipe& r) {
  return Fields{}
      .add("spoons", r.spoons, "of sugar", at_least(1))
      .add("heat", r.heat, "of the oven", Range{.low = 0, .high = 1, .low_open = true})
      .add("salt", r.salt, "in grams", between(0, 2))
      .add("stirred", r.stirred, "before serving")
      .add("taste", r.taste, "of the cake")
      .add("cook", r.cook, "who bakes it")
      .add("layers", r.layers, "widths", at_least(1))
      .add("weights", r.weights, "of the guests", above(0))
      .add("calories", r.calories, "in all", at_least(0))
      .add("guests", r.guests, "who come");
}

std::string error_of(const std::string& field, const std::string& text) {
  Recipe recipe;
  try {
    fields(recipe).set(field, text);
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), 3);
    return e.what();
  }
  return "accepted";
}

template <class T>
T parsed(std::string_view text) {
  T value{};
  parse_value(text, value);
  return value;
}

RC_GTEST_PROP(Fields, IntegersSurviveTheRoundTrip, (int x)) {
  RC_ASSERT(format_value(x) == std::to_string(x));
  RC_ASSERT(parsed<int>(std::to_string(x)) == x);
}

RC_GTEST_PROP(Fields, DoublesSurviveTheRoundTripToTheBit, (double x)) {
  RC_PRE(std::isfinite(x));
  const std::string text = format_value(x);
  RC_ASSERT(std::strtod(text.c_str(), nullptr) == x);
  RC_ASSERT(parsed<double>(text) == x);
}

RC_GTEST_PROP(Fields, FloatsSurviveTheRoundTripToTheBit, (float x)) {
  RC_PRE(std::isfinite(x));
  const std::string text = format_value(x);
  RC_ASSERT(std::strtof(text.c_str(), nullptr) == x);
  RC_ASSERT(parsed<float>(text) == x);
}

RC_GTEST_PROP(Fields, ListsSurviveTheRoundTrip, (const std::vector<int>& xs, const std::vector<double>& ys)) {
  RC_ASSERT(parsed<std::vector<int>>(format_value(xs)) == xs);
  RC_ASSERT(parsed<std::vector<double>>(format_value(ys)) == ys);
}

TEST(Fields, ExtremeNumbersSurviveTheRoundTrip) {
  using Limits = std::numeric_limits<double>;
  for (const double x : {Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min(), 0.1, 1e23}) {
    EXPECT_EQ(parsed<double>(format_value(x)), x);
  }
  for (const int x : {std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    EXPECT_EQ(parsed<int>(format_value(x)), x);
  }
}

TEST(Fields, AConfigSurvivesTheRoundTripThroughItsFields) {
  Recipe original{7, 0.1, 1.5F, false, Taste::bitter, "bert", {3}, {0.5, 2.0}};
  Recipe copy;
  Fields target = fields(copy);
  for (const Field& field : fields(original).list()) target.set(field.name, field.get());
  EXPECT_EQ(copy.spoons, 7);
  EXPECT_EQ(copy.heat, 0.1);
  EXPECT_EQ(copy.salt, 1.5F);
  EXPECT_FALSE(copy.stirred);
  EXPECT_EQ(copy.taste, Taste::bitter);
  EXPECT_EQ(copy.cook, "bert");
  EXPECT_EQ(copy.layers, (std::vector<int>{3}));
  EXPECT_EQ(copy.weights, (std::vector<double>{0.5, 2.0}));
}

TEST(Fields, FieldsSayWhatTheyAre) {
  Recipe recipe;
  std::vector<FieldType> types;
  for (const Field& field : fields(recipe).list()) {
    types.push_back(field.type);
    EXPECT_EQ(field.choices.size(), field.name == "taste" ? 3 : 0) << field.name;
  }
  using enum FieldType;
  EXPECT_EQ(types, (std::vector<FieldType>{whole, number, number, flag, choice, text, wholes, numbers, whole, texts}));
}

TEST(Fields, ListsAreWrittenInManyWays) {
  for (const char* text : {"50,20", "50x20", "50, 20", "[50, 20]", "[50,20]", " 50 , 20 "}) {
    EXPECT_EQ(parsed<std::vector<int>>(text), (std::vector<int>{50, 20})) << text;
  }
  for (const char* text : {"", "none", "[]", "[ ]"}) EXPECT_TRUE(parsed<std::vector<int>>(text).empty()) << text;
  EXPECT_EQ(parsed<std::vector<int>>("8"), (std::vector<int>{8}));
  EXPECT_EQ(parsed<std::vector<double>>("0.5,1e-3"), (std::vector<double>{0.5, 1e-3}));
}

TEST(Fields, BrokenListsAreRefused) {
  for (const char* text : {"50,", ",50", "50,,20", "[50", "50 20", "a,b", "1.5,2", "50,none"}) {
    EXPECT_TRUE(error_of("layers", text).starts_with("layers: must be a whole number, not '")) << text;
  }
}

TEST(Fields, ErrorsNameTheFieldAndWhatWouldBeRight) {
  EXPECT_EQ(error_of("spoons", "0"), "spoons: must be at least 1, not 0");
  EXPECT_EQ(error_of("spoons", "two"), "spoons: must be a whole number, not 'two'");
  EXPECT_EQ(error_of("spoons", "2.5"), "spoons: must be a whole number, not '2.5'");
  EXPECT_EQ(error_of("spoons", ""), "spoons: must be a whole number, not ''");
  EXPECT_EQ(error_of("heat", "0"), "heat: must be above 0 and at most 1, not 0");
  EXPECT_EQ(error_of("heat", "1.5"), "heat: must be above 0 and at most 1, not 1.5");
  EXPECT_EQ(error_of("heat", "0.5 "), "heat: must be a number, not '0.5 '");
  EXPECT_EQ(error_of("salt", "-1"), "salt: must be at least 0 and at most 2, not -1");
  EXPECT_EQ(error_of("stirred", "yes"), "stirred: must be true or false, not 'yes'");
  EXPECT_EQ(error_of("layers", "50,0"), "layers: must be at least 1, not 0");
  EXPECT_EQ(error_of("weights", "1,-2"), "weights: must be above 0, not -2");
}

TEST(Fields, AnIntegerTooLargeIsToldTheLimits) {
  const std::string message = error_of("spoons", "99999999999");
  EXPECT_NE(message.find("-2147483648"), std::string::npos) << message;
  EXPECT_NE(message.find("2147483647"), std::string::npos) << message;
}

TEST(Fields, NumbersThatAreNotFiniteAreRefused) {
  for (const char* text : {"nan", "inf", "-inf", "1e999"}) {
    EXPECT_TRUE(error_of("heat", text).starts_with("heat: must be ")) << text;
    EXPECT_TRUE(error_of("salt", text).starts_with("salt: must be ")) << text;
    EXPECT_TRUE(error_of("weights", text).starts_with("weights: must be ")) << text;
  }
}

TEST(Fields, AnUnknownNameOfAnEnumerationGetsASuggestion) {
  EXPECT_EQ(error_of("taste", "swet"), "taste: unknown value 'swet'; did you mean 'sweet'? Known: sweet, sour, bitter");
  EXPECT_EQ(error_of("taste", "1"), "taste: unknown value '1'. Known: sweet, sour, bitter");
}

TEST(Fields, AnUnknownFieldGetsASuggestion) {
  EXPECT_TRUE(error_of("spons", "1").starts_with("unknown field 'spons'; did you mean 'spoons'? Known: spoons, heat"));
}

TEST(Fields, EnumerationsReadTheirNames) {
  EXPECT_EQ(parsed<Taste>("sweet"), Taste::sweet);
  EXPECT_EQ(parsed<Taste>("bitter"), Taste::bitter);
  EXPECT_EQ(format_value(Taste::bitter), "bitter");
}

TEST(Fields, ARefusedTextLeavesTheValueAsItWas) {
  Recipe recipe;
  Fields list = fields(recipe);
  EXPECT_THROW(list.set("spoons", "0"), Error);
  EXPECT_THROW(list.set("heat", "nan"), Error);
  EXPECT_THROW(list.set("layers", "7,oops"), Error);
  EXPECT_THROW(list.set("layers", "7,0"), Error);
  EXPECT_EQ(recipe.spoons, 2);
  EXPECT_EQ(recipe.heat, 0.5);
  EXPECT_EQ(recipe.layers, (std::vector<int>{50, 50}));
}

TEST(Fields, RangesDescribeThemselves) {
  EXPECT_EQ(any_number().describe(), "a finite number");
  EXPECT_EQ(at_least(1).describe(), "at least 1");
  EXPECT_EQ(above(0).describe(), "above 0");
  EXPECT_EQ(between(0, 0.5).describe(), "at least 0 and at most 0.5");
  EXPECT_EQ((Range{.high = 3}).describe(), "at most 3");
}

TEST(Fields, RangesAdmitTheirClosedEndsOnly) {
  EXPECT_TRUE(at_least(1).admits(1));
  EXPECT_FALSE(above(1).admits(1));
  EXPECT_TRUE(between(0, 1).admits(0));
  EXPECT_TRUE(between(0, 1).admits(1));
  EXPECT_FALSE(between(0, 1).admits(std::nextafter(1.0, 2.0)));
  for (const double x : {nan, infinity, -infinity}) EXPECT_FALSE(any_number().admits(x));
}

TEST(Fields, MergeKeepsBothListsInOrder) {
  Recipe a;
  int extra = 0;
  const Fields merged = fields(a).merge(Fields{}.add("extra", extra, ""));
  EXPECT_TRUE(merged.has("spoons"));
  EXPECT_FALSE(merged.has("extr"));
  EXPECT_EQ(merged.list().back().name, "extra");
  EXPECT_EQ(merged.list().size(), 11U);
}

void expect_unchecked(const Recipe& recipe, const std::string& message) {
  try {
    checked(recipe);
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const Error& e) {
    EXPECT_EQ(e.what(), message);
  }
}

TEST(Checked, RefusesBadValuesOfConfigsMadeInCode) {
  expect_unchecked({.spoons = -3}, "spoons: must be at least 1, not -3");
  expect_unchecked({.heat = nan}, "heat: must be above 0 and at most 1, not nan");
  expect_unchecked({.salt = std::numeric_limits<float>::infinity()}, "salt: must be at least 0 and at most 2, not inf");
  expect_unchecked({.layers = {5, 0}}, "layers: must be at least 1, not 0");
  expect_unchecked({.weights = {1.0, infinity}}, "weights: must be above 0 and finite, not inf");
}

TEST(Checked, GivesAGoodConfigBackUnchanged) {
  const Recipe recipe = checked(Recipe{.spoons = 4, .weights = {2.0}});
  EXPECT_EQ(recipe.spoons, 4);
  EXPECT_EQ(recipe.weights, (std::vector<double>{2.0}));
}

TEST(Fields, WholeNumbersOf64BitsKeepEveryDigit) {
  Recipe recipe;
  fields(recipe).set("calories", "9223372036854775807");
  EXPECT_EQ(recipe.calories, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(error_of("calories", "9223372036854775808"),
            "calories: must be a whole number from -9223372036854775808 to 9223372036854775807, not "
            "'9223372036854775808'");
  EXPECT_EQ(error_of("calories", "-1"), "calories: must be at least 0, not -1");
}

TEST(Fields, AListOfTextsTakesOneMoreAtATime) {
  Recipe recipe;
  fields(recipe).set("guests", "anna, of course");
  fields(recipe).set("guests", "");
  EXPECT_EQ(recipe.guests, (std::vector<std::string>{"anna, of course", ""}));
}

}  // namespace
}  // namespace pits
