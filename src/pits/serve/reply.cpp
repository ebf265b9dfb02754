#include "pits/serve/reply.h"

#include "pits/core/damaged.h"

namespace pits {

StatusError status_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const StatusError& e) {
    return e;
  } catch (const Error& e) {
    if (is_refusal(e)) return {400, e.what()};
    return unavailable("{}", e.what());
  } catch (const std::exception& e) {
    return status_error(500, "the service failed: {}", e.what());
  }
}

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

Reply::Reply(Answerer answerer, RequestMetrics& metrics, std::size_t route, const std::string* page)
    : answerer_(std::move(answerer)), metrics_(&metrics), route_(route), page_(page), start_(RequestMetrics::now()) {}

void Reply::operator()(HttpReply reply) {
  metrics_->add(route_, reply.status, RequestMetrics::now() - start_);
  if (page_ != nullptr) {
    reply.headers += fmt::format(
        "Access-Control-Allow-Origin: {}\r\nAccess-Control-Expose-Headers: Retry-After\r\nVary: Origin\r\n", *page_);
  }
  answerer_(std::move(reply));
}

void Reply::operator()(const std::exception_ptr& error) { (*this)(status_of(error)); }

void Reply::operator()(const StatusError& error) {
  (*this)(HttpReply{.status = error.status(),
                    .body = fmt::format("{{\"error\": {}}}\n", json_text(error.what())),
                    .retry_after = error.retry_after()});
}

}  // namespace pits
