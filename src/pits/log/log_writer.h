// The one thread that writes a log. Others hand it requests, without a lock; whatever waits becomes durable as one
// group.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include "pits/log/ledger.h"

namespace pits {

class LogWriter {
 public:
  struct Request {
    std::function<void(Ledger&)> apply{};
    std::function<void(Ledger&, std::exception_ptr)> finish{};  // with the error, or none
    // Instead of both: a decision that nobody waits for. It is tried until it is durable, or given to `elsewhere`.
    std::optional<Decided> decided{};
    std::size_t bytes = 0;  // of it, or of what `apply` writes
    bool dropped = false;   // it: another decision has its id
    bool urgent = true;     // somebody waits for it
    Request* before = nullptr;
  };

  // committed(number) is called after every group, by the writing thread. elsewhere(decided), where there is one, takes
  // the decisions that nobody waits for and that could not be written.
  LogWriter(Store& store, const Clock& clock, const LedgerLimits& limits, std::function<void(EventNumber)> committed,
            std::function<void(Decided)> elsewhere = {});
  ~LogWriter();  // writes what waits, if the store takes it
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // call(ledger) in the next group; its result when the group is durable, or the Error of the store.
  template <class Call>
  auto call(Call&& call) {
    return call_then(std::forward<Call>(call), [](Ledger&, auto result) { return result; });
  }
  // The same; then(ledger, result) is what is returned, computed once the group is durable.
  template <class Call, class Then>
  auto call_then(Call&& call, Then&& then);
  // The same without waiting; finish() tells.
  void add(Request request);
  // Nobody waits for it, and it may share a group with those of the next few milliseconds. False where too many
  // decisions, or too many bytes of them, are not durable yet; else the memory of one that is written is left in it.
  bool add(Decided&& decided);
  // A decision that is not logged: the next group says so.
  void add_to_gap(std::uint64_t decisions = 1);

  std::uint64_t queued() const { return queued_; }      // decisions that nobody waits for and are not durable yet
  std::uint64_t waiting() const { return waiting_; }    // other requests that are not durable yet
  std::uint64_t unlogged() const { return unlogged_; }  // decisions of all gaps since the start
  LedgerCounts counts() const;
  bool settled() const { return settled_; }  // no decision waits for its window to close
  std::string problem() const;               // the last failure of the store since the last success

 private:
  using Requests = std::deque<std::unique_ptr<Request>>;
  class Spares;
  enum class Rest { none, nap, sleep };  // who naps is woken by `enough_` who wait, who sleeps by any request

  void push(Request* request);
  void run();
  bool take_requests(Requests& requests);  // false: the end
  void collect(Requests& requests);
  static std::size_t group_size(const Requests& requests);
  void write(Requests& requests);
  void apply(Request& request);
  void finish(Requests& requests, const std::vector<std::exception_ptr>& errors, const std::exception_ptr& failure);
  void report(const std::exception_ptr& problem);

  Store& store_;
  Ledger ledger_;  // of the writing thread
  std::function<void(EventNumber)> committed_;
  std::function<void(Decided)> elsewhere_;
  std::atomic<Request*> requests_{nullptr};  // the last one first
  std::atomic<Request*> spares_{nullptr};    // written decisions, whose memory is used again
  std::atomic<std::uint64_t> queued_{0}, waiting_{0}, unlogged_{0};
  std::atomic<std::size_t> queued_bytes_{0};  // of the decisions that are queued
  std::atomic<std::uint64_t> gap_{0};         // of unlogged_: the log does not say so yet
  std::atomic<Rest> rest_{Rest::none};
  std::atomic<bool> settled_{false};
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  bool stopping_ = false;
  std::string problem_;
  LedgerCounts counts_;
  // Of the writing thread, but for enough_:
  bool more_expired_ = false;
  std::atomic<std::uint64_t> enough_{1};     // of those who wait, for a group
  std::uint64_t last_told_ = 0;              // of those who waited for the last group
  std::chrono::nanoseconds last_commit_{0};  // how long it took
  std::thread thread_;
};

template <class Call, class Then>
auto LogWriter::call_then(Call&& call, Then&& then) {
  using Result = std::invoke_result_t<Call, Ledger&>;
  using Returned = std::invoke_result_t<Then, Ledger&, Result>;
  // Owned by the request too: it may still notify when the caller has its answer.
  const auto promise = std::make_shared<std::promise<Returned>>();
  const auto result = std::make_shared<std::optional<Result>>();
  add({.apply = [&call, result](Ledger& ledger) { result->emplace(call(ledger)); },
       .finish =
           [&then, result, promise](Ledger& ledger, const std::exception_ptr& error) {
             try {
               if (error) std::rethrow_exception(error);
               promise->set_value(then(ledger, *std::move(*result)));
             } catch (...) {
               promise->set_exception(std::current_exception());
             }
           }});
  return promise->get_future().get();
}

}  // namespace pits
