// The reply to one request: sent once, from any thread, and measured.
#pragma once

#include "pits/serve/http/http.h"
#include "pits/serve/request_metrics.h"
#include "pits/serve/status_error.h"

namespace pits {

// "text" with the quotes and escapes of JSON.
void append_json(std::string& out, std::string_view text);
std::string json_text(std::string_view text);

class Reply {
 public:
  // `page`: the origin whose scripts may read the reply (CORS); nullptr: none. It must stay.
  Reply(Answerer answerer, RequestMetrics& metrics, std::size_t route, const std::string* page = nullptr);

  void operator()(HttpReply reply);
  void operator()(std::string body) { (*this)(HttpReply{.body = std::move(body)}); }
  // {"error": "..."} with the status of the error.
  void operator()(const std::exception_ptr& error);
  void operator()(const StatusError& error);

 private:
  Answerer answerer_;
  RequestMetrics* metrics_;
  std::size_t route_;
  const std::string* page_;
  RequestMetrics::Time start_;
};

}  // namespace pits
