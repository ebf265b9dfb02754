// Local time in a named IANA zone, from the system's zoneinfo files (TZif, RFC 8536). A zone is read once and never
// changes, so that any number of threads can use it; libc's own conversion depends on the process's one TZ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pits {

// When a yearly change of offset happens: the rule of POSIX TZ strings, in which TZif files say what follows their
// list.
struct YearlyChange {
  enum class Kind { month_week_day, day_of_365, day_of_year } kind = Kind::month_week_day;
  int month = 1, week = 1, day = 0;  // day: of the week (0 = Sunday), 1..365 without 29 February, or 0..365
  std::int64_t second = 7200;        // after midnight; may be negative or beyond a day

  std::int64_t local_second(int year) const;  // since 1970, by the clock before the change
};

class TimeZone {
 public:
  // By its name, e.g. "Europe/Berlin". An Error where there is no such zone.
  static TimeZone load(const std::string& name);
  // From the bytes of a TZif file; `name` is what errors call it.
  TimeZone(std::string_view tzif, std::string_view name);

  // Seconds east of UTC at a time in seconds since 1970.
  std::int64_t offset(std::int64_t utc) const;

 private:
  struct Transition {
    std::int64_t at;
    std::int64_t offset;
  };

  void read_rule(std::string_view text);  // of a POSIX TZ string
  std::int64_t offset_by_rule(std::int64_t utc) const;

  std::int64_t first_offset_ = 0;        // before the first transition
  std::vector<Transition> transitions_;  // in order of time
  std::string name_;
  bool has_rule_ = false, has_summer_ = false;
  std::int64_t standard_ = 0, summer_ = 0;
  YearlyChange to_summer_, to_standard_;
};

}  // namespace pits
