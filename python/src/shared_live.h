// A live bandit that belongs to an object of Python.
#pragma once

#include <unistd.h>

#include <future>
#include <memory>

#include "calls.h"
#include "pits/log/live_bandit.h"

namespace pits::python {

// A live bandit that Python's threads share, until close(). Its pointer is read and replaced with the GIL held; whoever
// is inside a call keeps the bandit. A forked process has none of its threads: it must neither use nor end it.
class SharedLive {
 public:
  explicit SharedLive(std::unique_ptr<LiveBandit> made) : owner_(::getpid()) {
    live_ = {made.release(), [ended = ended_](LiveBandit* live) {
               delete live;
               ended->set_value();
             }};
  }
  ~SharedLive() { close(); }
  SharedLive(const SharedLive&) = delete;
  SharedLive& operator=(const SharedLive&) = delete;

  // work(live) without the GIL.
  template <class Work>
  auto call(const Work& work) const {
    if (live_ == nullptr) refuse();
    if (!is_owner()) throw failed("the live bandit belongs to the process that opened it: this one was forked from it");
    std::shared_ptr<LiveBandit> held = live_;
    const Computing computing;
    const std::shared_ptr<LiveBandit> live = std::move(held);  // let go before the GIL is taken again
    return work(*live);
  }
  // Returns when everything is durable and nobody is inside a call any more.
  void close() {
    std::shared_ptr<LiveBandit> live = std::move(live_);
    if (live == nullptr) return;
    if (!is_owner()) {
      static_cast<void>(new std::shared_ptr<LiveBandit>(std::move(live)));  // kept for ever
      return;
    }
    const WithoutGil no_gil;
    live.reset();
    ended_->get_future().wait();
  }
  // While Python ends: everything is durable, and a daemon thread that is inside a call, for hours perhaps, keeps the
  // bandit. Those that call it afterwards wait for the end, as in every other call.
  void close_at_exit() {
    if (live_ == nullptr || !is_owner()) return close();
    closer_ = std::this_thread::get_id();
    std::shared_ptr<LiveBandit> live = std::move(live_);
    const WithoutGil no_gil;
    live->flush();
    live.reset();
  }
  bool closed() const { return live_ == nullptr; }

 private:
  bool is_owner() const { return owner_ == ::getpid(); }
  [[noreturn]] void refuse() const {
    if (closer_ != std::thread::id() && closer_ != std::this_thread::get_id()) {
      const WithoutGil no_gil;
      wait_for_exit();
    }
    throw failed("the live bandit is closed");
  }

  pid_t owner_;
  std::thread::id closer_{};  // at Python's end
  // Owned by the bandit's end too: it may still notify when close() has seen it.
  std::shared_ptr<std::promise<void>> ended_ = std::make_shared<std::promise<void>>();
  std::shared_ptr<LiveBandit> live_;
};

}  // namespace pits::python
