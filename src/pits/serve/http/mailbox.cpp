#include "pits/serve/http/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "pits/core/error.h"

namespace pits {

thread_local const Mailbox* Mailbox::current_ = nullptr;

Mailbox::Mailbox() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0) throw failed("cannot make an eventfd: {}", std::strerror(errno));
}

Mailbox::~Mailbox() { ::close(descriptor_); }

void Mailbox::post(PostedReply answer) {
  bool wake_up = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    answers_.push_back(std::move(answer));
    wake_up = asleep_.exchange(false, std::memory_order_relaxed);
  }
  if (wake_up) wake();
}

void Mailbox::wake() {
  const std::uint64_t one = 1;
  // Fails only if the loop has been woken 2^64 - 1 times already.
  [[maybe_unused]] const ssize_t n = ::write(descriptor_, &one, sizeof one);
}

void Mailbox::take(std::vector<PostedReply>& answers) {
  const std::lock_guard lock(mutex_);
  std::swap(answers_, answers);
  asleep_.store(answers.empty(), std::memory_order_relaxed);
}

void Mailbox::clear_wake() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(descriptor_, &count, sizeof count);
}

void Mailbox::close() {
  std::vector<PostedReply> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  std::swap(answers_, dropped);
}

}  // namespace pits
