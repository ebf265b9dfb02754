// What the parser makes of bytes that come in pieces: a line per request, then "more" or the status of the refusal.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "pits/serve/http/request_parser.h"

namespace pits::test {

inline std::vector<std::string> parsed(std::string_view text, std::size_t piece, const HttpConfig& limits) {
  RequestParser parser(limits);
  std::vector<std::string> out;
  std::string input;
  while (!text.empty()) {
    const std::string_view came = text.substr(0, piece);
    text.remove_prefix(came.size());
    input.append(came);
    input.reserve(input.size() + readable_after_body);
    std::string_view rest = input;
    RequestParser::State state = RequestParser::State::request;
    while ((state = parser.next(rest)) == RequestParser::State::request) {
      const HttpRequest& r = parser.request();
      out.push_back(fmt::format("{} {} {} [{}] {}", r.method, r.path, r.authorization, r.body,
                                parser.keep_alive() ? "keep" : "close"));
    }
    if (state == RequestParser::State::refused) {
      out.push_back(fmt::format("{}", parser.status()));
      return out;
    }
    input.erase(0, input.size() - rest.size());
  }
  out.push_back("more");
  return out;
}

}  // namespace pits::test
