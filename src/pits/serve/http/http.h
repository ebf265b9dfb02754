// A small HTTP/1.1 server: requests in, replies out, in order, from a few threads that never block.
//
// It knows nothing of bandits. A handler answers at once, or keeps the Answerer and answers later from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pits {

// Views are valid until the handler returns. At least 64 readable bytes follow the body (for simdjson).
struct HttpRequest {
  std::string_view method;         // "GET", "POST", ...
  std::string_view path;           // of the target, as it came, without the query
  std::string_view host;           // the header's value
  std::string_view origin;         // of the page that a browser sends it for; empty: none
  std::string_view authorization;  // the header's value; empty: none
  std::string_view body;
  std::string_view peer;  // address of the client, or "unix"
  bool may_wait = false;  // for the end of the turn: see HttpServer
};

struct HttpReply {
  int status = 200;
  std::string body{};
  std::string_view type = "application/json";
  int retry_after = 0;    // seconds; 0: no such header
  std::string headers{};  // more of them, each line ended by \r\n
  bool close = false;     // the connection, once this is sent
};

class HttpConnection;

// Answers one request, once, from any thread. Destroyed without an answer it sends a 500.
class Answerer {
 public:
  Answerer(std::shared_ptr<HttpConnection> connection, std::uint64_t slot);
  ~Answerer();
  Answerer(Answerer&&) noexcept;
  Answerer& operator=(Answerer&&) = delete;
  void operator()(HttpReply&& reply);

 private:
  std::shared_ptr<HttpConnection> connection_;
  std::uint64_t slot_;
};

using HttpHandler = std::function<void(const HttpRequest&, Answerer)>;

struct HttpConfig {
  std::string listen = "127.0.0.1:8080";  // ADDRESS:PORT, [ADDRESS6]:PORT, :0 for a free port, or unix:PATH
  std::vector<int> sockets{};             // that listen already (socket activation); then `listen` is not used
  int threads = 1;
  std::string certificate{}, private_key{};  // PEM files; both empty: no TLS
  std::size_t most_header = 8192;            // bytes of request line and headers: else 431
  std::size_t most_headers = 64;             // lines: else 431
  std::size_t most_body = 1 << 20;           // bytes: else 413
  std::size_t most_connections = 4096;       // above: 503 and closed
  std::size_t most_per_address = 0;          // of them: else 429 and closed; 0: all may have one address
  std::size_t most_buffered =
      256 << 20;                     // bytes of bodies that come or wait and of replies, of all connections: else 503
  std::size_t most_pipelined = 64;   // requests of one connection that wait for their answers; then it is not read
  std::size_t most_waiting = 65536;  // requests of all connections that wait for their answers: else 503
  std::chrono::milliseconds header_timeout{5000}, body_timeout{10000}, idle_timeout{60000}, write_timeout{10000};
};

struct HttpCounters {
  std::uint64_t accepted = 0, refused = 0, open = 0;  // connections; refused: above a limit
  std::uint64_t requests = 0, malformed = 0, timeouts = 0;
  std::uint64_t waiting = 0;   // requests without an answer yet
  std::uint64_t buffered = 0;  // bytes of their bodies, of those that are not complete, of replies that are not sent
};

class HttpServer {
 public:
  // Listens and serves when it returns. An Error says what is wrong with the address, the certificate or the key.
  // `end_turn`, where there is one, is called by a thread that has handled all requests that it had: what the handler
  // has put off, so that requests of one turn are worked on together, is answered then. True: something was.
  HttpServer(HttpConfig config, HttpHandler handler, std::function<bool()> end_turn = {});
  ~HttpServer();  // closes everything at once
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string address() const;  // that it listens on, with the port
  HttpCounters counters() const;
  bool alive() const;          // every thread has answered a request, or looked for some, within some seconds
  void reload_certificates();  // for new connections; after an Error the old ones stay
  // Accepts nothing new, lets requests in flight finish, closes connections after their next reply; returns when all
  // are closed or the time is over.
  void drain(std::chrono::milliseconds most);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace pits
