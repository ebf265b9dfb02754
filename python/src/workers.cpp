#include "workers.h"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace pits::python {
namespace {

class Workers {
 public:
  void start(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (process_ != ::getpid()) {  // a fork has left the threads behind
      process_ = ::getpid();
      idle_ = 0;
    }
    if (waiting_.size() >= idle_) std::thread([this] { serve(); }).detach();  // may throw; it waits for our lock
    waiting_.push_back(std::move(work));
    arrived_.notify_one();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      arrived_.wait(lock, [&] { return !waiting_.empty(); });
      --idle_;
      std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      work = {};
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> waiting_;
  std::size_t idle_ = 0;
  pid_t process_ = ::getpid();
};

}  // namespace

void start_on_worker(std::function<void()> work) {
  static Workers& workers = *new Workers;  // never destroyed: its threads wait in it until the process ends
  workers.start(std::move(work));
}

}  // namespace pits::python
