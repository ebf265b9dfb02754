// Times as callers write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pits {

// Seconds since 1970, UTC, of RFC 3339 text: 2026-11-17T10:18:57Z or 2026-11-17 10:18:57.25+01:00; seconds may be left
// out. None where it is anything else, e.g. without an offset; a fraction is dropped. Years 1 to 9999.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

constexpr std::int64_t first_second = -62'135'596'800, last_second = 253'402'300'799;  // of those years

}  // namespace pits
