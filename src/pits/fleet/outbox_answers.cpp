// Answers to calls that were left in the database.
#include <pthread.h>

#include "pits/fleet/outbox.h"

namespace pits {
namespace {

constexpr std::chrono::milliseconds look_every{5}, retry{50};  // for answers of which no word came
constexpr std::chrono::seconds failing_every{1};               // where nobody waits for one

using Steady = std::chrono::steady_clock;

}  // namespace

void Outbox::look() {
  {
    const std::scoped_lock lock(mutex_);
    answers_ = true;
  }
  to_receiver_.notify_one();
}

void Outbox::receive() {
  pthread_setname_np(pthread_self(), "pits answers");
  std::unique_ptr<Postgres> database;
  for (bool failing = false;;) {
    {
      std::unique_lock lock(mutex_);
      const auto work = [&] { return stopping_ || !sent_.empty(); };
      failing ? void(to_receiver_.wait_for(lock, failing_every, work)) : to_receiver_.wait(lock, work);
      to_receiver_.wait_for(lock, look_every, [&] { return stopping_ || answers_; });
      if (stopping_) return;
      answers_ = false;
    }
    std::string problem = "the answer of the server that learns this bandit has not come";
    try {
      if (!database || database->broken()) database = std::make_unique<Postgres>(url_);
      fetch(*database);
      if (std::exchange(failing, false)) report_(LinkPart::answers, "");
    } catch (const std::exception& e) {
      failing = true;
      problem = e.what();
      report_(LinkPart::answers, problem);
      std::this_thread::sleep_for(retry);
    }
    tell_late(problem);
  }
}

void Outbox::tell_late(const std::string& reason) {
  std::vector<CallDone> late;
  {
    const std::scoped_lock lock(mutex_);
    const auto now = Steady::now();
    std::erase_if(sent_, [&](auto& entry) {
      if (now - entry.second.since < patience_) return false;
      late.push_back(std::move(entry.second.done));
      return true;
    });
  }
  for (const CallDone& done : late) done(nullptr, std::make_exception_ptr(failed("{}", reason)));
}

void Outbox::fetch(Postgres& database) {
  Numbers numbers;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [number, row] : sent_) numbers.push_back(number);
  }
  const Rows found = database.run(
      "SELECT n, answers FROM pits.inbox WHERE sender = $1 AND n = ANY($2) AND answers IS NOT NULL", sender_, numbers);
  for (int i = 0; i < found.size(); ++i) {
    CallDone done;
    {
      const std::scoped_lock lock(mutex_);
      const auto row = sent_.find(found.number(i, 0));
      if (row == sent_.end()) continue;
      done = std::move(row->second.done);
      sent_.erase(row);
    }
    try {
      const auto answers = unpacked<std::vector<CallAnswer>>(found.text(i, 1));
      if (!answers.at(0).failure.empty()) throw failed("{}", answers[0].failure);
      done(&answers.at(0), nullptr);
    } catch (const std::exception&) {
      done(nullptr, std::current_exception());
    }
  }
}

}  // namespace pits
