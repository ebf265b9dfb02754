#include "pits/experiment/ranks/worker.h"

#include "pits/core/parallel.h"
#include "pits/experiment/ranks/cell_threads.h"
#include "pits/experiment/ranks/messages.h"

namespace pits {
namespace {

constexpr int coordinator = 0;
constexpr auto between_rounds = std::chrono::milliseconds(100);

// What the threads of a rank have to tell the coordinator, sent by the one thread that uses the channel.
class Outbox {
 public:
  void add_rounds(std::size_t rounds) { rounds_ += rounds; }
  void add(Message message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }

  // A cell's rounds before the cell.
  void send(Channel& channel) {
    std::vector<Message> messages;
    {
      const std::lock_guard lock(mutex_);
      messages.swap(messages_);
    }
    const auto now = std::chrono::steady_clock::now();
    if (!messages.empty() || now - rounds_sent_ > between_rounds) {
      rounds_sent_ = now;
      if (const std::size_t rounds = rounds_.exchange(0); rounds > 0) {
        channel.send(coordinator, {{"kind", "rounds"}, {"rounds", rounds}});
      }
    }
    for (const Message& message : messages) channel.send(coordinator, message);
  }

 private:
  std::atomic<std::size_t> rounds_ = 0;
  std::chrono::steady_clock::time_point rounds_sent_{};
  std::mutex mutex_;
  std::vector<Message> messages_;
};

Message failed_message(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    const ExitStatus status = status_of_current_exception();
    return {{"kind", "failed"}, {"exit_code", status.exit_code}, {"message", status.message}};
  }
}

}  // namespace

void Worker::run(const Plan& plan, Results*, int threads, const std::atomic<bool>& stop, const RoundsDone&) {
  const ThreadScope scope(threads == 0 ? channel_->default_threads() : threads);
  channel_->send(
      coordinator,
      {{"kind", "ready"}, {"host", channel_->host()}, {"threads", scope.threads()}, {"plan", plan.resolved()}});
  if (const Message answer = wait(); is(answer, "leave")) return leave(answer);
  compute(plan, scope.threads(), stop);
}

// Until the coordinator says otherwise: a failed cell and a signal are told to it.
void Worker::compute(const Plan& plan, int threads, const std::atomic<bool>& stop) {
  const std::atomic<bool> never = false;
  Outbox outbox;
  CellQueue queue;
  CellThreads cells(plan, queue, threads, never,
                    {.done = [&](std::size_t rounds) { outbox.add_rounds(rounds); },
                     .keep = [&](std::size_t cell, const Trajectory& t) { outbox.add(finished_message(cell, t)); }});
  bool said_failed = false, said_stop = false;
  for (;; wait_for_messages()) {
    while (const auto received = channel_->poll()) {
      const Message& message = received->message;
      if (is(message, "cell")) {
        queue.push({.cell = message.at("cell").get<std::size_t>(), .threads = message.at("threads").get<int>()});
        continue;
      }
      cells.abandon();
      outbox.send(*channel_);
      return leave(message);
    }
    if (const auto error = cells.error(); error && !std::exchange(said_failed, true)) outbox.add(failed_message(error));
    if (stop && !std::exchange(said_stop, true)) outbox.add({{"kind", "stop"}});
    outbox.send(*channel_);
  }
}

// Throws where it is the program that ends.
void Worker::leave(const Message& message) {
  channel_->send(coordinator, {{"kind", "left"}});
  dismissed_ = message.at("program").get<bool>();
  if (dismissed_) throw Shutdown();
}

Message Worker::wait() {
  for (;; wait_for_messages()) {
    if (auto received = channel_->poll()) return std::move(received->message);
  }
}

ExitStatus Worker::end(const ExitStatus& mine) {
  if (dismissed_) return {};
  channel_->send(
      coordinator,
      {{"kind", "end"}, {"host", channel_->host()}, {"exit_code", mine.exit_code}, {"message", mine.message}});
  try {
    Message message = wait();
    while (!is(message, "leave")) message = wait();  // a cell may be on its way to a rank that has failed
    leave(message);
  } catch (const Shutdown&) {
  }
  return {};
}

}  // namespace pits
