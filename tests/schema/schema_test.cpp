#include "pits/schema/schema.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "experiment/expect_error.h"

namespace pits::test {
namespace {

using Vector = std::vector<float>;

const char* const shop = R"({"features": [
  {"name": "age", "kind": "number", "missing": "level"},
  {"name": "country", "kind": "category", "levels": ["de", "fr", "17"], "unknown": "level"},
  {"name": "page", "kind": "category", "buckets": 32},
  {"name": "member", "kind": "boolean"}]})";

std::string one(const std::string& fields) { return R"({"features": [{"name": "f", )" + fields + "}]}"; }
Vector encoded(const std::string& fields, const std::string& value) {
  return Schema(one(fields)).encode(R"({"f": )" + value + "}");
}

TEST(Schema, NamesItsColumns) {
  const Schema schema(shop);
  std::vector<std::string> expected = {"age",        "age is missing", "country=de",
                                       "country=fr", "country=17",     "country is unknown"};
  for (int i = 0; i < 32; ++i) expected.push_back(fmt::format("page#{}", i));
  expected.push_back("member");
  EXPECT_EQ(schema.columns(), expected);
  EXPECT_EQ(schema.width(), expected.size());
  EXPECT_EQ(Schema(one(R"("kind": "time_of_day", "zone": "UTC")")).columns(),
            (std::vector<std::string>{"sin(f)", "cos(f)"}));
}

TEST(Schema, EncodesEveryKind) {
  const Schema schema(shop);
  Vector x(schema.width(), 0.0F);
  x[0] = 31.5F, x[3] = 1.0F, x[6 + 11] = 1.0F, x[38] = 1.0F;  // "foobar" is in bucket 11
  EXPECT_EQ(schema.encode(R"({"age": 31.5, "country": "fr", "page": "foobar", "member": true})"), x);
  // In any order; no age, an unknown country, a whole number as the name of a level.
  Vector y(schema.width(), 0.0F);
  y[1] = 1.0F, y[5] = 1.0F, y[6 + 12] = 1.0F;  // "17" is in bucket 12
  EXPECT_EQ(schema.encode(R"({"member": false, "page": 17, "country": "nl"})"), y);
  EXPECT_EQ(schema.encode(R"({"member": false, "page": "17", "country": 3.5, "age": null})"), y);
  EXPECT_EQ(schema.encode(R"({"member": false, "page": 17.0, "country": "nl"})"), y);
  EXPECT_EQ(schema.encode(R"({"member": false, "page": 17, "country": 17})")[4], 1.0F);
}

TEST(Schema, NumbersAreFloat32) {
  const std::string number = R"("kind": "number", "unknown": "level")";
  EXPECT_EQ(encoded(number, "-3"), (Vector{-3.0F, 0.0F}));
  EXPECT_EQ(encoded(number, "0.1"), (Vector{0.1F, 0.0F}));
  EXPECT_EQ(encoded(number, "18446744073709551615"), (Vector{18446744073709551615.0F, 0.0F}));
  for (const char* odd : {"1e39", "\"3\"", "true", "[1]", "{\"a\": {\"f\": 3}}"}) {
    EXPECT_EQ(encoded(number, odd), (Vector{0.0F, 1.0F})) << odd;
  }
}

// Bucket numbers are in logs for ever: computed by another implementation, in Python.
TEST(Schema, BucketsNeverChangeAndAreEven) {
  EXPECT_EQ(bucket_of("", 32), 6U);
  EXPECT_EQ(bucket_of("a", 32), 27U);
  EXPECT_EQ(bucket_of("foobar", 1000), 275U);
  EXPECT_EQ(bucket_of("münchen", 1000), 619U);
  for (const std::size_t n : {16U, 10U}) {
    std::vector<double> counts(n);
    constexpr int levels = 20'000;
    for (int i = 0; i < levels; ++i) counts[bucket_of(fmt::format("user-{}", i), n)] += 1.0;
    double statistic = 0.0;
    for (const double c : counts)
      statistic += std::pow(c - double(levels) / double(n), 2) / (double(levels) / double(n));
    // Mean n − 1 and variance 2(n − 1): five standard errors.
    EXPECT_LT(statistic, double(n - 1) + 5.0 * std::sqrt(2.0 * double(n - 1)));
  }
}

TEST(Schema, TimesAreAPointOnACircle) {
  const std::string day = R"("kind": "time_of_day", "zone": "Europe/Berlin")";
  const auto near = [](const Vector& x, double part) {
    ASSERT_EQ(x.size(), 2U);
    EXPECT_NEAR(x[0], std::sin(2.0 * std::numbers::pi * part), 1e-6);
    EXPECT_NEAR(x[1], std::cos(2.0 * std::numbers::pi * part), 1e-6);
  };
  near(encoded(day, R"("2026-01-15T05:00:00Z")"), 0.25);       // 6:00 in winter
  near(encoded(day, R"("2026-07-15T04:00:00Z")"), 0.25);       // and in summer
  near(encoded(day, R"("2026-07-15T10:00:00+06:00")"), 0.25);  // the offset of the text says which moment, no more
  near(encoded(day, "1768453200"), 0.25);                      // 2026-01-15T05:00:00Z
  near(encoded(day, "1768453200.9"), 0.25);
  near(encoded(day, "-62135596800"), 53.466666666 / 60.0 / 24.0);  // local mean time, 53 min 28 s east
  const std::string week = R"("kind": "time_of_week", "zone": "America/New_York")";
  near(encoded(week, R"("2026-11-16T05:00:00Z")"), 0.0);  // Monday 0:00
  near(encoded(week, R"("2026-11-19T17:00:00Z")"), 0.5);  // Thursday 12:00
  near(encoded(week, R"("1969-12-29T05:00:00Z")"), 0.0);
  for (const char* odd : {"\"2026-01-15 05:00\"", "\"\"", "true", "1e15", "[]"}) {
    expect_mentions(message_of([&] { encoded(day, odd); }), {"'f'", "a time", "2026-11-17T10:18:57Z"});
  }
}

TEST(Schema, ErrorsOfAContextNameTheFeature) {
  const Schema schema(R"({"features": [{"name": "age", "kind": "number"},
    {"name": "country", "kind": "category", "levels": ["germany", "france"]}, {"name": "member", "kind": "boolean"}]})");
  const auto said = [&](const std::string& context) { return message_of([&] { schema.encode(context); }); };
  const std::string rest = R"("country": "france", "member": true)";
  expect_mentions(said("{" + rest + "}"), {"'age'", "missing"});
  expect_mentions(said(R"({"age": null, )" + rest + "}"), {"'age'", "missing"});
  expect_mentions(said(R"({"age": "31", )" + rest + "}"), {"'age'", "a number", "'31'"});
  expect_mentions(said(R"({"age": 3, "age": 4, )" + rest + "}"), {"'age'", "two values"});
  expect_mentions(said(R"({"age": 3, "country": "germny", "member": true})"), {"'country'", "did you mean 'germany'"});
  expect_mentions(said(R"({"age": 3, "country": 3, "member": true})"), {"'country'", "2 levels"});
  expect_mentions(said(R"({"age": 3, "country": "france", "member": 1})"), {"'member'", "true or false"});
  expect_mentions(said(R"({"age": 3, "membr": true, )" + rest + "}"), {"'membr'", "did you mean 'member'"});
  for (const char* odd : {"[1]", "3", "\"age\"", "null"}) expect_mentions(said(odd), {"JSON object"});
  for (const char* odd : {"", "{", "{\"age\": }", "{\"age\": 3,}", "{\"age\": \"\xff\"}", "{} {}"}) {
    EXPECT_FALSE(said(odd).empty()) << odd;
  }
  EXPECT_THROW(schema.encode("{}", std::span<float>()), Error);
}

TEST(Schema, OtherValuesAreAnErrorOrIgnored) {
  const Schema schema(R"({"features": [{"name": "a", "kind": "number"}], "others": "ignore"})");
  EXPECT_EQ(schema.encode(R"({"b": [{"a": 7}, 8], "a": 2, "c": {"a": 9}})"), Vector{2.0F});
}

TEST(Schema, ItsTextIsTheSameSchema) {
  const Schema schema(shop);
  const std::string text = schema.text();
  EXPECT_EQ(Schema(text).text(), text);
  EXPECT_EQ(Schema(text).columns(), schema.columns());
  EXPECT_EQ(Schema(one(R"("kind": "number", "unknown": "error")")).text(),
            R"({"features":[{"name":"f","kind":"number","missing":"error","unknown":"error"}],"others":"error"})");
  EXPECT_EQ(Schema({{.name = "f"}}).text(), Schema(one(R"("kind": "number")")).text());
}

TEST(Schema, ErrorsOfASchemaSayWhatIsWrong) {
  const auto said = [](const std::string& text) { return message_of([&] { Schema schema(text); }); };
  expect_mentions(said("{"), {"not JSON"});
  expect_mentions(said("[]"), {"features"});
  expect_mentions(said(R"({"features": []})"), {"at least one"});
  expect_mentions(said(R"({"features": [3]})"), {"feature 1", "a name and a kind"});
  expect_mentions(said(R"({"features": [{"name": "f"}]})"), {"feature 1", "kind"});
  expect_mentions(said(R"({"features": [{"name": 3, "kind": "number"}]})"), {"feature 1", "name", "wrong type"});
  expect_mentions(said(R"({"features": [{"name": "", "kind": "number"}]})"), {"name"});
  expect_mentions(said(one(R"("kind": "nmber")")), {"'f'", "did you mean 'number'"});
  expect_mentions(said(one(R"("kind": "number", "level": [])")), {"'f'", "did you mean 'levels'"});
  expect_mentions(said(one(R"("kind": "category")")), {"'f'", "levels or buckets"});
  expect_mentions(said(one(R"("kind": "category", "levels": ["a", "a"])")), {"'f'", "two levels", "'a'"});
  expect_mentions(said(one(R"("kind": "category", "levels": ["a", 3])")), {"'f'", "levels", "wrong type"});
  expect_mentions(said(one(R"("kind": "category", "levels": ["a"], "buckets": 3)")), {"'f'", "either"});
  for (const char* odd : {"0", "-1", "1e9", "100001", "\"8\""}) {
    expect_mentions(said(one(R"("kind": "category", "buckets": )" + std::string(odd))), {"'f'", "buckets"});
  }
  expect_mentions(said(one(R"("kind": "number", "buckets": 3)")), {"'f'", "only a category"});
  expect_mentions(said(one(R"("kind": "time_of_day")")), {"'f'", "zone"});
  expect_mentions(said(one(R"("kind": "time_of_day", "zone": "Europe/Berln")")), {"'f'", "Europe/Berln"});
  expect_mentions(said(one(R"("kind": "number", "zone": "UTC")")), {"'f'", "zone"});
  expect_mentions(said(one(R"("kind": "number", "missing": "yes")")), {"'f'", "missing", "yes"});
  expect_mentions(said(R"({"features": [{"name": "f", "kind": "number"}, {"name": "f", "kind": "boolean"}]})"),
                  {"two features", "'f'"});
  expect_mentions(said(R"({"features": [{"name": "f", "kind": "number"}], "other": "ignore"})"), {"'others'"});
}

}  // namespace
}  // namespace pits::test
