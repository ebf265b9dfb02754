#include "pits/experiment/leading_rank.h"

#include "pits/experiment/config_difference.h"
#include "pits/experiment/sweep.h"

namespace pits {

void LeadingRank::run(const Plan& plan, Results* results, int threads, const std::atomic<bool>& stop,
                      const RoundsDone& done) {
  std::optional<Sweep> sweep;
  try {
    for (; !all_arrived(); wait_a_little()) {
      if (stop) throw Interrupted();
    }
    check_arrived(plan);
    sweep.emplace(plan, *results, done, threads_of_ranks(threads));
    arrived_.assign(arrived_.size(), nullptr);
    send_to_all({{"kind", "go"}});
    work(*sweep, stop);
  } catch (...) {
    dismiss(true, sweep ? &*sweep : nullptr);
    throw;
  }
  dismiss(false, &*sweep);
}

void LeadingRank::work(Sweep& sweep, const std::atomic<bool>& stop) {
  while (!sweep.over()) {
    if (stop) throw Interrupted();
    sweep.hand_out(*mail_);
    bool idle = !sweep.take_own();
    while (const auto received = mail_->poll()) {
      sweep.take(*received);
      idle = false;
    }
    if (idle) wait_a_little();
  }
}

void LeadingRank::note_arrival(Mailbox::Received& received) {
  if (!is(received.letter, "ready") && !is(received.letter, "end")) return;
  arrived_[static_cast<std::size_t>(received.from)] = std::move(received.letter);
}

// Whether every other rank waits for the leader; does not wait itself.
bool LeadingRank::all_arrived() {
  while (auto received = mail_->poll()) note_arrival(*received);
  return std::none_of(arrived_.begin() + 1, arrived_.end(), [](const Letter& letter) { return letter.is_null(); });
}

void LeadingRank::check_arrived(const Plan& plan) const {
  const Letter own = plan.resolved();
  for (std::size_t rank = 1; rank < arrived_.size(); ++rank) {
    const Letter& letter = arrived_[rank];
    if (is(letter, "end")) throw error_in({.from = static_cast<int>(rank), .letter = letter});
    const std::string difference = first_difference(letter.at("plan"), own);
    if (difference.empty()) continue;
    throw bad_input(
        "rank {} on {} would give other results than rank 0: {}; start all with the same program, options and SIMD "
        "target (PITS_SIMD)",
        rank, letter.at("place").get<std::string>(), difference);
  }
}

std::vector<int> LeadingRank::threads_of_ranks(int own) const {
  std::vector<int> threads = {threads_or_default(own, *mail_)};
  for (std::size_t rank = 1; rank < arrived_.size(); ++rank) {
    threads.push_back(arrived_[rank].at("threads").get<int>());
  }
  return threads;
}

void LeadingRank::send_to_all(const Letter& letter) {
  for (int rank = 1; rank < mail_->ranks(); ++rank) mail_->send(rank, letter);
}

// Sends the ranks away and waits for their last letters.
void LeadingRank::dismiss(bool from_program, Sweep* sweep) {
  dismissed_ = from_program;
  send_to_all({{"kind", "leave"}, {"program", from_program}});
  if (sweep != nullptr) sweep->abandon();
  for (int present = mail_->ranks() - 1; present > 0;) {
    auto received = mail_->poll();
    if (!received) {
      wait_a_little();
      continue;
    }
    if (is(received->letter, "left")) --present;
    if (sweep != nullptr) sweep->keep_if_finished(received->letter);
    note_arrival(*received);  // a quick rank may be ready for the next plan
  }
}

Ending LeadingRank::end(const Ending& mine) {
  if (dismissed_) return mine;
  while (!all_arrived()) wait_a_little();
  Ending ending = mine;
  for (std::size_t rank = 1; rank < arrived_.size() && ending.exit_code == 0; ++rank) {
    const Letter& letter = arrived_[rank];
    if (!is(letter, "end") || letter.at("exit_code") == 0) continue;
    const Error error = error_in({.from = static_cast<int>(rank), .letter = letter});
    ending = {error.exit_code(), error.what()};
  }
  dismiss(true, nullptr);
  return ending;
}

}  // namespace pits
