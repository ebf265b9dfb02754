// The parser of HTTP requests.
#include "fuzz/target.h"
#include "tests/serve/parsed.h"

namespace pits::fuzz {

bool reads(std::string_view bytes) {
  const HttpConfig limits{.most_header = 512, .most_headers = 8, .most_body = 256};
  return reads_in_any_pieces(bytes, [&](std::size_t piece) {
    const std::vector<std::string> requests = test::parsed(bytes, piece, limits);
    std::string text;
    for (const std::string& request : requests) text += request + "\n";
    if (requests.back() != "more") throw bad_input("{}", text);  // refused
    return text;
  });
}

}  // namespace pits::fuzz
