// The request line and the fields of one request, by Boost.Beast's parser (docs/decisions/http.md).
#pragma once

#include <cstdint>
#include <string_view>

namespace pits {

struct RequestHead {
  int status = 0;  // 0: accepted; else why it is refused
  std::string_view method{}, target{}, host{}, origin{}, authorization{};
  bool http10 = false, keep_alive = false, expects_continue = false, chunked = false;
  std::uint64_t length = 0;  // of the body
};

// `text` ends with the empty line; its lines end with CRLF and none is folded. The views point into it.
RequestHead read_request_head(std::string_view text);
// The same, which remembers the last heads of this thread.
RequestHead parse_request_head(std::string_view text);

}  // namespace pits
