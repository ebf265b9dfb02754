#include "pits/experiment/ranks/coordinator.h"

#include <algorithm>

#include "pits/core/parallel.h"
#include "pits/experiment/config_difference.h"
#include "pits/experiment/ranks/cell_threads.h"
#include "pits/experiment/ranks/messages.h"
#include "pits/experiment/ranks/worker.h"

namespace pits {
namespace {

std::vector<std::size_t> open_cells(const Plan& plan, const Results& results) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    if (!results.has(i)) open.push_back(i);
  }
  return open;
}

// What a rank starts with. It never has more cells than threads: a waiting cell would be better off with a rank that is
// idle at the end. Where there are fewer cells than threads, a cell gets several.
struct Share {
  int cells = 0;
  int threads_per_cell = 1;
};

// Each cell goes to the rank with most free threads.
std::vector<Share> shares_of(std::size_t cells, const std::vector<int>& threads) {
  std::vector<Share> shares(threads.size());
  std::vector<int> free = threads;
  for (; cells > 0; --cells) {
    const auto freest = std::ranges::max_element(free);
    if (*freest == 0) break;
    --*freest;
    ++shares[static_cast<std::size_t>(freest - free.begin())].cells;
  }
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    if (shares[rank].cells > 0) shares[rank].threads_per_cell = threads[rank] / shares[rank].cells;
  }
  return shares;
}

}  // namespace

std::unique_ptr<Executor> make_rank(std::unique_ptr<Channel> channel) {
  if (channel->rank() == 0) return std::make_unique<Coordinator>(std::move(channel));
  return std::make_unique<Worker>(std::move(channel));
}

Coordinator::Coordinator(std::unique_ptr<Channel> channel)
    : channel_(std::move(channel)), arrived_(channel_ ? static_cast<std::size_t>(channel_->ranks()) : 1) {}

void Coordinator::run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
                      const RoundsDone& done) {
  CellQueue queue;
  std::optional<CellThreads> own;
  try {
    const ThreadScope scope(threads == 0 && channel_ ? channel_->default_threads() : threads);
    await_workers(plan, stop);
    Work work{.results = *results, .done = done, .queue = queue};
    const std::vector<std::size_t> open = open_cells(plan, *results);
    deal(open, scope.threads(), work);
    const auto keep = [&](std::size_t cell, const Trajectory& trajectory) { results->put(cell, trajectory); };
    const int needed = static_cast<int>(std::min(open.size(), static_cast<std::size_t>(scope.threads())));
    own.emplace(plan, queue, needed, stop, CellThreads::Hooks{.done = done, .keep = keep});
    serve(*own, work, stop);
    own->join();
  } catch (...) {
    dismiss(true, own ? &*own : nullptr, results);
    throw;
  }
  dismiss(false, &*own, results);
}

// First cells for all workers; the rest waits in the queue.
void Coordinator::deal(const std::vector<std::size_t>& open, int own_threads, Work& work) {
  std::vector<int> threads = {own_threads};
  for (std::size_t rank = 1; rank < ranks(); ++rank) threads.push_back(arrived_[rank].at("threads").get<int>());
  arrived_.assign(ranks(), nullptr);
  send_to_all({{"kind", "go"}});
  const std::vector<Share> shares = shares_of(open.size(), threads);
  for (const std::size_t cell : open) work.queue.push({.cell = cell, .threads = shares[0].threads_per_cell});
  work.queue.close();
  for (std::size_t rank = 1; rank < ranks(); ++rank) {
    for (int i = 0; i < shares[rank].cells; ++i) send_cell(rank, shares[rank].threads_per_cell, work);
  }
}

// Until the last cell is finished, or one of this process has failed.
void Coordinator::serve(CellThreads& own, Work& work, const std::atomic<bool>& stop) {
  if (!channel_) return;
  for (; (own.running() || work.remote > 0) && !own.error(); wait_for_messages()) {
    if (stop) throw Interrupted();
    while (const auto received = channel_->poll()) take(*received, work);
  }
}

void Coordinator::take(const Channel::Received& received, Work& work) {
  const Message& message = received.message;
  if (is(message, "rounds")) {
    work.done(message.at("rounds").get<std::size_t>());
  } else if (is(message, "finished")) {
    work.results.put(message.at("cell").get<std::size_t>(), trajectory_in(message));
    --work.remote;
    send_cell(static_cast<std::size_t>(received.from), 1, work);
  } else if (is(message, "failed")) {
    throw error_of(message.at("exit_code").get<int>(), message.at("message").get<std::string>());
  } else if (is(message, "end")) {
    throw error_in(received);
  } else {
    throw Interrupted();  // "stop"
  }
}

void Coordinator::send_cell(std::size_t rank, int threads, Work& work) {
  const auto job = work.queue.try_pop();
  if (!job) return;
  channel_->send(static_cast<int>(rank), {{"kind", "cell"}, {"cell", job->cell}, {"threads", threads}});
  ++work.remote;
}

void Coordinator::note_arrival(Channel::Received& received) {
  if (!is(received.message, "ready") && !is(received.message, "end")) return;
  arrived_[static_cast<std::size_t>(received.from)] = std::move(received.message);
}

// Whether every worker waits for the coordinator; does not wait itself.
bool Coordinator::all_arrived() {
  if (!channel_) return true;
  while (auto received = channel_->poll()) note_arrival(*received);
  return std::none_of(arrived_.begin() + 1, arrived_.end(), [](const Message& message) { return message.is_null(); });
}

void Coordinator::await_workers(const Plan& plan, const std::atomic<bool>& stop) {
  for (; !all_arrived(); wait_for_messages()) {
    if (stop) throw Interrupted();
  }
  for (std::size_t rank = 1; rank < ranks(); ++rank) {
    const Message& message = arrived_[rank];
    if (is(message, "end")) throw error_in({.from = static_cast<int>(rank), .message = message});
    const std::string difference = first_difference(message.at("plan"), plan.resolved());
    if (difference.empty()) continue;
    throw bad_input(
        "rank {} on {} would give other results than rank 0: {}; start all with the same program, options and SIMD "
        "target (PITS_SIMD)",
        rank, message.at("host").get<std::string>(), difference);
  }
}

void Coordinator::send_to_all(const Message& message) {
  for (std::size_t rank = 1; rank < ranks(); ++rank) channel_->send(static_cast<int>(rank), message);
}

// Sends the workers away, ends the own threads and waits for the last messages; finished cells are kept.
void Coordinator::dismiss(bool from_program, CellThreads* own, Results* results) {
  dismissed_ = from_program;
  send_to_all({{"kind", "leave"}, {"program", from_program}});
  if (own != nullptr) own->abandon();
  for (std::size_t present = ranks() - 1; present > 0;) {
    auto received = channel_->poll();
    if (!received) {
      wait_for_messages();
      continue;
    }
    if (is(received->message, "left")) --present;
    if (is(received->message, "finished") && results != nullptr) {
      try {
        results->put(received->message.at("cell").get<std::size_t>(), trajectory_in(received->message));
      } catch (const std::exception&) {
        // An earlier error is on its way to the user. This cell stays open.
      }
    }
    note_arrival(*received);  // a quick rank may be ready for the next plan
  }
}

ExitStatus Coordinator::end(const ExitStatus& mine) {
  if (dismissed_) return mine;
  while (!all_arrived()) wait_for_messages();
  ExitStatus status = mine;
  for (std::size_t rank = 1; rank < ranks() && status.exit_code == 0; ++rank) {
    const Message& message = arrived_[rank];
    if (!is(message, "end") || message.at("exit_code") == 0) continue;
    const Error error = error_in({.from = static_cast<int>(rank), .message = message});
    status = {error.exit_code(), error.what()};
  }
  dismiss(true, nullptr, nullptr);
  return status;
}

}  // namespace pits
