// What a server of a fleet hears of the others: that calls or answers are there, and new policies. Where a notification
// was lost, somebody looks a little later.
#include "pits/fleet/fleet.h"
#include "pits/fleet/tables.h"

namespace pits {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds retry{100}, models_every{200};
constexpr Microseconds all_models_every = 1'000'000;
// For partitions, calls that nobody answers, and contexts of idle bandits that are to be erased; and where there was
// more to delete than at once.
constexpr Microseconds look_every = 600'000'000, look_again = 5'000'000;

}  // namespace

void Fleet::listen() {
  const std::string calls = fmt::format("calls {}", id_), answers = fmt::format("answers {}", id_);
  std::unique_ptr<Postgres> database;
  for (milliseconds pause{0}; !nap(pause);) {
    try {
      if (!database || database->broken()) {
        database = std::make_unique<Postgres>(config_.url);
        database->execute("LISTEN pits");
      }
      for (const std::string& word : database->wait(models_every)) {
        if (word == calls) calls_.ring();
        if (word == answers) link_->outbox.look();
        if (word.empty()) models_.ring();
      }
      pause = milliseconds(0);
    } catch (const std::exception&) {  // nothing is lost: others look without a word
      pause = retry;
    }
  }
}

// Whoever holds one looks for what is to be erased.
void Fleet::wake_idle(Postgres& database) {
  const Rows rows = database.run("SELECT id FROM pits.bandit WHERE holder IS NULL AND look_at < now()");
  for (int row = 0; row < rows.size(); ++row) want(rows.number(row, 0));
}

void Fleet::follow_models() {
  std::unique_ptr<Postgres> database;
  Microseconds all_read = 0, looked_at = system_clock().steady() - look_every;
  for (milliseconds pause{0}; !nap(pause);) {
    try {
      if (!database || database->broken()) database = std::make_unique<Postgres>(config_.url);
      const Microseconds start = system_clock().steady();
      const bool all = start - all_read >= all_models_every;
      read_models(*database, all);
      if (all) all_read = start;
      // Reading takes at most a tenth of the time, however many bandits there are.
      pause = milliseconds(10 * (system_clock().steady() - start) / 1000);
      if (start - looked_at >= look_every) {
        const bool more = keep_partitions(*database);
        clean_inbox(*database);
        looked_at = more ? start - look_every + look_again : start;
        if (config_.learns) wake_idle(*database);
      }
      link_->report(LinkPart::models, "");
      models_.wait(models_every);
    } catch (const std::exception& e) {
      link_->report(LinkPart::models, e.what());
      pause = retry;
    }
  }
}

// Those that somebody learns and new ones, or all: nothing happens to the others.
void Fleet::read_models(Postgres& database, bool all) {
  const Rows rows = database.run(
      "SELECT id, name, last, model FROM pits.bandit WHERE last > 0 AND holder IS NOT NULL AND id <= $1"
      " UNION ALL SELECT id, name, last, model FROM pits.bandit WHERE last > 0 AND id > $1",
      all ? 0 : newest_);
  for (int row = 0; row < rows.size(); ++row) {
    const BanditId id = rows.number(row, 0);
    {
      const std::scoped_lock lock(mutex_);
      names_[rows.text(row, 1)] = id;
    }
    newest_ = std::max(newest_, id);
    if (const auto open = bandit(id)) open->heard(rows.natural(row, 2), rows.natural(row, 3));
  }
}

}  // namespace pits
