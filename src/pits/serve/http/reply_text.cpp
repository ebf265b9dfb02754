#include "pits/serve/http/reply_text.h"

#include <fmt/format.h>

#include <ctime>

namespace pits {
namespace {

struct Status {
  int code;
  std::string_view line;      // "HTTP/1.1 200 OK\r\n"
  std::string_view sentence;  // of the replies that the server gives by itself
};

#define PITS_STATUS(code, reason, sentence) \
  { code, "HTTP/1.1 " #code " " reason "\r\n", sentence }
constexpr Status statuses[] = {
    PITS_STATUS(200, "OK", ""),
    PITS_STATUS(201, "Created", ""),
    PITS_STATUS(204, "No Content", ""),
    PITS_STATUS(400, "Bad Request", "the request is not valid HTTP/1.1"),
    PITS_STATUS(401, "Unauthorized", ""),
    PITS_STATUS(403, "Forbidden", ""),
    PITS_STATUS(404, "Not Found", ""),
    PITS_STATUS(405, "Method Not Allowed", ""),
    PITS_STATUS(408, "Request Timeout", "the request came too slowly"),
    PITS_STATUS(409, "Conflict", ""),
    PITS_STATUS(410, "Gone", ""),
    PITS_STATUS(413, "Content Too Large", "the body is too large"),
    PITS_STATUS(414, "URI Too Long", "the request line is too long"),
    PITS_STATUS(429, "Too Many Requests", "this address has too many connections"),
    PITS_STATUS(431, "Request Header Fields Too Large", "the headers are too large or too many"),
    PITS_STATUS(500, "Internal Server Error", "the request could not be answered"),
    PITS_STATUS(501, "Not Implemented", "the method or the transfer encoding is not known"),
    PITS_STATUS(503, "Service Unavailable", "the server is busy; try again"),
    PITS_STATUS(505, "HTTP Version Not Supported", "only HTTP/1.1 and HTTP/1.0 are spoken"),
};
#undef PITS_STATUS

const Status* find_status(int code) {
  for (const Status& status : statuses) {
    if (status.code == code) return &status;
  }
  return nullptr;
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(value).append("\r\n");
}

}  // namespace

void append_reply(std::string& out, const HttpReply& reply, const ReplyFrame& frame, std::string_view date) {
  const bool bodiless = reply.status == 204;
  if (const Status* status = find_status(reply.status)) {
    out.append(status->line);
  } else {
    out.append("HTTP/1.1 ").append(fmt::format_int(reply.status).c_str()).append(" Other\r\n");
  }
  append_field(out, "Date: ", date);
  if (!bodiless) {
    const fmt::format_int size(reply.body.size());
    append_field(out, "Content-Type: ", reply.type);
    append_field(out, "Content-Length: ", {size.data(), size.size()});
  }
  if (reply.retry_after > 0) append_field(out, "Retry-After: ", fmt::format_int(reply.retry_after).c_str());
  out.append(reply.headers);
  if (reply.status == 401) append_field(out, "WWW-Authenticate: ", "Bearer");
  if (frame.close) {
    append_field(out, "Connection: ", "close");
  } else if (frame.http10) {
    append_field(out, "Connection: ", "keep-alive");
  }
  out.append("\r\n");
  if (!bodiless && !frame.head_only) out.append(reply.body);
}

HttpReply error_reply(int status) {
  const Status* const known = find_status(status);
  HttpReply reply{.status = status, .retry_after = status == 503 || status == 429 ? 1 : 0};
  reply.body = fmt::format("{{\"error\":\"{}\"}}\n", known == nullptr ? "" : known->sentence);
  return reply;
}

std::string http_date(std::chrono::system_clock::time_point t) {
  constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = std::chrono::system_clock::to_time_t(t);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", days[utc.tm_wday], utc.tm_mday, months[utc.tm_mon],
                     utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace pits
