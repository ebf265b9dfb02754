#include "pits/log/log_writer.h"

#include <pthread.h>

#include <algorithm>

#include "pits/core/damaged.h"

namespace pits {
namespace {

constexpr std::uint64_t most_queued = 100'000;          // decisions that nobody waits for
constexpr std::size_t most_queued_bytes = 256U << 20U;  // of them
constexpr std::size_t most_in_group = 4096;  // requests, so that the first of them need not wait for the last
constexpr std::size_t most_bytes_in_group = 64U << 20U;  // of decisions
constexpr std::size_t most_expired = 4096;               // in one group
constexpr std::size_t most_spares = 1024;                // of a thread, and of the writer
constexpr std::size_t most_spare_bytes = 4096;           // of one
constexpr std::chrono::milliseconds look{50};            // how often windows are looked at where nothing happens
constexpr std::chrono::milliseconds gather{5};   // how long decisions wait for others where nobody waits for them
constexpr std::chrono::milliseconds retry{100};  // after a failure of the store
// In a fleet a group waits for those who were in the last one, for a quarter of what that took, and at most so long. On
// the embedded store, whose commits are short, that was no gain.
constexpr std::chrono::milliseconds longest_company{2};

std::string message_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

// Of what it holds.
std::size_t bytes_of(const Decided& decided) {
  return sizeof(float) * (decided.x.capacity() + decided.propensities.capacity() + decided.features.capacity()) +
         decided.allowed.capacity() + decided.key.capacity() + decided.context.capacity();
}

}  // namespace

// Written decisions, one after another. The writer gives them back, and the threads that decide use them again: memory
// that is allocated by one thread and freed by another costs both of them more.
class LogWriter::Spares {
 public:
  Spares() = default;
  explicit Spares(Request* first) : first_(first) {}
  ~Spares() {
    while (take()) {
    }
  }
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;

  bool empty() const { return first_ == nullptr; }
  void reset(Request* first) { first_ = first; }  // where it is empty
  Request* first() const { return first_; }
  Request* release() { return std::exchange(first_, nullptr); }
  void add(std::unique_ptr<Request> request) {
    if (size_ == most_spares || bytes_of(*request->decided) > most_spare_bytes) return;
    ++size_;
    request->before = first_;
    first_ = request.release();
  }
  std::unique_ptr<Request> take() {
    std::unique_ptr<Request> request(first_);
    if (request) first_ = request->before;
    return request;
  }

 private:
  Request* first_ = nullptr;
  std::size_t size_ = 0;  // that were added
};

LogWriter::LogWriter(Store& store, const Clock& clock, const LedgerLimits& limits,
                     std::function<void(EventNumber)> committed, std::function<void(Decided)> elsewhere)
    : store_(store),
      ledger_(store, clock, limits),
      committed_(std::move(committed)),
      elsewhere_(std::move(elsewhere)),
      thread_([this] { run(); }) {}

LogWriter::~LogWriter() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  const Spares unused(spares_.load());
}

std::string LogWriter::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

LedgerCounts LogWriter::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

bool LogWriter::add(Decided&& decided) {
  const std::size_t bytes = bytes_of(decided);
  if (queued_ >= most_queued || queued_bytes_ + bytes > most_queued_bytes) return false;
  thread_local Spares spares;
  if (spares.empty()) spares.reset(spares_.exchange(nullptr));
  std::unique_ptr<Request> request = spares.take();
  if (!request) request = std::make_unique<Request>(Request{.decided = Decided(), .urgent = false});
  std::swap(*request->decided, decided);
  request->dropped = false;
  request->bytes = bytes;
  ++queued_;
  queued_bytes_ += bytes;
  push(request.release());
  return true;
}

// After a restored backup, a token may have brought another decision with this id.
void LogWriter::apply(Request& request) {
  if (!request.decided) return request.apply(ledger_);
  const DecisionId id = request.decided->id;
  if (!request.dropped && !ledger_.knows(id)) {
    if (id >= ledger_.reserved_ids()) ledger_.reserve_ids(id + id_block);  // of a fleet's server, which has its own
    ledger_.decide(*request.decided);
  } else if (!std::exchange(request.dropped, true)) {
    add_to_gap();
  }
}

void LogWriter::add_to_gap(std::uint64_t decisions) {
  unlogged_ += decisions;
  gap_ += decisions;
}

void LogWriter::add(Request request) {
  ++(request.urgent ? waiting_ : queued_);
  push(new Request(std::move(request)));
}

void LogWriter::push(Request* request) {
  const bool urgent = request->urgent;  // the writer may have it at once
  request->before = requests_.load();
  while (!requests_.compare_exchange_weak(request->before, request)) {
  }
  const Rest rest = rest_.load();
  if (rest == Rest::none || (rest == Rest::nap && (!urgent || waiting_ < enough_))) return;
  // The lock: a writer that is about to sleep sees the request, or is woken.
  { const std::scoped_lock lock(mutex_); }
  wake_.notify_one();
}

// Waits for requests, at most until windows have to be looked at; adds them to those that are left from before.
bool LogWriter::take_requests(Requests& requests) {
  if (requests.empty() && !more_expired_) {
    std::unique_lock lock(mutex_);
    rest_ = Rest::sleep;
    wake_.wait_for(lock, look, [&] { return stopping_ || requests_.load() != nullptr; });
    enough_ = 1;
    rest_ = Rest::nap;
    if (requests_.load() != nullptr) wake_.wait_for(lock, gather, [&] { return stopping_ || waiting_ > 0; });
    // Who was answered together comes back together: without a moment for that, the first to come back would have a
    // commit of its own, and all the others would wait for it too.
    enough_ = last_told_;
    const auto company = std::min<std::chrono::nanoseconds>(last_commit_ / 4, longest_company);
    if (elsewhere_ && waiting_ > 0) wake_.wait_for(lock, company, [&] { return stopping_ || waiting_ >= enough_; });
    rest_ = Rest::none;
    if (stopping_ && requests_.load() == nullptr && gap_ == 0) return false;
  }
  collect(requests);
  return true;
}

void LogWriter::collect(Requests& requests) {
  Request* oldest = nullptr;  // of the list turned round
  for (Request* r = requests_.exchange(nullptr); r != nullptr;) {
    Request* const before = std::exchange(r->before, oldest);
    oldest = std::exchange(r, before);
  }
  for (; oldest != nullptr; oldest = requests.back()->before) requests.emplace_back(oldest);
}

void LogWriter::run() {
  pthread_setname_np(pthread_self(), "pits log");
  Requests requests;
  while (take_requests(requests)) {
    write(requests);
    if (requests.empty() && waiting_ == 0) store_.rest();
    std::unique_lock lock(mutex_);
    if (problem_.empty()) continue;
    if (stopping_) break;  // the store does not take the rest
    wake_.wait_for(lock, retry, [&] { return stopping_; });
  }
  collect(requests);
  const auto end = std::make_exception_ptr(failed("the log was closed"));
  for (const auto& request : requests) {
    if (request->finish) request->finish(ledger_, end);
    if (request->decided && elsewhere_) elsewhere_(*std::move(request->decided));
  }
}

// The first of them, at least one.
std::size_t LogWriter::group_size(const Requests& requests) {
  std::size_t size = 0;
  for (std::size_t bytes = 0; size < std::min(requests.size(), most_in_group) && bytes < most_bytes_in_group; ++size) {
    bytes += requests[size]->bytes;
  }
  return size;
}

// One group. What a request's own call refuses concerns only that request. Where anything else goes wrong in it, a part
// of it may be in the group, and the whole group is given up.
void LogWriter::write(Requests& requests) {
  std::vector<std::exception_ptr> errors(group_size(requests));
  std::exception_ptr failure;
  std::uint64_t gap = 0;
  try {
    ledger_.begin_group();
    more_expired_ = ledger_.settle_expired(most_expired);
    gap = gap_;
    if (gap > 0) ledger_.record(Gap{.decisions = gap});
    for (std::size_t i = 0; i < errors.size(); ++i) {
      try {
        apply(*requests[i]);
      } catch (const Error& e) {
        if (!is_refusal(e) && !requests[i]->decided) throw;
        errors[i] = std::current_exception();
      }
    }
    const auto start = std::chrono::steady_clock::now();
    ledger_.commit();
    last_commit_ = std::chrono::steady_clock::now() - start;
  } catch (...) {
    failure = std::current_exception();
    ledger_.abandon_group();
    more_expired_ = false;
  }
  if (!failure) {
    gap_ -= gap;
    settled_ = !ledger_.waits();
    const std::scoped_lock lock(mutex_);
    counts_ = ledger_.counts();
  }
  if (!failure) committed_(ledger_.last());
  finish(requests, errors, failure);
}

// Where the store failed, everybody who waits is told, also those that were not in this group yet. A decision that
// nobody waits for is tried again, whatever went wrong.
void LogWriter::finish(Requests& requests, const std::vector<std::exception_ptr>& errors,
                       const std::exception_ptr& failure) {
  report(failure);  // before anybody is told
  Requests again;
  Spares written;
  const std::size_t told = failure ? requests.size() : errors.size();
  last_told_ = 0;
  for (std::size_t i = 0; i < told; ++i) {
    const std::exception_ptr& wrong = failure ? failure : errors[i];
    if (!requests[i]->decided) {
      --(requests[i]->urgent ? waiting_ : queued_);  // before it is told
      last_told_ += requests[i]->urgent ? 1 : 0;
      requests[i]->finish(ledger_, wrong);
    } else if (wrong && !elsewhere_) {
      report(wrong);
      again.push_back(std::move(requests[i]));
    } else {
      --queued_;
      queued_bytes_ -= requests[i]->bytes;
      if (wrong) {
        elsewhere_(*std::move(requests[i]->decided));
      } else {
        written.add(std::move(requests[i]));
      }
    }
  }
  if (Request* none = nullptr; spares_.compare_exchange_strong(none, written.first())) written.release();
  requests.erase(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(told));
  // Behind the others: they are not kept waiting by decisions that fail again and again.
  requests.insert(requests.end(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
}

void LogWriter::report(const std::exception_ptr& problem) {
  const std::scoped_lock lock(mutex_);
  problem_ = message_of(problem);
}

}  // namespace pits
