// One thread's event loop: its listening sockets, its connections, and one sweep for all their timeouts.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <functional>
#include <thread>

#include "pits/serve/http/connection.h"
#include "pits/serve/http/listener.h"
#include "pits/serve/http/mailbox.h"
#include "pits/serve/http/peers.h"
#include "pits/serve/http/tls.h"

namespace pits {

// What the loops of a server share.
struct HttpShared {
  HttpConfig config;
  HttpHandler handler;
  std::function<bool()> end_turn{};
  std::atomic<std::uint64_t> open = 0, waiting = 0, buffered = 0;
  Peers peers{};
  std::atomic<bool> draining = false;

  std::mutex tls_mutex{};
  std::optional<TlsContext> tls{};
};

class HttpLoop {
 public:
  using Time = HttpConnection::Time;

  // A thread that serves the connections of the listeners, which may be shared with other loops.
  HttpLoop(HttpShared& shared, std::vector<std::shared_ptr<Listener>> listeners);
  ~HttpLoop();  // stops and closes everything
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  void wake() { mailbox_->wake(); }
  // When it did something last; from any thread.
  Time last_step() const { return last_step_.load(std::memory_order_relaxed); }

  // For connections, on the loop's thread.
  HttpShared& shared() { return shared_; }
  const HttpConfig& config() const { return shared_.config; }
  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }
  bool draining() const { return listeners_.empty(); }
  Time now() const { return now_; }
  std::string_view date() const { return date_; }
  char* buffer() { return buffer_.data(); }
  std::size_t buffer_size() const { return buffer_.size() - readable_after_body; }
  void watch(HttpConnection& connection, std::uint32_t events);
  void settle_later(HttpConnection& connection);
  void remove(HttpConnection& connection);
  void step() { last_step_.store(std::chrono::steady_clock::now(), std::memory_order_relaxed); }

  // Written by the loop's thread only.
  struct Counter {
    std::atomic<std::uint64_t> value = 0;
    void add() { value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
    operator std::uint64_t() const { return value.load(std::memory_order_relaxed); }
  };
  Counter accepted{}, refused{}, requests{}, malformed{}, timeouts{};

 private:
  void run();
  void turn();
  void handle(const epoll_event& event);
  bool accept_from(Listener& listener);
  void add(int descriptor, std::string peer);
  std::size_t excess_of(const HttpConnection& connection);
  void take_answers();
  void settle_all();
  void end_turn();
  void sweep();
  void stop_listening();
  void watch_listeners(bool on);
  void update_clock();

  struct Epoll {
    Epoll();
    ~Epoll();
    Epoll(const Epoll&) = delete;
    Epoll& operator=(const Epoll&) = delete;
    int descriptor;
  };

  HttpShared& shared_;
  std::vector<std::shared_ptr<Listener>> listeners_;
  std::shared_ptr<Mailbox> mailbox_;
  Epoll epoll_{};
  std::vector<char> buffer_;
  std::vector<std::shared_ptr<HttpConnection>> connections_{};
  std::vector<std::shared_ptr<HttpConnection>> removed_{};  // in this turn: events may still name them
  std::vector<std::shared_ptr<HttpConnection>> to_settle_{};
  std::vector<PostedReply> answers_{};
  bool listening_ = true;  // false: no descriptor was left
  Time now_{}, next_sweep_{};
  std::chrono::milliseconds sweep_interval_;
  std::string date_{};
  std::atomic<Time> last_step_{};
  std::atomic<bool> stop_ = false;
  std::thread thread_{};
};

}  // namespace pits
