// One client: its requests are parsed in a row, and their replies go out in the same order.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pits/serve/http/reply_text.h"
#include "pits/serve/http/request_parser.h"
#include "pits/serve/http/socket.h"

namespace pits {

class HttpLoop;
class Mailbox;

// All but `post` is called on the thread of its loop.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  HttpConnection(HttpLoop& loop, Socket socket, std::string peer);
  ~HttpConnection();

  // From any thread: the answer to the request in a slot.
  void post(std::uint64_t slot, HttpReply&& reply);

  void answer(std::uint64_t slot, HttpReply&& reply);
  void on_event(std::uint32_t events);
  // After answers: sends what can be sent, takes what may be taken, closes what has ended.
  void settle();
  void check_time(Time now);  // closes it, or answers 408, if the client is too slow
  void refuse(int status);    // its last reply
  void close();

  bool closed() const { return socket_.descriptor() < 0; }
  int descriptor() const { return socket_.descriptor(); }
  const std::string& peer() const { return peer_; }
  std::size_t place = 0;  // among the loop's connections
  bool waits_to_settle = false;

 private:
  // A request whose reply is not written yet.
  struct Slot {
    ReplyFrame frame;
    std::optional<HttpReply> reply{};
    std::size_t body = 0;  // bytes that are counted as buffered while it waits
  };
  enum class Phase { idle, head, body };

  std::size_t waiting_slots() const { return slots_.size() - first_; }
  std::size_t unsent() const { return output_.size() - sent_; }
  bool may_take() const;
  bool reads() const { return !input_ended_ && (!paused_ || lingering_ || socket_.handshaking()); }
  void read();
  void take(std::string_view bytes);
  void take_requests(std::string_view& bytes);
  void dispatch();
  void write_ready_replies();
  bool send();
  void finish();
  void count_buffered();
  void count_replies();
  void release(Slot& slot);
  void set_phase(Phase phase);
  void watch();
  void time_out();
  bool slow_body(Time now);

  HttpLoop& loop_;
  const std::shared_ptr<Mailbox> mailbox_;
  Socket socket_;
  const std::string peer_;
  RequestParser parser_;
  std::string input_{};   // the beginning of a request that is not complete, or requests that have to wait
  std::string output_{};  // replies, of which sent_ bytes are sent
  std::size_t sent_ = 0;
  std::size_t ready_ = 0;                            // bytes of replies that wait for one before them
  std::size_t buffered_ = 0, buffered_replies_ = 0;  // bytes of input and of replies that are counted

  std::vector<Slot> slots_{};  // those before first_ are done
  std::size_t first_ = 0;
  std::uint64_t first_number_ = 0;           // of the slot at first_
  std::optional<std::uint64_t> handling_{};  // the slot whose handler is running
  bool taking_ = false;                      // requests are being taken: answers do not send yet

  bool paused_ = false;      // too much waits: nothing is read
  bool last_taken_ = false;  // no request is taken any more
  bool input_ended_ = false;
  bool lingering_ = false;  // all is sent; what still comes is read and dropped
  bool continue_due_ = false;

  std::uint32_t watched_ = 0;  // events
  Phase phase_ = Phase::idle;
  Time since_;     // the phase began, or the window of the body
  Time progress_;  // something was sent
  std::size_t body_mark_ = 0, dropped_ = 0;
};

}  // namespace pits
