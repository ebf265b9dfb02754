#include "pits/serve/api_keys.h"

#include <gtest/gtest.h>

#include "pits/serve/status_error.h"

namespace pits {
namespace {

int status_of_check(const ApiKeys& keys, std::string_view authorization, Scope scope, Microseconds now = 0) {
  try {
    keys.check(authorization, scope, now);
    return 200;
  } catch (const StatusError& e) {
    return e.status();
  }
}

// SHA-256 of "abc": FIPS 180-2, appendix B.1.
constexpr const char* abc_hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(ApiKeys, AKeyIsFoundByItsPublishedHash) {
  const ApiKeys keys = ApiKeys::parse(std::string("# callers\n\nweb ") + abc_hash + " decide,reward\n", "keys");
  EXPECT_EQ(status_of_check(keys, "Bearer abc", Scope::decide), 200);
  EXPECT_EQ(status_of_check(keys, "Bearer abc", Scope::reward), 200);
  EXPECT_EQ(status_of_check(keys, "Bearer abc", Scope::admin), 403);
  EXPECT_EQ(status_of_check(keys, "Bearer abd", Scope::decide), 401);
  EXPECT_EQ(status_of_check(keys, "Basic abc", Scope::decide), 401);
  EXPECT_EQ(status_of_check(keys, "", Scope::decide), 401);
  EXPECT_EQ(status_of_check(keys, "", Scope::none), 200);
}

TEST(ApiKeys, NoKeysAdmitEverybody) { EXPECT_EQ(status_of_check(ApiKeys(), "", Scope::admin), 200); }

TEST(ApiKeys, WhetherAKeyMayIsSaidHoweverOftenItAsks) {
  const ApiKeys keys = ApiKeys::parse(std::string("web ") + abc_hash + " read rate=0.001\n", "keys");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(keys.allow("Bearer abc", Scope::read));
  EXPECT_FALSE(keys.allow("Bearer abc", Scope::decide));
  EXPECT_FALSE(keys.allow("Bearer abd", Scope::read));
  EXPECT_FALSE(keys.allow("", Scope::read));
  EXPECT_EQ(status_of_check(keys, "Bearer abc", Scope::read), 200);  // its rate is not used up
  EXPECT_TRUE(ApiKeys().allow("", Scope::read));
}

TEST(ApiKeys, ANewKeyIsAdmittedByItsLineAndNotStoredInIt) {
  const NewKey one = new_key("web", {Scope::decide}, 0.0), two = new_key("web", {Scope::decide}, 0.0);
  EXPECT_NE(one.key, two.key);
  EXPECT_EQ(one.line.find(one.key), std::string::npos);
  const ApiKeys keys = ApiKeys::parse(one.line + two.line, "keys");
  EXPECT_EQ(status_of_check(keys, "Bearer " + one.key, Scope::decide), 200);
  EXPECT_EQ(status_of_check(keys, "Bearer " + two.key, Scope::decide), 200);
  EXPECT_THROW(new_key("two words", {Scope::decide}, 0.0), Error);
  EXPECT_THROW(new_key("web", {}, 0.0), Error);
}

TEST(ApiKeys, BadLinesAreNamed) {
  for (const std::string line : {"web", "web abcd decide", "web zz decide", "web 00 none"}) {
    try {
      ApiKeys::parse("# first\n" + line, "keys");
      ADD_FAILURE() << line;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("'keys', line 2"), std::string::npos) << e.what();
    }
  }
  const std::string hash = abc_hash;
  EXPECT_THROW(ApiKeys::parse("web " + hash + " dance", "keys"), Error);
  EXPECT_THROW(ApiKeys::parse("web " + hash + " none", "keys"), Error);
  EXPECT_THROW(ApiKeys::parse("web " + hash + " read rate=-1", "keys"), Error);
  EXPECT_THROW(ApiKeys::parse("web " + hash + " read rate=1 more", "keys"), Error);
  EXPECT_THROW(ApiKeys::parse("# nothing\n", "keys"), Error);
}

// A plain bucket: holds up to `rate` tokens, fills by `rate` per second.
TEST(RateLimit, AdmitsWhatABucketOfTokensAdmits) {
  constexpr double rate = 10.0;
  RateLimit limit(rate);
  double tokens = rate;
  Microseconds before = 0;
  int admitted = 0;
  for (int i = 0; i < 2000; ++i) {
    const Microseconds now = 1'000'000 + i * 37'000 + (i % 7) * 1000;
    tokens = std::min(rate, tokens + (before == 0 ? 0.0 : rate * 1e-6 * static_cast<double>(now - before)));
    before = now;
    const bool expected = tokens >= 1.0 - 1e-9;
    if (expected) tokens -= 1.0;
    ASSERT_EQ(limit.wait(now) == 0, expected) << i;
    admitted += expected ? 1 : 0;
  }
  EXPECT_GT(admitted, 700);
  EXPECT_LT(admitted, 800);  // 74 seconds at 10 per second, and the first burst
}

TEST(RateLimit, SaysHowLongToWait) {
  RateLimit limit(0.5);
  EXPECT_EQ(limit.wait(10'000'000), 0);
  EXPECT_EQ(limit.wait(10'000'000), 3);  // two seconds until the next, rounded up
  EXPECT_EQ(limit.wait(12'000'000), 0);
}

}  // namespace
}  // namespace pits
