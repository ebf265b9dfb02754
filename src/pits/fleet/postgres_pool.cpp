#include "pits/fleet/postgres.h"

namespace pits {

PostgresPool::Loan PostgresPool::take() {
  {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return !idle_.empty() || used_ < most_; });
    ++used_;
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return {*this, std::move(connection)};
    }
  }
  try {
    return {*this, std::make_unique<Postgres>(url_)};
  } catch (...) {
    give_back(nullptr);
    throw;
  }
}

void PostgresPool::give_back(std::unique_ptr<Postgres> connection) {
  {
    const std::scoped_lock lock(mutex_);
    --used_;
    if (connection && connection->broken()) {
      idle_.clear();  // the others are of the same database: after its restart none of them works
    } else if (connection) {
      idle_.push_back(std::move(connection));
    }
  }
  free_.notify_one();
}

}  // namespace pits
