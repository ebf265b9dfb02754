#include "pits/experiment/sweep.h"

#include <algorithm>

namespace pits {

Sweep::Sweep(const Plan& plan, Results& results, const RoundsDone& done, std::vector<int> threads)
    : plan_(plan), results_(results), done_(done), free_(std::move(threads)), own_(plan, free_.front()) {}

bool Sweep::any_open() {
  while (next_ < plan_.cells() && results_.has(next_)) ++next_;
  return next_ < plan_.cells();
}

// A rank never has more cells than threads: a waiting cell would be better off with a rank that is idle at the end.
void Sweep::hand_out(Mailbox& mail) {
  for (; any_open(); ++next_) {
    const auto freest = std::ranges::max_element(free_);
    if (*freest == 0) return;
    const auto rank = static_cast<int>(freest - free_.begin());
    if (rank == 0) {
      own_.give(next_);
    } else {
      mail.send(rank, {{"kind", "cell"}, {"cell", next_}});
    }
    --*freest;
    ++in_work_;
  }
}

bool Sweep::take_own() {
  if (const std::size_t rounds = own_.take_rounds(); rounds > 0) done_(rounds);
  const auto finished = own_.take();
  if (!finished) return false;
  if (finished->error) std::rethrow_exception(finished->error);
  keep(0, finished->cell, finished->trajectory);
  return true;
}

void Sweep::take(const Mailbox::Received& received) {
  const Letter& letter = received.letter;
  if (is(letter, "rounds")) {
    done_(letter.at("rounds").get<std::size_t>());
  } else if (is(letter, "finished")) {
    keep(static_cast<std::size_t>(received.from), letter.at("cell").get<std::size_t>(), trajectory_in(letter));
  } else if (is(letter, "failed")) {
    throw error_of(letter.at("exit_code").get<int>(), letter.at("message").get<std::string>());
  } else if (is(letter, "end")) {
    throw error_in(received);
  } else {
    throw Interrupted();  // "stop"
  }
}

void Sweep::keep(std::size_t rank, std::size_t cell, const Trajectory& trajectory) {
  results_.put(cell, trajectory);
  ++free_[rank];
  --in_work_;
}

void Sweep::abandon() {
  own_.abandon();
  while (const auto finished = own_.take()) {
    if (!finished->error) keep_if_finished(to_letter(finished->cell, finished->trajectory));
  }
}

void Sweep::keep_if_finished(const Letter& letter) {
  if (!is(letter, "finished")) return;
  try {
    results_.put(letter.at("cell").get<std::size_t>(), trajectory_in(letter));
  } catch (const std::exception&) {
    // An earlier error is on its way to the user. This cell stays open.
  }
}

}  // namespace pits
