#include "pits/schema/timestamp.h"

#include <chrono>

namespace pits {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  // A number of exactly so many digits, at most `most`.
  int digits(std::size_t n, int most) {
    int value = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const bool digit = i < left_.size() && left_[i] >= '0' && left_[i] <= '9';
      if (!digit) return fail();
      value = 10 * value + (left_[i] - '0');
    }
    left_.remove_prefix(n);
    return value <= most ? value : fail();
  }
  bool skip(std::string_view any) {
    if (left_.empty() || any.find(left_.front()) == std::string_view::npos) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(std::string_view any) {
    if (!skip(any)) fail();
  }
  void skip_fraction() {
    if (!skip(".")) return;
    digits(1, 9);
    left_.remove_prefix(std::min(left_.find_first_not_of("0123456789"), left_.size()));
  }
  int fail() {
    good_ = false;
    left_ = {};
    return 1;
  }
  bool good() const { return good_ && left_.empty(); }

 private:
  std::string_view left_;
  bool good_ = true;
};

}  // namespace

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  Reader in(text);
  const int year = in.digits(4, 9999);
  in.expect("-");
  const int month = in.digits(2, 12);
  in.expect("-");
  const int day = in.digits(2, 31);
  in.expect("Tt ");
  const int hour = in.digits(2, 23);
  in.expect(":");
  const int minute = in.digits(2, 59);
  int second = 0;
  if (in.skip(":")) {
    second = in.digits(2, 60);  // a leap second counts as the one after it
    in.skip_fraction();
  }
  int east = 0;  // minutes
  if (!in.skip("Zz")) {
    const bool west = in.skip("-");
    if (!west) in.expect("+");
    east = 60 * in.digits(2, 23);
    in.expect(":");
    east += in.digits(2, 59);
    if (west) east = -east;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!in.good() || !date.ok() || year == 0) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86400 + hour * 3600 + (minute - east) * 60 + second;
}

}  // namespace pits
