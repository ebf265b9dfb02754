// The requests in a stream of bytes: HTTP/1.1 and 1.0 (RFC 9112). It needs no socket.
//
// What two implementations could read in two ways (request smuggling) is refused, never repaired.
#pragma once

#include "pits/serve/http/chunked_body.h"
#include "pits/serve/http/http.h"

namespace pits {

constexpr std::size_t readable_after_body = 64;

class RequestParser {
 public:
  enum class State { more, request, refused };

  explicit RequestParser(const HttpConfig& limits) : limits_(limits) {}

  // Takes the next request from the front of `input`, which 64 readable bytes follow. What is left of the input must
  // come again, followed by more bytes. `request`: its views are valid until the next call, and while the memory of the
  // input is. `refused`: status() says why; there is no next request.
  State next(std::string_view& input);

  const HttpRequest& request() const { return request_; }
  bool keep_alive() const { return keep_alive_; }
  bool http10() const { return http10_; }
  int status() const { return status_; }

  bool in_body() const { return in_body_; }               // the head is taken, the body is not complete
  std::size_t body_size() const { return body_.size(); }  // of which this much is there
  std::size_t kept() const { return body_.capacity(); }   // bytes of memory, for bodies that come in pieces
  void forget_body() { std::string().swap(body_); }       // where no request will follow
  // The client sends the body after a "100 Continue"; true once per request.
  bool take_expectation();

 private:
  State refuse(int status);
  State find_head(std::string_view input);
  State check_line(std::string_view line);
  State take_head(std::string_view& input);
  State parse_head(std::string_view head);
  State split_target(std::string_view target);
  State take_body(std::string_view& input);
  void keep_head(std::string_view head);

  const HttpConfig& limits_;
  HttpRequest request_{};
  bool keep_alive_ = false, http10_ = false, expects_ = false;
  int status_ = 0;

  // The head: end of the last complete line, bytes without a '\n', lines of fields, size.
  std::size_t line_ = 0, scanned_ = 0, fields_ = 0, head_size_ = 0;
  bool empty_line_before_ = false;
  std::string head_{};  // kept while the body is on its way

  bool in_body_ = false, chunked_ = false;
  std::size_t length_ = 0;
  ChunkedBody chunks_{};
  std::string body_{};  // that came in pieces
};

}  // namespace pits
