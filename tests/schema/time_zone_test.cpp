// Local time against libc's, which reads the same files by its own code; and times as text against libc's timegm.
#include "pits/schema/time_zone.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "experiment/expect_error.h"
#include "pits/core/io/files.h"
#include "pits/core/random.h"
#include "pits/schema/timestamp.h"

namespace pits::test {
namespace {

std::int64_t libc_offset(std::int64_t utc) {
  const std::time_t time = utc;
  std::tm local{};
  ::localtime_r(&time, &local);
  return local.tm_gmtoff;
}

// Berlin and New York change in summer, Sydney's summer is over the new year, Dublin's winter is negative, Lord Howe
// changes by half an hour, Nuuk at -1 o'clock, Cairo at 24 o'clock; Kathmandu and Tokyo never change any more.
class Zone : public testing::TestWithParam<const char*> {};

TEST_P(Zone, HasTheOffsetsOfLibc) {
  ::setenv("TZ", (std::string(":") + GetParam()).c_str(), 1);
  ::tzset();
  const TimeZone zone = TimeZone::load(GetParam());
  Stream random({.seed = 1});
  for (int i = 0; i < 20'000; ++i) {
    // 1850 to 2200
    const std::int64_t utc = -3'786'912'000 + static_cast<std::int64_t>(random.uniform() * 11'045'000'000.0);
    ASSERT_EQ(zone.offset(utc), libc_offset(utc)) << GetParam() << " at " << utc;
  }
  // Every change from 1900 to 2100, to the second.
  for (std::int64_t day = -2'208'988'800; day < 4'102'444'800; day += 86400) {
    std::int64_t from = day, to = day + 86400;
    if (zone.offset(from) == zone.offset(to)) continue;
    while (to - from > 1) {
      const std::int64_t middle = from + (to - from) / 2;
      (zone.offset(middle) == zone.offset(from) ? from : to) = middle;
    }
    ASSERT_EQ(zone.offset(from), libc_offset(from)) << GetParam() << " at " << from;
    ASSERT_EQ(zone.offset(to), libc_offset(to)) << GetParam() << " at " << to;
  }
  ::unsetenv("TZ");
  ::tzset();
}

INSTANTIATE_TEST_SUITE_P(World, Zone,
                         testing::Values("UTC", "Europe/Berlin", "America/New_York", "Australia/Sydney",
                                         "Europe/Dublin", "Australia/Lord_Howe", "America/Nuuk", "Africa/Cairo",
                                         "Asia/Kathmandu", "Asia/Tokyo", "Africa/Casablanca", "America/Sao_Paulo",
                                         "Asia/Tehran", "Pacific/Apia", "Etc/GMT+5"),
                         [](const auto& zone) {
                           std::string name = zone.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

// A file of one rule and no list of changes.
std::string only_rule(const std::string& rule) {
  std::string block =
      "TZif2" + std::string(15 + 16, '\0') + std::string("\0\0\0\1\0\0\0\4", 8) + std::string(6, '\0') + "UTC";
  block += '\0';
  return block + block + "\n" + rule + "\n";
}

TEST(TimeZone, FollowsEveryKindOfRule) {
  for (const char* rule :
       {"UTC0", "<+0530>-5:30", "EST5EDT,M3.2.0,M11.1.0", "AAA5BBB4,59,299/1", "<+03>-3<+04>,J60/-2,J300/26:30:10",
        "CET-1CEST,M3.5.0,M10.5.0/3", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "AEST-10AEDT,M10.1.0,M4.1.0/3",
        "IST-1GMT0,M10.5.0,M3.5.0/1"}) {
    ::setenv("TZ", rule, 1);
    ::tzset();
    const TimeZone zone(only_rule(rule), rule);
    Stream random({.seed = 4});
    for (int i = 0; i < 20'000; ++i) {
      const auto utc = static_cast<std::int64_t>(random.uniform() * 7'258'118'400.0);  // 1970 to 2200
      ASSERT_EQ(zone.offset(utc), libc_offset(utc)) << rule << " at " << utc;
    }
    for (const std::int64_t year : {2023, 2024}) {  // every minute around the changes, in a leap year and another one
      const std::int64_t start = *parse_timestamp(fmt::format("{}-01-01T00:00:00Z", year));
      for (std::int64_t utc = start - 86400; utc < start + 367 * 86400; utc += 60) {
        ASSERT_EQ(zone.offset(utc), libc_offset(utc)) << rule << " at " << utc;
      }
    }
  }
  ::unsetenv("TZ");
  ::tzset();
  for (const char* rule :
       {"CET", "CET-1CEST", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.0", "CET-999", "CET-1CEST,M3.5.0,M10.5.0x"}) {
    EXPECT_THROW(TimeZone(only_rule(rule), rule), Error) << rule;
  }
}

TEST(TimeZone, RefusesNamesThatAreNoZones) {
  for (const char* name : {"", "Nowhere/Town", "../../../etc/passwd", "/etc/localtime", "Europe", "tzdata.zi"}) {
    expect_mentions(message_of([&] { TimeZone::load(name); }), {"time zone"});
  }
}

// Any change of a file is read or refused, and never a crash; the fuzz target does more of it.
TEST(TimeZone, RefusesDamagedFiles) {
  const std::string good = read_file("/usr/share/zoneinfo/Europe/Berlin");
  EXPECT_THROW(TimeZone("", "x"), Error);
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_THROW(TimeZone(good.substr(0, size), "x"), Error);
  Stream random({.seed = 2});
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (int n = 0; n < 3; ++n) {
      bytes[random.index(static_cast<std::uint32_t>(bytes.size()))] = static_cast<char>(random.word());
    }
    try {
      TimeZone(bytes, "x").offset(1'800'000'000);
    } catch (const Error&) {
    }
  }
}

TEST(Timestamp, AgreesWithLibc) {
  Stream random({.seed = 3});
  for (int i = 0; i < 20'000; ++i) {
    const auto utc = first_second + static_cast<std::int64_t>(random.uniform() * double(last_second - first_second));
    const std::time_t time = utc;
    std::tm date{};
    ::gmtime_r(&time, &date);
    const std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", date.tm_year + 1900, date.tm_mon + 1,
                                         date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec);
    ASSERT_EQ(parse_timestamp(text + "Z"), utc) << text;
    ASSERT_EQ(parse_timestamp(text + ".75+05:30"), utc - 19800) << text;
    ASSERT_EQ(parse_timestamp(text + "-01:15"), utc + 4500) << text;
  }
  EXPECT_EQ(parse_timestamp("1970-01-01 00:01Z"), 60);
  EXPECT_EQ(parse_timestamp("2016-12-31T23:59:60Z"), parse_timestamp("2017-01-01T00:00:00Z"));
}

TEST(Timestamp, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "now", "2026-11-17", "2026-11-17T10:18:57", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "2026-11-17T24:00:00Z", "2026-11-17T10:18:57+1", "2026-11-17T10:18:57ZZ", "0000-01-01T00:00:00Z",
        "2026-11-17T10:18:57.Z", "2026-11-17T10:18:57.1", " 2026-11-17T10:18:57Z"}) {
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace pits::test
