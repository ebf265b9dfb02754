// The reader of time zone files.
#include "fuzz/target.h"
#include "pits/schema/time_zone.h"

namespace pits::fuzz {

bool reads(std::string_view bytes) {
  try {
    const TimeZone zone(bytes, "file");
    for (std::int64_t utc = -62'135'596'800; utc <= 253'402'300'799; utc += 31'000'000'000) zone.offset(utc);
    for (const std::int64_t utc : {0, 1'800'000'000}) zone.offset(utc);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace pits::fuzz
