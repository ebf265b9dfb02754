// How calls reach the books of a bandit of a fleet: its own ones, directly or through the database, and those of other
// servers.
#include "pits/fleet/fleet_bandit.h"

namespace pits {
namespace {

constexpr std::size_t most_bad_rows = 1000;

enum class Failure { input, not_yet, uncertain, certain };

// Of an error: uncertain, where what was asked may have happened all the same.
Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const NotYet&) {
    return Failure::not_yet;
  } catch (const ConnectionError&) {
    return Failure::uncertain;
  } catch (const Error& e) {
    return e.kind() == ErrorKind::input ? Failure::input : Failure::certain;
  } catch (...) {
    return Failure::uncertain;
  }
}

// A call that fails half-way spoils its group: the whole group is given up, and with it the lease.
template <class Apply>
auto whole_or_nothing(PostgresStore& store, Apply&& apply) {
  try {
    return apply();
  } catch (const NotYet&) {
    throw;
  } catch (...) {
    store.give_up();
    throw;
  }
}

// Why a row is not carried out. It is answered with that: else it would come again for ever.
class BadRow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::vector<Call> calls_of(const std::string& bytes) {
  try {
    return unpacked<std::vector<Call>>(bytes);
  } catch (const Error& e) {
    throw BadRow(e.what());
  }
}

}  // namespace

// Where the lease is here, directly. What has certainly not happened there goes the other way.
void FleetBandit::call(Call call, CallDone done) {
  if (call.kind == CallKind::config) {
    done = [this, config = call.config, done = std::move(done)](const CallAnswer* answer,
                                                                const std::exception_ptr& error) {
      if (!error && answer->refusal.empty()) set_config(config);
      done(answer, error);
    };
  }
  const auto held = holding();
  if (!held || held->store.lost()) return call_elsewhere(std::move(call), std::move(done));
  held->called = true;
  const auto shared = std::make_shared<const Call>(std::move(call));
  const auto answer = std::make_shared<CallAnswer>();
  held->live.writer().add({.apply =
                               [this, shared, answer, store = &held->store](Ledger& ledger) {
                                 *answer = whole_or_nothing(*store,
                                                            [&] { return perform(ledger, *decider_, *shared, true); });
                               },
                           .finish =
                               [this, shared, answer, done](Ledger&, const std::exception_ptr& error) {
                                 if (!error) return done(answer.get(), nullptr);
                                 const Failure failure = failure_of(error);
                                 if (failure == Failure::not_yet || failure == Failure::certain) {
                                   call_elsewhere(*shared, done);
                                 } else {
                                   done(nullptr, error);
                                 }
                               }});
}

void FleetBandit::call_elsewhere(Call call, CallDone done) {
  if (const std::string problem = link_->problem_of_calls(); !problem.empty()) {
    return done(nullptr, std::make_exception_ptr(failed("{}", problem)));
  }
  link_->outbox.add(id_, std::move(call), std::move(done));
}

// What a row made fail in itself would make fail again, and with it the lease each time.
std::vector<CallAnswer> FleetBandit::carry_out(Ledger& ledger, const Taken& taken, Row& row) {
  std::vector<CallAnswer> answers;
  const auto remember = [&](const std::exception& e) {
    const std::scoped_lock lock(mutex_);
    if (bad_rows_.size() >= most_bad_rows) bad_rows_.clear();
    bad_rows_[{taken.sender, taken.number}] = e.what();
  };
  try {
    for (const Call& call : calls_of(taken.calls)) {
      answers.push_back(perform(ledger, *decider_, call, taken.patient));
      // A gap that comes again would count again: its row stays a while, as those that somebody waits for.
      row.answered = row.answered || call.waits || call.kind == CallKind::gap;
      if (answers.back().refusal.empty() && !call.config.empty()) row.config = call.config;
    }
  } catch (const NotYet&) {
    throw;
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::input) remember(e);
    throw;
  } catch (const std::logic_error& e) {
    remember(e);
    throw;
  }
  return answers;
}

std::vector<CallAnswer> FleetBandit::answers_to(Ledger& ledger, const Taken& taken, Row& row) {
  try {
    {
      const std::scoped_lock lock(mutex_);
      const auto bad = bad_rows_.find({taken.sender, taken.number});
      if (bad != bad_rows_.end()) throw BadRow(bad->second);
    }
    return carry_out(ledger, taken, row);
  } catch (const BadRow& e) {
    row.answered = true;
    const std::string why = fmt::format("a call of another server was not carried out: {}", e.what());
    const std::scoped_lock lock(mutex_);
    bad_row_ = why;
    return {{.failure = why}};
  }
}

bool FleetBandit::take(const Taken& taken, Microseconds since, std::function<void(Fate)> finished) {
  const auto held = holding();
  if (!held || held->store.lost() || held->since > since) return false;
  held->called = true;
  const auto row = std::make_shared<Row>();
  held->live.writer().add({.apply =
                               [this, taken, row, store = &held->store](Ledger& ledger) {
                                 *row = {};
                                 whole_or_nothing(*store, [&] {
                                   auto answers = answers_to(ledger, taken, *row);
                                   ledger.took({.sender = taken.sender,
                                                .number = taken.number,
                                                .answers = row->answered ? packed(std::move(answers)) : std::string()});
                                   return 0;
                                 });
                               },
                           .finish =
                               [this, row, finished = std::move(finished)](Ledger&, const std::exception_ptr& error) {
                                 if (!error && !row->config.empty()) set_config(row->config);
                                 const bool not_yet = error && failure_of(error) == Failure::not_yet;
                                 const Fate done = row->answered ? Fate::answered : Fate::done;
                                 finished(!error ? done : not_yet ? Fate::not_yet : Fate::failed);
                               },
                           .bytes = taken.calls.size()});
  return true;
}

}  // namespace pits
