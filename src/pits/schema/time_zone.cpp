#include "pits/schema/time_zone.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "pits/core/error.h"
#include "pits/core/io/files.h"

namespace pits {
namespace {

constexpr std::int64_t day_seconds = 86400;
constexpr std::size_t header_size = 44;
constexpr std::size_t largest_file = 1 << 20;

std::int64_t midnight(std::chrono::sys_days day) { return std::int64_t{day.time_since_epoch().count()} * day_seconds; }

int year_of(std::int64_t second) {
  const std::chrono::sys_seconds time{std::chrono::seconds(second)};
  return static_cast<int>(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(time)).year());
}

// Big-endian numbers, one after another.
class Bytes {
 public:
  Bytes(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size()) throw damaged();
    const std::string_view taken = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return taken;
  }
  std::int64_t number(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view taken = take(size);
    for (const char c : taken) value = value << 8U | static_cast<unsigned char>(c);
    const bool negative = (static_cast<unsigned char>(taken.front()) & 0x80U) != 0;
    if (negative && size < 8) value |= ~std::uint64_t{0} << 8 * size;
    return static_cast<std::int64_t>(value);
  }
  std::string_view rest() const { return bytes_; }
  Error damaged() const { return bad_input("the zoneinfo file of '{}' is damaged", name_); }

 private:
  std::string_view bytes_, name_;
};

struct Header {
  char version;
  std::uint64_t is_ut, is_standard, leaps, transitions, types, letters;

  std::uint64_t block_size(std::size_t time_size) const {
    return transitions * (time_size + 1) + types * 6 + letters + leaps * (time_size + 4) + is_standard + is_ut;
  }
};

Header read_header(Bytes& bytes) {
  const std::string_view head = bytes.take(header_size);
  if (!head.starts_with("TZif")) throw bytes.damaged();
  Bytes counts(head.substr(20), "");
  const auto next = [&] { return static_cast<std::uint64_t>(counts.number(4)) & 0xffffffffU; };
  Header h{.version = head[4],
           .is_ut = next(),
           .is_standard = next(),
           .leaps = next(),
           .transitions = next(),
           .types = next(),
           .letters = next()};
  if (h.types == 0) throw bytes.damaged();
  return h;
}

// The parts of a POSIX TZ string: std offset [dst [offset] , start [/time] , end [/time]].
class Rule {
 public:
  Rule(std::string_view text, std::string_view name) : left_(text), name_(name) {}

  bool done() const { return left_.empty(); }
  bool next_is(char c) const { return left_.starts_with(c); }
  void expect(char c) {
    if (!next_is(c)) throw wrong();
    left_.remove_prefix(1);
  }
  void skip_letters() {  // the name of a time: letters, or anything in < >
    const std::size_t end = next_is('<') ? left_.find('>') : left_.find_first_of("+-0123456789,");
    if (end == 0 || end == std::string_view::npos) throw wrong();
    left_.remove_prefix(end + (next_is('<') ? 1 : 0));
  }
  // [+-]hh[:mm[:ss]]
  std::int64_t seconds() {
    const bool negative = next_is('-');
    if (negative || next_is('+')) left_.remove_prefix(1);
    std::int64_t total = whole(167) * 3600;
    for (const std::int64_t unit : {60, 1}) {
      if (!next_is(':')) break;
      expect(':');
      total += whole(59) * unit;
    }
    return negative ? -total : total;
  }
  YearlyChange change() {
    YearlyChange c;
    if (next_is('M')) {
      expect('M');
      c.month = at_least_one(12);
      expect('.');
      c.week = at_least_one(5);
      expect('.');
      c.day = whole(6);
    } else if (next_is('J')) {
      expect('J');
      c.kind = YearlyChange::Kind::day_of_365;
      c.day = at_least_one(365);
    } else {
      c.kind = YearlyChange::Kind::day_of_year;
      c.day = whole(365);
    }
    if (next_is('/')) {
      expect('/');
      c.second = seconds();
    }
    return c;
  }
  Error wrong() const { return bad_input("the zoneinfo file of '{}' has a rule that cannot be read", name_); }

 private:
  int whole(int most) {
    int value = 0;
    const std::size_t digits = std::min(left_.find_first_not_of("0123456789"), left_.size());
    if (digits == 0 || digits > 3) throw wrong();
    for (const char c : left_.substr(0, digits)) value = 10 * value + (c - '0');
    left_.remove_prefix(digits);
    if (value > most) throw wrong();
    return value;
  }
  int at_least_one(int most) {
    const int value = whole(most);
    if (value == 0) throw wrong();
    return value;
  }

  std::string_view left_, name_;
};

// Letters, digits and + - _ in parts joined by /: no way out of the directory.
bool is_zone_name(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '+' || c == '/';
  };
  return !name.empty() && name.size() < 100 && name.front() != '/' && std::ranges::all_of(name, good);
}

}  // namespace

std::int64_t YearlyChange::local_second(int year) const {
  using namespace std::chrono;
  const std::chrono::year y{year};
  switch (kind) {
    case Kind::day_of_year: return midnight(sys_days(y / January / 1) + days(day)) + second;
    case Kind::day_of_365: {
      const int leap_day = y.is_leap() && day >= 60 ? 1 : 0;  // 29 February is never counted
      return midnight(sys_days(y / January / 1) + days(day - 1 + leap_day)) + second;
    }
    case Kind::month_week_day: break;
  }
  const std::chrono::month m{static_cast<unsigned>(month)};
  const weekday wanted{static_cast<unsigned>(day)};
  const sys_days found =
      week == 5 ? sys_days(y / m / wanted[last]) : sys_days(y / m / wanted[static_cast<unsigned>(week)]);
  return midnight(found) + second;
}

TimeZone TimeZone::load(const std::string& name) {
  const std::filesystem::path file = std::filesystem::path("/usr/share/zoneinfo") / name;
  std::error_code error;
  if (!is_zone_name(name) || !std::filesystem::is_regular_file(file, error)) {
    throw bad_input(
        "there is no time zone '{}' in /usr/share/zoneinfo (Debian: tzdata); write e.g. Europe/Berlin or UTC", name);
  }
  return {read_file(file, largest_file), name};
}

TimeZone::TimeZone(std::string_view tzif, std::string_view name) : name_(name) {
  Bytes bytes(tzif, name_);
  Header header = read_header(bytes);
  const bool wide = header.version >= '2';  // the first block has 32-bit times; a second one with 64 bits follows
  if (wide) {
    bytes.take(header.block_size(4));
    header = read_header(bytes);
  }
  const std::size_t size = wide ? 8 : 4;
  Bytes times(bytes.take(header.transitions * size), name_);
  Bytes kinds(bytes.take(header.transitions), name_);
  std::vector<std::int64_t> offsets;
  for (std::uint64_t i = 0; i < header.types; ++i) {
    offsets.push_back(bytes.number(4));
    bytes.take(2);
  }
  bytes.take(header.letters + header.leaps * (size + 4) + header.is_standard + header.is_ut);
  first_offset_ = offsets.front();
  for (std::uint64_t i = 0; i < header.transitions; ++i) {
    const std::int64_t at = times.number(size);
    const auto kind = static_cast<std::uint64_t>(kinds.number(1));
    if (kind >= offsets.size() || (i > 0 && at <= transitions_.back().at)) throw bytes.damaged();
    transitions_.push_back({at, offsets[kind]});
  }
  if (!wide) return;
  const std::string_view footer = bytes.rest();
  if (footer.size() < 2 || footer.front() != '\n' || footer.back() != '\n') throw bytes.damaged();
  read_rule(footer.substr(1, footer.size() - 2));
}

void TimeZone::read_rule(std::string_view text) {
  if (text.empty()) return;
  Rule rule(text, name_);
  rule.skip_letters();
  standard_ = -rule.seconds();  // POSIX counts west of UTC
  has_rule_ = true;
  if (rule.done()) return;
  has_summer_ = true;
  rule.skip_letters();
  summer_ = rule.next_is(',') ? standard_ + 3600 : -rule.seconds();
  rule.expect(',');
  to_summer_ = rule.change();
  rule.expect(',');
  to_standard_ = rule.change();
  if (!rule.done()) throw rule.wrong();
}

std::int64_t TimeZone::offset(std::int64_t utc) const {
  if (transitions_.empty()) return has_rule_ ? offset_by_rule(utc) : first_offset_;
  if (utc < transitions_.front().at) return first_offset_;
  if (utc >= transitions_.back().at && has_rule_) return offset_by_rule(utc);
  const auto after = std::ranges::upper_bound(transitions_, utc, {}, &Transition::at);
  return std::prev(after)->offset;
}

std::int64_t TimeZone::offset_by_rule(std::int64_t utc) const {
  if (!has_summer_) return standard_;
  const int year = year_of(utc + standard_);
  const std::int64_t summer = to_summer_.local_second(year) - standard_;
  const std::int64_t winter = to_standard_.local_second(year) - summer_;
  const bool is_summer = summer < winter ? utc >= summer && utc < winter : utc >= summer || utc < winter;
  return is_summer ? summer_ : standard_;
}

}  // namespace pits
