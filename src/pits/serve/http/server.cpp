#include <algorithm>
#include <thread>

#include "pits/core/error.h"
#include "pits/serve/http/loop.h"

namespace pits {

Answerer::Answerer(std::shared_ptr<HttpConnection> connection, std::uint64_t slot)
    : connection_(std::move(connection)), slot_(slot) {}

Answerer::Answerer(Answerer&&) noexcept = default;

Answerer::~Answerer() {
  if (connection_) (*this)(error_reply(500));
}

void Answerer::operator()(HttpReply&& reply) {
  const std::shared_ptr<HttpConnection> connection = std::move(connection_);
  if (!connection) throw failed("a request is answered twice");
  connection->post(slot_, std::move(reply));
}

struct HttpServer::Shared {
  HttpShared common;
  std::string address{};
  std::vector<std::unique_ptr<HttpLoop>> loops{};
};

HttpServer::HttpServer(HttpConfig config, HttpHandler handler, std::function<bool()> end_turn)
    : shared_(new Shared{
          .common{.config = std::move(config), .handler = std::move(handler), .end_turn = std::move(end_turn)}}) {
  const HttpConfig& c = shared_->common.config;
  if (c.certificate.empty() != c.private_key.empty()) throw bad_input("TLS needs both a certificate and its key");
  reload_certificates();
  std::vector<Listeners> listeners = make_listeners(c);
  shared_->address = listeners.front().front()->address();
  for (Listeners& own : listeners) {
    shared_->loops.push_back(std::make_unique<HttpLoop>(shared_->common, std::move(own)));
  }
}

HttpServer::~HttpServer() = default;

std::string HttpServer::address() const { return shared_->address; }

void HttpServer::reload_certificates() {
  HttpShared& common = shared_->common;
  if (common.config.certificate.empty()) return;
  TlsContext fresh(common.config.certificate, common.config.private_key);
  const std::lock_guard lock(common.tls_mutex);
  common.tls = std::move(fresh);
}

HttpCounters HttpServer::counters() const {
  const HttpShared& common = shared_->common;
  HttpCounters sum{.open = common.open.load(std::memory_order_relaxed),
                   .waiting = common.waiting.load(std::memory_order_relaxed),
                   .buffered = common.buffered.load(std::memory_order_relaxed)};
  for (const auto& loop : shared_->loops) {
    sum.accepted += loop->accepted;
    sum.refused += loop->refused;
    sum.requests += loop->requests;
    sum.malformed += loop->malformed;
    sum.timeouts += loop->timeouts;
  }
  return sum;
}

bool HttpServer::alive() const {
  constexpr std::chrono::seconds most{5};  // a loop turns at least every half second, or answers requests
  const auto now = std::chrono::steady_clock::now();
  return std::ranges::all_of(shared_->loops, [&](const auto& loop) { return now - loop->last_step() < most; });
}

void HttpServer::drain(std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  shared_->common.draining.store(true);
  for (const auto& loop : shared_->loops) loop->wake();
  while (shared_->common.open.load() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace pits
