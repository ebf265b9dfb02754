#include "pits/serve/http/connection.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "pits/serve/http/loop.h"

namespace pits {
namespace {

constexpr std::size_t most_unsent = 1 << 16;  // bytes of replies; then no request is taken
constexpr std::size_t most_kept = 16384;      // bytes of a buffer that is kept for later

void keep_small(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > most_kept) std::string().swap(buffer);  // an assignment would keep the memory
}

}  // namespace

HttpConnection::HttpConnection(HttpLoop& loop, Socket socket, std::string peer)
    : loop_(loop),
      mailbox_(loop.mailbox()),
      socket_(std::move(socket)),
      peer_(std::move(peer)),
      parser_(loop.config()),
      since_(loop.now()),
      progress_(loop.now()) {}

HttpConnection::~HttpConnection() = default;

void HttpConnection::post(std::uint64_t slot, HttpReply&& reply) {
  if (mailbox_->here()) {
    answer(slot, std::move(reply));
    if (!taking_) loop_.settle_later(*this);
  } else {
    mailbox_->post({shared_from_this(), slot, std::move(reply)});
  }
}

void HttpConnection::answer(std::uint64_t slot, HttpReply&& reply) {
  if (handling_ == slot) {
    handling_.reset();
  } else {
    loop_.shared().waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  if (slot < first_number_ || slot - first_number_ >= waiting_slots()) return;  // its connection has ended
  Slot& answered = slots_[first_ + slot - first_number_];
  release(answered);
  ready_ += reply.body.size();
  answered.reply = std::move(reply);
  if (slot == first_number_) write_ready_replies();
}

// The replies at the front, into the output.
void HttpConnection::write_ready_replies() {
  while (waiting_slots() > 0 && slots_[first_].reply) {
    Slot& slot = slots_[first_];
    const bool last = waiting_slots() == 1;
    slot.frame.close |= slot.reply->close || (last && loop_.draining());
    append_reply(output_, *slot.reply, slot.frame, loop_.date());
    const bool close = slot.frame.close;
    ready_ -= slot.reply->body.size();
    slot.reply.reset();
    ++first_;
    ++first_number_;
    if (close) {
      last_taken_ = true;
      std::for_each(slots_.begin() + static_cast<std::ptrdiff_t>(first_), slots_.end(),
                    [this](Slot& s) { release(s); });
      ready_ = 0;
      first_number_ += waiting_slots();
      first_ = slots_.size();
    }
  }
  if (waiting_slots() == 0 || first_ >= 2 * loop_.config().most_pipelined) {
    slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

void HttpConnection::refuse(int status) {
  slots_.push_back({{.close = true}, error_reply(status)});
  ready_ += slots_.back().reply->body.size();
  last_taken_ = true;
  write_ready_replies();
}

bool HttpConnection::may_take() const {
  return !last_taken_ && waiting_slots() < loop_.config().most_pipelined && unsent() + ready_ < most_unsent;
}

void HttpConnection::on_event(std::uint32_t events) {
  if (closed()) return;
  if (reads() && ((events & EPOLLIN) != 0 || socket_.wants_write())) {
    read();
  } else if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
    close();
  }
  settle();
}

void HttpConnection::read() {
  do {
    const Socket::Result result = socket_.read(loop_.buffer(), loop_.buffer_size());
    switch (result.state) {
      case Socket::State::again: return;
      case Socket::State::broken: close(); return;
      case Socket::State::end: input_ended_ = true; return;
      case Socket::State::done: take({loop_.buffer(), result.bytes}); break;
    }
  } while (socket_.holds_input() && reads());
}

// What a handler keeps of a body is about as large.
void HttpConnection::release(Slot& slot) {
  if (slot.body > 0) loop_.shared().buffered.fetch_sub(std::exchange(slot.body, 0), std::memory_order_relaxed);
}

// Of requests that are not complete, or have to wait. A body that would take more than all connections may have is
// refused.
void HttpConnection::count_buffered() {
  std::atomic<std::uint64_t>& all = loop_.shared().buffered;
  const std::size_t now = closed() ? 0 : input_.capacity() + parser_.kept();
  if (now == buffered_) return;
  const std::uint64_t sum = all.fetch_add(now - buffered_, std::memory_order_relaxed) + now - buffered_;
  const bool more = now > std::exchange(buffered_, now);
  if (!more || !parser_.in_body() || last_taken_ || sum <= loop_.config().most_buffered) return;
  refuse(503);
  std::string().swap(input_);
  parser_.forget_body();
  count_buffered();
}

// Of replies that are not sent.
void HttpConnection::count_replies() {
  const std::size_t now = closed() ? 0 : unsent() + ready_;
  if (now == buffered_replies_) return;
  loop_.shared().buffered.fetch_add(now - std::exchange(buffered_replies_, now), std::memory_order_relaxed);
}

void HttpConnection::take(std::string_view bytes) {
  if (last_taken_) {
    dropped_ += bytes.size();
    return;
  }
  if (input_.empty()) {
    take_requests(bytes);
    if (!bytes.empty()) input_.assign(bytes);
    return count_buffered();
  }
  input_.reserve(input_.size() + bytes.size() + readable_after_body);
  input_.append(bytes);
  std::string_view rest = input_;
  take_requests(rest);
  if (rest.empty()) {
    keep_small(input_);
  } else {
    input_.erase(0, input_.size() - rest.size());
  }
  count_buffered();
}

void HttpConnection::take_requests(std::string_view& bytes) {
  taking_ = true;
  RequestParser::State state = RequestParser::State::request;
  while (state == RequestParser::State::request && may_take()) {
    state = parser_.next(bytes);
    if (state == RequestParser::State::request) dispatch();
  }
  taking_ = false;
  if (state == RequestParser::State::refused) {
    loop_.malformed.add();
    refuse(parser_.status());
  }
  paused_ = !may_take();
  if (last_taken_) bytes = {};
  if (paused_) return;
  continue_due_ |= parser_.take_expectation();
  set_phase(parser_.in_body() ? Phase::body : bytes.empty() ? Phase::idle : Phase::head);
}

void HttpConnection::dispatch() {
  HttpRequest request = parser_.request();
  request.peer = peer_;
  request.may_wait = static_cast<bool>(loop_.shared().end_turn);
  const bool close = !parser_.keep_alive() || loop_.draining();
  const std::uint64_t slot = first_number_ + waiting_slots();
  slots_.push_back({{.head_only = request.method == "HEAD", .http10 = parser_.http10(), .close = close}});
  last_taken_ |= close;
  phase_ = Phase::idle;
  since_ = loop_.now();
  loop_.requests.add();
  handling_ = slot;
  HttpShared& shared = loop_.shared();
  if (shared.waiting.load(std::memory_order_relaxed) >= loop_.config().most_waiting ||
      shared.buffered.load(std::memory_order_relaxed) > loop_.config().most_buffered) {
    answer(slot, error_reply(503));
    return;
  }
  try {
    shared.handler(request, Answerer(shared_from_this(), slot));
  } catch (...) {  // the Answerer has sent a 500
  }
  loop_.step();  // many of them in one turn are no standstill
  if (handling_) {
    shared.waiting.fetch_add(1, std::memory_order_relaxed);
    slots_.back().body = request.body.size();
    shared.buffered.fetch_add(request.body.size(), std::memory_order_relaxed);
  }
  handling_.reset();
}

// False: the connection is closed, or the socket takes no more.
bool HttpConnection::send() {
  if (continue_due_ && waiting_slots() == 0 && !last_taken_) {
    output_.append("HTTP/1.1 100 Continue\r\n\r\n");
    continue_due_ = false;
  }
  while (unsent() > 0) {
    const Socket::Result result = socket_.write(std::string_view(output_).substr(sent_));
    if (result.state == Socket::State::again) return false;
    if (result.state != Socket::State::done) {
      close();
      return false;
    }
    sent_ += result.bytes;
    progress_ = loop_.now();
  }
  sent_ = 0;
  keep_small(output_);
  return true;
}

void HttpConnection::settle() {
  waits_to_settle = false;
  if (closed()) return;
  progress_ = unsent() == 0 ? loop_.now() : progress_;
  while (send() && paused_ && may_take()) {
    paused_ = false;
    take({});
    if (reads() && socket_.holds_input()) read();
    if (closed()) return;
  }
  if (!closed()) finish();
  if (closed()) return;
  count_replies();
  watch();
}

}  // namespace pits
