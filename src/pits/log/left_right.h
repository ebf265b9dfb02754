// A value that one thread replaces while many read it. Readers take no lock and never wait; the writer waits until
// nobody reads the old value any more.
//
// Readers announce themselves in one of two sets of counters (the read indicator of Ramalhete and Correia's left-right
// technique): the writer sends newcomers to the other set, so that the one it waits for runs empty.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace pits {

// A small number of this thread, for choosing a counter that few others use.
inline std::size_t thread_number() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

template <class T>
class LeftRight {
 public:
  explicit LeftRight(std::unique_ptr<T> first) : current_(first.release()) {}
  ~LeftRight() { delete current_.load(); }
  LeftRight(const LeftRight&) = delete;
  LeftRight& operator=(const LeftRight&) = delete;

  // read(value), whose result must not refer to the value. From any thread.
  template <class Read>
  auto read(Read&& read) const {
    const Visit visit(readers_[version_.load()][thread_number() % slots]);
    return read(static_cast<const T&>(*current_.load()));
  }

  // From one thread at a time. The old value, which nobody reads any more.
  std::unique_ptr<T> publish(std::unique_ptr<T> next) {
    std::unique_ptr<T> old(current_.exchange(next.release()));
    const unsigned before = version_.load();
    wait_until_empty(1 - before);  // of those that were sent there two replacements ago
    version_.store(1 - before);
    wait_until_empty(before);
    return old;
  }

 private:
  static constexpr std::size_t slots = 32;
  struct alignas(64) Counter {  // a cache line each
    std::atomic<std::int64_t> readers{0};
  };
  // The order of all operations on the atomics is one for all threads (seq_cst): a reader that registers after the
  // writer's check reads the new value.
  class Visit {
   public:
    explicit Visit(Counter& counter) : counter_(counter) { counter_.readers.fetch_add(1); }
    ~Visit() { counter_.readers.fetch_sub(1); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    Counter& counter_;
  };

  void wait_until_empty(unsigned version) const {
    for (const Counter& counter : readers_[version]) {
      while (counter.readers.load() != 0) std::this_thread::yield();
    }
  }

  std::atomic<T*> current_;
  std::atomic<unsigned> version_{0};
  mutable std::array<std::array<Counter, slots>, 2> readers_{};
};

}  // namespace pits
