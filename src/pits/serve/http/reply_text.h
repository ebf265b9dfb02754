// Replies as they go over the wire.
#pragma once

#include "pits/serve/http/http.h"

namespace pits {

// What the request says about its reply.
struct ReplyFrame {
  bool head_only = false;  // HEAD
  bool http10 = false;
  bool close = false;
};

void append_reply(std::string& out, const HttpReply& reply, const ReplyFrame& frame, std::string_view date);

// {"error": "..."} for a status that the server gives by itself.
HttpReply error_reply(int status);

// "Tue, 17 Nov 2026 13:50:12 GMT"
std::string http_date(std::chrono::system_clock::time_point t);

}  // namespace pits
