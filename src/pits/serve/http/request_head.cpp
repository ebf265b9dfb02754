#include "pits/serve/http/request_head.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>

namespace pits {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using Text = beast::string_view;

std::string_view view(Text text) { return {text.data(), text.size()}; }

// RFC 3986: the characters of host and port.
bool is_host_character(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || std::string_view("-._~!$&'()*+,;=:[]%").find(c) != std::string_view::npos;
}

// RFC 3986: what a path and a query may have without an escape, and '%'.
constexpr auto target_characters = [] {
  std::array<bool, 256> allowed{};
  for (int c = 0x21; c < 0x7f; ++c) allowed[static_cast<std::size_t>(c)] = true;
  for (const char c : std::string_view("\"#<>\\^`{|}")) allowed[static_cast<unsigned char>(c)] = false;
  return allowed;
}();
bool is_target_character(char c) { return target_characters[static_cast<unsigned char>(c)]; }

// request_parser without the table of fields that it would allocate: those that matter are taken as they come.
class HeadParser final : public http::basic_parser<true> {
 public:
  RequestHead head{};
  int hosts = 0;
  bool coded = false;  // has a Transfer-Encoding

 private:
  using Code = beast::error_code;

  void refuse(int status, Code& code) {
    head.status = status;
    code = http::error::bad_value;
  }

  void on_request_impl(http::verb verb, Text method, Text target, int version, Code& code) override {
    head.method = view(method);
    head.target = view(target);
    head.http10 = version < 11;
    if (verb == http::verb::unknown || verb == http::verb::connect || verb == http::verb::trace) {
      refuse(501, code);
    } else if (!std::all_of(target.begin(), target.end(), is_target_character)) {
      refuse(400, code);
    }
  }

  void on_field_impl(http::field name, Text, Text value, Code& code) override {
    switch (name) {
      case http::field::host:
        if (++hosts > 1 || !std::all_of(value.begin(), value.end(), is_host_character)) refuse(400, code);
        head.host = view(value);
        break;
      case http::field::origin: head.origin = view(value); break;
      case http::field::authorization:
        if (head.authorization.data() != nullptr) refuse(400, code);
        head.authorization = view(value);
        break;
      case http::field::content_length: on_length(view(value), code); break;
      case http::field::transfer_encoding: on_encoding(value, code); break;
      case http::field::expect: head.expects_continue = beast::iequals(value, "100-continue"); break;
      default: break;
    }
  }

  // Beast allows lists and repetitions of the same number.
  void on_length(std::string_view value, Code& code) {
    if (lengths_++ > 0 || value.find_first_not_of("0123456789") != value.npos) return refuse(400, code);
    head.length = number(value);
  }

  // RFC 9112, 6.1 and 6.3: the last coding must be chunked, once, and there is no other that we know.
  void on_encoding(Text value, Code& code) {
    int codings = 0, chunked = 0;
    bool last = false;
    for (const Text coding : http::token_list{value}) {
      last = beast::iequals(coding, "chunked");
      chunked += last ? 1 : 0;
      ++codings;
    }
    if (coded || head.http10 || chunked > 1 || (chunked == 1 && !last) || codings == 0) return refuse(400, code);
    if (codings > 1 || chunked == 0) return refuse(501, code);
    coded = head.chunked = true;
  }

  static std::uint64_t number(std::string_view digits) {
    std::uint64_t n = 0;  // Beast has checked that it fits
    for (const char c : digits) n = 10 * n + static_cast<std::uint64_t>(c - '0');
    return n;
  }

  void on_response_impl(int, Text, int, Code&) override {}
  void on_header_impl(Code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Code&) override {}
  std::size_t on_body_impl(Text body, Code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, Text, Code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Code&) override { return body.size(); }
  void on_finish_impl(Code&) override {}

  int lengths_ = 0;
};

// "... HTTP/2.0": a version that exists, but not here.
bool names_other_version(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\r'));
  const std::size_t at = line.rfind(" HTTP/");
  if (at == line.npos) return false;
  const std::string_view version = line.substr(at + 6);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return version.size() == 3 ? digit(version[0]) && version[1] == '.' && digit(version[2])
                             : version.size() == 1 && digit(version[0]);
}

// Clients send the same head again and again, but for the length of the body.
constexpr std::size_t known_heads = 256, most_known = 1024;  // of a thread; bytes of each
struct KnownHead {
  std::string text{};
  RequestHead head{};
};

// The same head, whose views point into an equal text.
RequestHead moved(RequestHead head, std::string_view from, std::string_view to) {
  for (std::string_view* view : {&head.method, &head.target, &head.host, &head.origin, &head.authorization}) {
    *view = view->empty() ? std::string_view()
                          : to.substr(static_cast<std::size_t>(view->data() - from.data()), view->size());
  }
  return head;
}

}  // namespace

RequestHead read_request_head(std::string_view text) {
  HeadParser parser;
  parser.header_limit(static_cast<std::uint32_t>(text.size() + 1));
  parser.skip(true);  // the body is not Beast's
  beast::error_code error;
  const std::size_t taken = parser.put(boost::asio::const_buffer(text.data(), text.size()), error);
  RequestHead& head = parser.head;
  if (head.status == 0 && error == http::error::bad_version && names_other_version(text)) head.status = 505;
  if (head.status == 0 && (error || !parser.is_done() || taken != text.size())) head.status = 400;
  if (head.status == 0 && parser.hosts == 0 && !head.http10) head.status = 400;
  if (head.status == 0) head.keep_alive = parser.keep_alive();
  return head;
}

// A head that is taken depends on its bytes alone: those that came lately on this thread need not be read again.
RequestHead parse_request_head(std::string_view text) {
  thread_local std::array<KnownHead, known_heads> all;
  if (text.size() > most_known) return read_request_head(text);
  KnownHead& known = all[std::hash<std::string_view>()(text) % known_heads];
  if (known.text != text) {
    const RequestHead head = read_request_head(text);
    if (head.status != 0) return head;
    known.text = text;
    known.head = moved(head, text, known.text);
  }
  return moved(known.head, known.text, text);
}

}  // namespace pits
