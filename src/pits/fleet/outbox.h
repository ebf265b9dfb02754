// Calls to bandits that another server learns: they are left in the database, in order, and their answers are fetched
// from there. A row need not be durable: its answer is, and no answer is durable before its row. Where a connection or
// the database is lost, the same rows are written again under the same numbers. A row that was answered stays for a
// while, so that a copy of it that arrives late is not a new one; a decision that is carried out again changes nothing.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <unordered_map>

#include "pits/fleet/call.h"
#include "pits/fleet/postgres_store.h"

namespace pits {

using ServerId = std::int64_t;
// Called once: with the answer, or with the error. Must neither wait nor throw.
using CallDone = std::function<void(const CallAnswer*, const std::exception_ptr&)>;

// Of what a server does with the database, each on a thread and a connection of its own.
enum class LinkPart { session, calls, answers, inbox, models, ids };
template <>
inline constexpr auto enum_names<LinkPart> = std::array{"session", "calls", "answers", "inbox", "models", "ids"};

class Outbox {
 public:
  // report(part, problem) is told what happens: empty where all is well. Must neither wait nor throw.
  using Report = std::function<void(LinkPart, const std::string&)>;
  Outbox(
      std::string url, ServerId sender, std::chrono::milliseconds patience = std::chrono::seconds(10),
      Report report = [](LinkPart, const std::string&) {}, std::chrono::milliseconds kept = std::chrono::seconds(60));
  ~Outbox() { stop(); }
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // False where too many decisions wait that nobody waits for, or too many bytes; then nothing was taken.
  bool add(BanditId bandit, Call call, CallDone done = {});
  // Sends what waits, where the database is there; who waits for an answer that has not come is told that the service
  // has ended, and so is whoever adds a call later. Nobody is called after it returns.
  void stop();
  // Answers may have come.
  void look();
  // Decisions of a bandit that are not in the database yet.
  std::size_t queued() const { return queued_; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Row {
    BanditId bandit = 0;
    std::vector<Call> calls{};  // many that nobody waits for, or one; then bytes
    CallDone done{};
    Time since{};
    std::int64_t number = 0;
    std::string bytes{};
    std::size_t unwaited = 0, unwaited_bytes = 0;  // calls
    Time sent{};                                   // last, perhaps; 0: never
    bool copy = false;                             // of one in sent_
  };

  void send();
  // Of the first rows, as many as go into one statement: how many.
  std::size_t insert(Postgres& database, std::deque<Row>& rows);
  void receive();
  void fetch(Postgres& database);
  std::deque<Row> next_rows(bool& stopping);
  void add_copies(std::deque<Row>& rows);
  void written(std::deque<Row>& rows, std::size_t count);
  void take_back(std::deque<Row>& rows);
  void expire(std::deque<Row>& rows, const std::string& reason);
  void tell_late(const std::string& reason);
  bool clean_due() const;
  void clean(Postgres& database);
  void try_to_write(Postgres& database);
  bool nap(std::chrono::milliseconds length);

  std::string url_;
  ServerId sender_;
  std::chrono::milliseconds patience_;  // of those who wait
  Report report_;
  std::chrono::milliseconds kept_;                   // rows that were answered
  std::int64_t last_number_ = 0;                     // of the sending thread
  std::deque<std::pair<Time, std::int64_t>> marks_;  // of the sending thread: last_number_ at some times
  std::deque<Row> recent_;                           // of the sending thread: nobody waits for them
  Time copied_{};                                    // of the sending thread
  std::atomic<std::size_t> queued_{0}, queued_bytes_{0};
  std::mutex mutex_;  // of what follows
  std::condition_variable to_sender_, to_receiver_;
  bool stopping_ = false;
  bool answers_ = false;  // may have come
  std::deque<Row> waiting_;
  std::unordered_map<std::int64_t, Row> sent_;  // by number: those that somebody waits for
  std::thread sender_thread_, receiver_thread_;
};

}  // namespace pits
