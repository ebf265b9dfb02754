#include "pits/serve/http/loop.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "pits/core/error.h"
#include "pits/core/thread_turns.h"

namespace pits {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t buffer_bytes = 1 << 16;
constexpr std::size_t over_limit = 64;   // connections above the limit that are told so; more are just closed
constexpr std::size_t over_address = 8;  // the same of an address
constexpr int most_accepts = 64;         // in a row

// Of a loop: a small part of the shortest timeout.
std::chrono::milliseconds sweep_interval(const HttpConfig& c) {
  const auto shortest = std::min({c.header_timeout, c.body_timeout, c.idle_timeout, c.write_timeout});
  return std::clamp<std::chrono::milliseconds>(shortest / 8, 5ms, 500ms);
}

}  // namespace

HttpLoop::Epoll::Epoll() : descriptor(::epoll_create1(EPOLL_CLOEXEC)) {
  if (descriptor < 0) throw failed("cannot make an epoll instance: {}", std::strerror(errno));
}

HttpLoop::Epoll::~Epoll() { ::close(descriptor); }

HttpLoop::HttpLoop(HttpShared& shared, Listeners listeners)
    : shared_(shared),
      listeners_(std::move(listeners)),
      mailbox_(std::make_shared<Mailbox>()),
      buffer_(buffer_bytes + readable_after_body),
      sweep_interval_(sweep_interval(shared.config)) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (::epoll_ctl(epoll_.descriptor, EPOLL_CTL_ADD, mailbox_->descriptor(), &event) != 0) {
    throw failed("cannot wait for answers: {}", std::strerror(errno));
  }
  update_clock();
  date_ = http_date(std::chrono::system_clock::now());
  watch_listeners(true);
  sigset_t all, before;  // signals are for other threads; SIGPIPE is for none
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HttpLoop::~HttpLoop() {
  stop_.store(true);
  wake();
  thread_.join();
}

void HttpLoop::watch_listeners(bool on) {
  for (const auto& listener : listeners_) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = listener.get()}};
    if (listener.use_count() > 1) event.events |= EPOLLEXCLUSIVE;  // one loop of several is woken
    if (::epoll_ctl(epoll_.descriptor, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener->descriptor(), &event) != 0 && on) {
      throw failed("cannot wait for connections: {}", std::strerror(errno));
    }
  }
  listening_ = on;
}

void HttpLoop::run() {
  name_thread("pits http");
  take_short_turns();
  mailbox_->enter();
  while (!stop_.load()) turn();
  while (!connections_.empty()) connections_.back()->close();
  mailbox_->close();
}

void HttpLoop::turn() {
  if (shared_.draining.load(std::memory_order_relaxed) && !draining()) stop_listening();
  take_answers();
  end_turn();
  const auto until_sweep = std::chrono::ceil<std::chrono::milliseconds>(next_sweep_ - now_);
  const bool busy = !answers_.empty();  // more may have come, and nobody would wake the loop
  answers_.clear();
  epoll_event events[256];
  const int n =
      ::epoll_wait(epoll_.descriptor, events, 256, busy ? 0 : std::max(0, static_cast<int>(until_sweep.count())));
  mailbox_->awake();
  update_clock();
  for (int i = 0; i < n; ++i) handle(events[i]);
  end_turn();
  if (now_ >= next_sweep_) sweep();
  removed_.clear();
}

void HttpLoop::update_clock() {
  now_ = std::chrono::steady_clock::now();
  last_step_.store(now_, std::memory_order_relaxed);
}

void HttpLoop::handle(const epoll_event& event) {
  if (event.data.ptr == nullptr) return mailbox_->clear_wake();
  for (const auto& listener : listeners_) {
    if (event.data.ptr == listener.get()) {
      accept_from(*listener);
      return;
    }
  }
  auto* const connection = static_cast<HttpConnection*>(event.data.ptr);
  try {
    connection->on_event(event.events);
  } catch (...) {  // no memory
    connection->close();
  }
}

// True: there may be more.
bool HttpLoop::accept_from(Listener& listener) {
  for (int i = 0; i < most_accepts; ++i) {
    auto [descriptor, peer] = listener.accept();
    if (descriptor < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      // No descriptor or no memory is left: until the next sweep nothing is accepted.
      if (errno != EAGAIN && errno != EWOULDBLOCK) watch_listeners(false);
      return false;
    }
    accepted.add();
    add(descriptor, std::move(peer));
  }
  return true;
}

void HttpLoop::add(int descriptor, std::string peer) {
  const HttpConfig& config = shared_.config;
  const bool secure = !config.certificate.empty();
  TlsSession tls(nullptr, SSL_free);
  if (secure) {
    const std::lock_guard lock(shared_.tls_mutex);
    tls = shared_.tls->accept(descriptor);
  }
  const bool broken = secure && !tls;  // no memory
  auto connection = std::make_shared<HttpConnection>(*this, Socket(descriptor, std::move(tls)), std::move(peer));
  connection->place = connections_.size();
  connections_.push_back(connection);
  const std::uint64_t open = shared_.open.fetch_add(1, std::memory_order_relaxed);
  const std::size_t excess = excess_of(*connection);
  const int status = open >= config.most_connections ? 503 : excess > 0 ? 429 : 0;
  if (status != 0) refused.add();
  epoll_event event{.events = 0, .data = {.ptr = connection.get()}};
  if (broken || open >= config.most_connections + over_limit || excess > over_address ||
      ::epoll_ctl(epoll_.descriptor, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return connection->close();
  }
  if (status != 0) connection->refuse(status);
  connection->settle();
}

// How many connections its address has that it may not have.
std::size_t HttpLoop::excess_of(const HttpConnection& connection) {
  const std::size_t most = shared_.config.most_per_address;
  const std::string address = most == 0 ? std::string() : counted_address(connection.peer());
  if (address.empty()) return 0;
  const std::size_t now = shared_.peers.add(address);
  return now - std::min(now, most);
}

void HttpLoop::watch(HttpConnection& connection, std::uint32_t events) {
  epoll_event event{.events = events, .data = {.ptr = &connection}};
  ::epoll_ctl(epoll_.descriptor, EPOLL_CTL_MOD, connection.descriptor(), &event);
}

void HttpLoop::remove(HttpConnection& connection) {
  std::swap(connections_[connection.place], connections_.back());
  connections_[connection.place]->place = connection.place;
  removed_.push_back(std::move(connections_.back()));
  connections_.pop_back();
  shared_.open.fetch_sub(1, std::memory_order_relaxed);
  if (shared_.config.most_per_address > 0) shared_.peers.remove(counted_address(connection.peer()));
}

void HttpLoop::take_answers() {
  mailbox_->take(answers_);
  for (PostedReply& answer : answers_) {
    answer.connection->answer(answer.slot, std::move(answer.reply));
    settle_later(*answer.connection);
  }
}

void HttpLoop::settle_later(HttpConnection& connection) {
  if (connection.waits_to_settle || connection.closed()) return;
  connection.waits_to_settle = true;
  to_settle_.push_back(connection.shared_from_this());
}

// A handler that is called here may answer for other connections.
void HttpLoop::settle_all() {
  for (std::size_t i = 0; i < to_settle_.size(); ++i) {
    const std::shared_ptr<HttpConnection> connection = to_settle_[i];
    connection->settle();
  }
  to_settle_.clear();
}

// Connections whose replies are sent may have more requests.
void HttpLoop::end_turn() {
  settle_all();
  try {
    while (shared_.end_turn && shared_.end_turn()) settle_all();
  } catch (...) {  // no memory; Answerers that are gone have sent a 500
    settle_all();
  }
}

void HttpLoop::sweep() {
  next_sweep_ = now_ + sweep_interval_;
  date_ = http_date(std::chrono::system_clock::now());
  if (!listening_ && !draining()) watch_listeners(true);
  for (std::size_t i = connections_.size(); i-- > 0;) {
    if (i < connections_.size()) connections_[i]->check_time(now_);
  }
}

// Nothing new; but who is connected already, to a socket that nobody else will accept from, is served.
void HttpLoop::stop_listening() {
  for (const auto& listener : listeners_) {
    while (!listener->handed_over() && accept_from(*listener)) {
    }
  }
  watch_listeners(false);
  listeners_.clear();
  sweep_interval_ = std::min<std::chrono::milliseconds>(sweep_interval_, 20ms);
  next_sweep_ = now_;
}

}  // namespace pits
