// A client that sends any bytes, and a server that notes what reached its handler.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "pits/serve/http/http.h"

namespace pits::test {

struct Reply {
  int status = 0;  // 0: the connection ended before a reply
  std::string head, body;

  bool has(std::string_view line) const { return head.find(line) != head.npos; }
};

// A connected socket, or -1.
inline int connect_to(const std::string& address) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (address.starts_with("unix:")) {
    auto* const name = reinterpret_cast<sockaddr_un*>(&storage);
    name->sun_family = AF_UNIX;
    address.copy(name->sun_path, sizeof name->sun_path - 1, 5);
    size = sizeof *name;
  } else {
    auto* const name = reinterpret_cast<sockaddr_in*>(&storage);
    name->sin_family = AF_INET;
    name->sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    name->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof *name;
  }
  const int s = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(s, reinterpret_cast<sockaddr*>(&storage), size) == 0) return s;
  ::close(s);
  return -1;
}

class RawClient {
 public:
  explicit RawClient(const std::string& address) : socket_(connect_to(address)) {
    EXPECT_GE(socket_, 0) << address;
    const timeval most{.tv_sec = 60, .tv_usec = 0};  // a test that hangs fails
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  }
  ~RawClient() { close(); }
  RawClient(RawClient&& other) noexcept : socket_(std::exchange(other.socket_, -1)), input_(std::move(other.input_)) {}
  RawClient& operator=(RawClient&&) = delete;

  // False: the server does not take all of it.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void end_output() { ::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  int descriptor() const { return socket_; }

  // The server has closed the connection.
  bool ended() const {
    char c = 0;
    const ssize_t n = ::recv(socket_, &c, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN);
  }
  // False: the end.
  bool receive(std::size_t most = 65536) {
    std::string piece(most, '\0');
    const ssize_t n = ::recv(socket_, piece.data(), most, 0);
    EXPECT_FALSE(n < 0 && errno == EAGAIN) << "no reply for a minute";
    if (n > 0) input_.append(piece, 0, static_cast<std::size_t>(n));
    return n > 0;
  }
  std::string rest() {
    while (receive()) {
    }
    return std::exchange(input_, {});
  }
  // The next reply. `bodiless`: to a HEAD.
  Reply reply(std::size_t most = 65536, bool bodiless = false) {
    std::size_t end = 0;
    while ((end = input_.find("\r\n\r\n")) == input_.npos) {
      if (!receive(most)) return {};
    }
    Reply reply{std::stoi(input_.substr(9, 3)), input_.substr(0, end + 4), ""};
    const std::size_t at = reply.head.find("Content-Length: ");
    const std::size_t size = at == reply.head.npos || bodiless ? 0 : std::stoul(reply.head.substr(at + 16));
    while (input_.size() < end + 4 + size) {
      if (!receive(most)) return {};
    }
    reply.body = input_.substr(end + 4, size);
    input_.erase(0, end + 4 + size);
    return reply;
  }
  Reply ask(std::string_view bytes) {
    send(bytes);
    return reply();
  }

 private:
  int socket_;
  std::string input_{};
};

inline std::string get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: here\r\n\r\n"; }
inline std::string post(const std::string& path, const std::string& body) {
  return "POST " + path + " HTTP/1.1\r\nHost: here\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

// "METHOD PATH BODY"
inline std::string as_text(const HttpRequest& r) {
  return std::string(r.method) + " " + std::string(r.path) + " " + std::string(r.body);
}

// Waits for something that another thread does.
template <class Condition>
void wait_until(Condition&& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// A free port, and minutes for every client that the test does not want to be slow: a busy machine must not fail it.
inline HttpConfig patient(HttpConfig config = {}) {
  const HttpConfig usual;
  if (config.listen == usual.listen) config.listen = "127.0.0.1:0";
  for (const auto timeout : {&HttpConfig::header_timeout, &HttpConfig::body_timeout, &HttpConfig::idle_timeout,
                             &HttpConfig::write_timeout}) {
    if (config.*timeout == usual.*timeout) config.*timeout = std::chrono::minutes(10);
  }
  return config;
}

// Answers with the text of the request. Paths that begin with /held are answered by answer_held.
class EchoServer {
 public:
  explicit EchoServer(HttpConfig config = {})
      : server(patient(std::move(config)), [this](const HttpRequest& r, Answerer a) { handle(r, std::move(a)); }) {}

  std::vector<std::string> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  std::size_t held() {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  // The request that is held at that place, from the first; the others move up.
  void answer_held(std::size_t place) {
    auto [answerer, text] = take_held(place);
    answerer({.body = std::move(text), .type = "text/plain"});
  }
  void drop_held(std::size_t place) { take_held(place); }
  RawClient client() { return RawClient(server.address()); }

 private:
  std::pair<Answerer, std::string> take_held(std::size_t place) {
    const std::lock_guard lock(mutex_);
    auto item = std::move(held_.at(place));
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(place));
    return std::move(*item);
  }
  void handle(const HttpRequest& request, Answerer answerer) {
    std::string text = as_text(request);
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(text);
      if (request.path.starts_with("/held")) {
        held_.push_back(std::make_unique<std::pair<Answerer, std::string>>(std::move(answerer), std::move(text)));
        return;
      }
    }
    answerer({.body = std::move(text), .type = "text/plain"});
  }

  std::mutex mutex_{};
  std::vector<std::string> seen_{};
  std::vector<std::unique_ptr<std::pair<Answerer, std::string>>> held_{};

 public:
  HttpServer server;
};

}  // namespace pits::test
