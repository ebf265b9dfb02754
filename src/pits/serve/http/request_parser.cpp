#include "pits/serve/http/request_parser.h"

#include <algorithm>

#include "pits/serve/http/request_head.h"

namespace pits {
namespace {

constexpr std::size_t most_kept = 16384;  // bytes of a buffer that is kept for the next request

constexpr std::string_view crlf = "\r\n";

bool starts_method(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

}  // namespace

RequestParser::State RequestParser::refuse(int status) {
  status_ = status;
  return State::refused;
}

bool RequestParser::take_expectation() {
  const bool now = expects_ && in_body_ && body_.empty();
  if (now) expects_ = false;
  return now;
}

RequestParser::State RequestParser::next(std::string_view& input) {
  if (status_ != 0) return State::refused;
  if (!in_body_) {
    if (body_.capacity() > most_kept) forget_body();
    body_.clear();
    if (const State state = take_head(input); state != State::request) return state;
  }
  return take_body(input);
}

// A line with its CRLF: `more` lines follow, or the head is complete (`request`).
RequestParser::State RequestParser::check_line(std::string_view line) {
  if (line.size() < 2 || line[line.size() - 2] != '\r') return refuse(400);
  const bool first = line_ == 0;
  if (line.size() == 2) return first ? refuse(400) : State::request;
  if (first) return State::more;
  if (line.front() == ' ' || line.front() == '\t') return refuse(400);  // the folded lines of old
  return ++fields_ > limits_.most_headers ? refuse(431) : State::more;
}

// Looks for the empty line that ends the head.
RequestParser::State RequestParser::find_head(std::string_view input) {
  const std::string_view allowed = input.substr(0, limits_.most_header);
  for (;;) {
    const std::size_t end = allowed.find('\n', scanned_);
    if (end == allowed.npos) {
      scanned_ = allowed.size();
      if (allowed.size() == limits_.most_header) return refuse(line_ == 0 ? 414 : 431);
      return State::more;
    }
    const State state = check_line(allowed.substr(line_, end + 1 - line_));
    scanned_ = line_ = end + 1;
    if (state != State::more) return state;
  }
}

RequestParser::State RequestParser::take_head(std::string_view& input) {
  if (line_ == 0 && !empty_line_before_ && input.starts_with(crlf)) {  // RFC 9112, 2.2: one empty line is ignored
    input.remove_prefix(crlf.size());
    empty_line_before_ = true;
    scanned_ = 0;
  }
  if (input.empty() || (input == crlf.substr(0, 1) && !empty_line_before_)) return State::more;
  if (!starts_method(input.front())) return refuse(400);
  if (const State state = find_head(input); state != State::request) return state;
  head_size_ = line_;
  line_ = scanned_ = fields_ = 0;
  empty_line_before_ = false;
  return parse_head(input.substr(0, head_size_));
}

RequestParser::State RequestParser::parse_head(std::string_view text) {
  const RequestHead head = parse_request_head(text);
  if (head.status != 0) return refuse(head.status);
  if (!head.chunked && head.length > limits_.most_body) return refuse(413);
  request_ = {};
  request_.method = head.method;
  request_.host = head.host;
  request_.origin = head.origin;
  request_.authorization = head.authorization;
  keep_alive_ = head.keep_alive;
  http10_ = head.http10;
  expects_ = head.expects_continue && !head.http10;
  chunked_ = head.chunked;
  length_ = static_cast<std::size_t>(head.length);
  return split_target(head.target);
}

// "/path?query", "http://host/path?query", or "*" of OPTIONS. No request here has a query that means something.
RequestParser::State RequestParser::split_target(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
    if (!target.starts_with('/')) return refuse(400);
  }
  if (!target.starts_with('/') && !(target == "*" && request_.method == "OPTIONS")) return refuse(400);
  request_.path = target.substr(0, target.find('?'));
  return State::request;
}

// The body is on its way: the request must not point into the input any more.
void RequestParser::keep_head(std::string_view head) {
  if (head_.capacity() > most_kept) std::string().swap(head_);
  head_.assign(head);
  for (std::string_view* view :
       {&request_.method, &request_.path, &request_.host, &request_.origin, &request_.authorization}) {
    if (!view->empty())
      *view = std::string_view(head_).substr(static_cast<std::size_t>(view->data() - head.data()), view->size());
  }
  if (chunked_) chunks_.start(limits_.most_body, limits_.most_header);
  in_body_ = true;
}

RequestParser::State RequestParser::take_body(std::string_view& input) {
  if (!in_body_) {
    if (!chunked_ && input.size() - head_size_ >= length_) {  // all there: nothing is copied
      request_.body = input.substr(head_size_, length_);
      input.remove_prefix(head_size_ + length_);
      return State::request;
    }
    keep_head(input.substr(0, head_size_));
    input.remove_prefix(head_size_);
  }
  if (chunked_) {
    const ChunkedBody::State state = chunks_.take(input, body_);
    if (state == ChunkedBody::State::refused) return refuse(chunks_.status());
    if (state == ChunkedBody::State::more) return State::more;
  } else {
    const std::size_t n = std::min(length_ - body_.size(), input.size());
    body_.append(input.substr(0, n));
    input.remove_prefix(n);
    if (body_.size() < length_) return State::more;
  }
  body_.reserve(body_.size() + readable_after_body);
  request_.body = body_;
  in_body_ = false;
  return State::request;
}

}  // namespace pits
