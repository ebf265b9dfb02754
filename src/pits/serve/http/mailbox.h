// Answers on their way from any thread to the loop of their connection.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "pits/serve/http/http.h"

namespace pits {

struct PostedReply {
  std::shared_ptr<HttpConnection> connection;
  std::uint64_t slot;
  HttpReply reply;
};

// The loop is woken once per batch: only the first answer after it went to sleep costs a system call.
class Mailbox {
 public:
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // From any thread.
  void post(PostedReply answer);
  void wake();

  // From the loop's thread.
  int descriptor() const { return descriptor_; }  // readable when the loop is woken
  // Swaps what has come into `answers`, which is empty. Nothing has come: the loop may sleep until it is woken.
  void take(std::vector<PostedReply>& answers);
  void awake() { asleep_.store(false, std::memory_order_relaxed); }
  void clear_wake();
  void close();  // later answers are dropped

  // True on the thread of the loop that this mailbox belongs to.
  bool here() const { return current_ == this; }
  void enter() { current_ = this; }

 private:
  static thread_local const Mailbox* current_;

  int descriptor_;
  std::mutex mutex_{};
  std::vector<PostedReply> answers_{};
  std::atomic<bool> asleep_ = false;
  bool closed_ = false;
};

}  // namespace pits
