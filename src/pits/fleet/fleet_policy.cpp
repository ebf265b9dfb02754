// The policy by which a server of a fleet decides, where another one learns the bandit.
#include "pits/fleet/fleet_bandit.h"

namespace pits {

void FleetBandit::load() {
  const auto version = store_.version();
  if (!version) return;
  if (!version->books.empty()) {
    auto books = from_bytes<SharedBooks>(version->books);
    decider_->publish_names(books.actions);
    const std::scoped_lock lock(mutex_);
    if (!holding_) config_ = std::move(books.config);
  }
  // Tables of version 1 have no policies yet.
  const ServingPolicy policy = version->policy.empty()
                                   ? Learner(store_, store_.snapshot(version->number)).bandit().policy().copy()
                                   : Bandit::policy_from_saved(version->policy, "the published policy");
  decider_->publish(policy, version->number, version->engine);
}

void FleetBandit::heard(EventNumber last, EventNumber model) {
  follow(last);
  std::string unread;
  if (!holding() && model > decider_->model()) {
    try {
      load();
    } catch (const ConnectionError&) {
      throw;
    } catch (const std::exception& e) {  // a newer pits has written it, perhaps
      unread = fmt::format("the newest policy cannot be read: {}", e.what());
    }
    follow(last);
  }
  {
    const std::scoped_lock lock(mutex_);
    unread_policy_ = unread;
  }
  record_gap();
}

// How far the policy that decides now is behind the log. The first event is known to every server.
void FleetBandit::follow(EventNumber last) {
  const EventNumber known = std::max(decider_->model(), EventNumber{1});
  const std::scoped_lock lock(mutex_);
  const bool newer = known > model_;
  model_ = std::max(known, model_);
  last_ = last;
  if (known >= last) {
    behind_since_ = 0;
  } else if (behind_since_ == 0 || newer) {
    behind_since_ = system_clock().steady();
  }
}

double FleetBandit::model_age() const {
  const std::scoped_lock lock(mutex_);
  return behind_since_ == 0 ? 0.0 : 1e-6 * static_cast<double>(system_clock().steady() - behind_since_);
}

}  // namespace pits
