// When a connection ends, and what it waits for until then.
#include <sys/epoll.h>

#include "pits/serve/http/connection.h"
#include "pits/serve/http/loop.h"

namespace pits {
namespace {

using namespace std::chrono_literals;

constexpr auto most_lingering = 2s;
constexpr std::size_t most_dropped = 1 << 22;  // bytes after the last request
constexpr auto drain_grace = 500ms;            // for the next request of an idle connection
constexpr double least_rate = 500;             // bytes of a body per second

}  // namespace

// All replies are sent. If data of the client is left unread, the kernel answers it with a reset, which may overtake
// the last reply: so the client is told the end and gets some time to read and close.
void HttpConnection::finish() {
  if (waiting_slots() > 0 || unsent() > 0) return;
  if (input_ended_ || dropped_ > most_dropped) {
    close();
  } else if (last_taken_ && !lingering_ && !socket_.handshaking()) {
    lingering_ = true;
    since_ = loop_.now();
    socket_.end_output();
  }
}

void HttpConnection::watch() {
  std::uint32_t events = 0;
  if (reads()) events |= EPOLLIN;
  if (unsent() > 0 || socket_.wants_write()) events |= EPOLLOUT;
  if (events != watched_) loop_.watch(*this, watched_ = events);
}

void HttpConnection::close() {
  if (closed()) return;
  loop_.remove(*this);
  socket_.close();
  std::string().swap(input_);
  parser_.forget_body();
  count_buffered();
  count_replies();
}

void HttpConnection::set_phase(Phase phase) {
  if (phase == phase_) return;
  phase_ = phase;
  since_ = loop_.now();
  body_mark_ = 0;
}

void HttpConnection::time_out() {
  loop_.timeouts.add();
  refuse(408);
  paused_ = true;
  settle();
}

// Too few bytes since the last look, body_timeout ago.
bool HttpConnection::slow_body(Time now) {
  const std::chrono::duration<double> elapsed = now - since_;
  if (elapsed < loop_.config().body_timeout) return false;
  const auto came = static_cast<double>(parser_.body_size() - body_mark_);
  since_ = now;
  body_mark_ = parser_.body_size();
  return came < least_rate * elapsed.count();
}

void HttpConnection::check_time(Time now) {
  const HttpConfig& config = loop_.config();
  const auto close_after = [&](auto elapsed, auto most) {
    if (elapsed <= most) return;
    loop_.timeouts.add();
    close();
  };
  if (lingering_) {
    if (now - since_ > most_lingering) close();
  } else if (unsent() > 0) {
    close_after(now - progress_, config.write_timeout);
  } else if (socket_.handshaking()) {
    close_after(now - since_, config.header_timeout);
  } else if (paused_ || input_ended_) {
    return;
  } else if (phase_ == Phase::head) {
    if (now - since_ > config.header_timeout) time_out();
  } else if (phase_ == Phase::body) {
    if (slow_body(now)) time_out();
  } else if (waiting_slots() == 0) {
    const auto idle = now - std::max(since_, progress_);
    if (idle > (loop_.draining() ? std::min<std::chrono::milliseconds>(drain_grace, config.idle_timeout)
                                 : config.idle_timeout))
      close();
  }
}

}  // namespace pits
