#include "pits/serve/http/request_parser.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "pits/serve/http/request_head.h"
#include "serve/parsed.h"

namespace pits::test {
namespace {

// A plain writer of requests, valid or with one byte changed.
std::string any_request() {
  const auto body = *rc::gen::container<std::string>(rc::gen::inRange<char>(-128, 127));
  std::string text =
      *rc::gen::element<std::string>("GET /a?b HTTP/1.1\r\n", "POST /%20 HTTP/1.1\r\n", "PUT / HTTP/1.0\r\n");
  text += *rc::gen::element<std::string>("Host: here\r\n", "host:here\r\nAuthorization: Bearer x\r\n");
  if (*rc::gen::arbitrary<bool>()) {
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  } else {
    text += "Transfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t n = std::min(*rc::gen::inRange<std::size_t>(1, 20), body.size() - at);
      text += fmt::format("{:x}{}\r\n", n, *rc::gen::element<std::string>("", ";x", " ;x=\"y\"")) + body.substr(at, n) +
              "\r\n";
      at += n;
    }
    text += *rc::gen::element<std::string>("0\r\n\r\n", "000\r\nA: b\r\n\r\n");
  }
  if (*rc::gen::inRange(0, 4) == 0) text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  return text;
}

RC_GTEST_PROP(RequestParser, PiecesDoNotMatter, ()) {
  std::string text;
  for (int n = *rc::gen::inRange(1, 5); n > 0; --n) text += any_request();
  const HttpConfig limits{.most_header = 200, .most_headers = 5, .most_body = 60};
  const auto cut = *rc::gen::inRange<std::size_t>(1, 50);
  RC_ASSERT(parsed(text, cut, limits) == parsed(text, text.size(), limits));
}

RC_GTEST_PROP(RequestParser, BodiesComeBack, ()) {
  const auto bodies = *rc::gen::container<std::vector<std::string>>(rc::gen::arbitrary<std::string>());
  std::string text;
  std::vector<std::string> expected;
  for (const std::string& body : bodies) {
    text += fmt::format("POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
    expected.push_back("POST /x  [" + body + "] keep");
  }
  expected.push_back("more");
  RC_ASSERT(parsed(text, *rc::gen::inRange<std::size_t>(1, 50), {}) == expected);
}

void expect_same(const RequestHead& head, const RequestHead& plain, std::string_view text) {
  RC_ASSERT(head.status == plain.status);
  if (head.status != 0) return;
  for (const auto view : {&RequestHead::method, &RequestHead::target, &RequestHead::host, &RequestHead::origin,
                          &RequestHead::authorization}) {
    RC_ASSERT((head.*view) == (plain.*view));
    const bool inside = (head.*view).data() >= text.data() && (head.*view).end() <= text.end();
    RC_ASSERT((head.*view).empty() || inside);
  }
  RC_ASSERT(head.http10 == plain.http10);
  RC_ASSERT(head.keep_alive == plain.keep_alive);
  RC_ASSERT(head.expects_continue == plain.expects_continue);
  RC_ASSERT(head.chunked == plain.chunked);
  RC_ASSERT(head.length == plain.length);
}

// A head that is known from before is the one that is read.
RC_GTEST_PROP(RequestHead, OneThatIsKnownIsTheSame, ()) {
  const std::string request = any_request();
  const std::string text = request.substr(0, std::min(request.find("\r\n\r\n"), request.size() - 4) + 4);
  const RequestHead plain = read_request_head(text);
  for (const std::string& copy : {text, std::string(text)}) expect_same(parse_request_head(copy), plain, copy);
}

// A head of exactly the limits is accepted, one more byte or line is not.
TEST(RequestParser, LimitsAreExact) {
  const std::string start = "GET /x HTTP/1.1\r\nHost: here\r\n";
  const auto with_size = [&](std::size_t size) {
    return start + "A: " + std::string(size - start.size() - 7, 'a') + "\r\n\r\n";
  };
  const HttpConfig limits{.most_header = 100, .most_headers = 4, .most_body = 10};
  const std::vector<std::string> accepted{"GET /x  [] keep", "more"};
  EXPECT_EQ(parsed(with_size(100), 7, limits), accepted);
  EXPECT_EQ(parsed(with_size(101), 7, limits), (std::vector<std::string>{"431"}));
  EXPECT_EQ(parsed(start + "A: b\r\nA: b\r\nA: b\r\n\r\n", 7, limits), accepted);
  EXPECT_EQ(parsed(start + "A: b\r\nA: b\r\nA: b\r\nA: b\r\n\r\n", 7, limits), (std::vector<std::string>{"431"}));
  const std::string chunked = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(parsed(chunked + "7\r\nabcdefg\r\n3\r\nhij\r\n0\r\n\r\n", 7, limits),
            (std::vector<std::string>{"POST /x  [abcdefghij] keep", "more"}));
  EXPECT_EQ(parsed(chunked + "7\r\nabcdefg\r\n4\r\nhijk\r\n0\r\n\r\n", 7, limits), (std::vector<std::string>{"413"}));
}

}  // namespace
}  // namespace pits::test
