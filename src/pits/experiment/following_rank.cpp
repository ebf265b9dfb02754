#include "pits/experiment/following_rank.h"

namespace pits {
namespace {

constexpr int leader = 0;
constexpr auto between_rounds = std::chrono::milliseconds(100);

}  // namespace

void FollowingRank::run(const Plan& plan, Results*, int threads, const std::atomic<bool>& stop, const RoundsDone&) {
  threads = threads_or_default(threads, *mail_);
  mail_->send(leader, {{"kind", "ready"}, {"place", mail_->place()}, {"threads", threads}, {"plan", plan.resolved()}});
  if (const Letter answer = wait(); is(answer, "leave")) return leave(answer);
  CellWorkers workers(plan, threads);
  compute_until_told(workers, stop);
}

void FollowingRank::compute_until_told(CellWorkers& workers, const std::atomic<bool>& stop) {
  bool said_stop = false;
  for (;; wait_a_little()) {
    while (const auto received = mail_->poll()) {
      if (is(received->letter, "cell")) {
        workers.give(received->letter.at("cell").get<std::size_t>());
        continue;
      }
      workers.abandon();
      send_finished(workers);
      return leave(received->letter);
    }
    send_finished(workers);
    if (std::chrono::steady_clock::now() - rounds_sent_ > between_rounds) send_rounds(workers.take_rounds());
    if (stop && !said_stop) {
      mail_->send(leader, {{"kind", "stop"}});
      said_stop = true;
    }
  }
}

void FollowingRank::send_finished(CellWorkers& workers) {
  while (const auto finished = workers.take()) {
    send_rounds(workers.take_rounds());
    if (!finished->error) {
      mail_->send(leader, to_letter(finished->cell, finished->trajectory));
      continue;
    }
    try {
      std::rethrow_exception(finished->error);
    } catch (...) {
      const Ending ending = ending_of_current_exception();
      mail_->send(leader, {{"kind", "failed"}, {"exit_code", ending.exit_code}, {"message", ending.message}});
    }
  }
}

void FollowingRank::send_rounds(std::size_t rounds) {
  if (rounds == 0) return;
  mail_->send(leader, {{"kind", "rounds"}, {"rounds", rounds}});
  rounds_sent_ = std::chrono::steady_clock::now();
}

// Throws where it is the program that ends.
void FollowingRank::leave(const Letter& letter) {
  mail_->send(leader, {{"kind", "left"}});
  dismissed_ = letter.at("program").get<bool>();
  if (dismissed_) throw Dismissed();
}

Letter FollowingRank::wait() {
  for (;; wait_a_little()) {
    if (auto received = mail_->poll()) return std::move(received->letter);
  }
}

Ending FollowingRank::end(const Ending& mine) {
  if (dismissed_) return {};
  mail_->send(leader,
              {{"kind", "end"}, {"place", mail_->place()}, {"exit_code", mine.exit_code}, {"message", mine.message}});
  try {
    Letter letter = wait();
    while (!is(letter, "leave")) letter = wait();  // a cell may be on its way to a rank that has failed
    leave(letter);
  } catch (const Dismissed&) {
  }
  return {};
}

}  // namespace pits
