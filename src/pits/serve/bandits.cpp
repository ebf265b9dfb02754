#include "pits/serve/bandits.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <thread>

#include "pits/core/beginning.h"
#include "pits/core/damaged.h"
#include "pits/serve/status_error.h"

namespace pits {
namespace {

void check_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  constexpr std::size_t longest = 64;
  if (name.empty() || name.size() > longest || !std::ranges::all_of(name, plain) ||
      std::string_view("._-").find(name.front()) != std::string_view::npos) {
    throw bad_input(
        "the name of a bandit has 1 to {} letters, digits, '.', '_' or '-', and starts with a letter or digit",
        longest);
  }
}

constexpr EventNumber events_when_asked = 50'000;    // before the end, where statistics start when they are asked for
constexpr Microseconds unasked_after = 120'000'000;  // statistics that nobody looks at are given up

constexpr Microseconds patience = 2'000'000;  // of those who change actions, with a learner that lags

constexpr std::size_t most_opened_at_once = 4;

EventNumber events_before_end(const Store& store, EventNumber events) {
  const EventNumber last = store.last();
  return last - std::min(last, events);
}

std::string text_of(const nlohmann::json& value, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  if (name == "reward_range" && value.is_array() && value.size() == 2) return value[0].dump() + "," + value[1].dump();
  if (value.is_number() || value.is_boolean()) return value.dump();
  throw bad_input("'{}' is a text, a number or a boolean", name);
}

std::vector<std::string> known_fields(const Fields& config) {
  std::vector<std::string> names = {"agent", "schema", "context_size", "actions", "seed"};
  for (const Field& field : config.list()) names.push_back(field.name);
  return names;
}

// Where two agents differ, whose fields are all spelled out: "lin-ts, not pi-ts:auto", or "lin-ts with floor=0, not
// floor=0.1".
std::string agents_differ(const std::string& now, const std::string& asked) {
  const auto parts = [](std::string_view text) {
    std::vector<std::string> all;
    for (const auto part : std::views::split(text, ',')) all.emplace_back(part.begin(), part.end());
    return all;
  };
  const std::vector<std::string> is = parts(now), other = parts(asked);
  if (is.front() != other.front()) return fmt::format("its agent is {}, not {}", is.front(), other.front());
  std::vector<std::string> has, would;
  std::ranges::set_difference(std::set(is.begin(), is.end()), std::set(other.begin(), other.end()),
                              std::back_inserter(has));
  std::ranges::set_difference(std::set(other.begin(), other.end()), std::set(is.begin(), is.end()),
                              std::back_inserter(would));
  return fmt::format("its agent is {} with {}, not {}", is.front(), fmt::join(has, ","), fmt::join(would, ","));
}

// What cannot change once a log exists; the first difference, or nothing.
std::string difference(const Created& now, const Created& asked, const std::vector<std::string>& actions, bool seed) {
  if (now.agent != asked.agent) return agents_differ(now.agent, asked.agent);
  if (now.schema != asked.schema) return "its schema is another one; teach a new bandit (pits log teach)";
  if (now.context_size != asked.context_size) return fmt::format("its contexts have {} numbers", now.context_size);
  if (asked.actions != now.actions && asked.actions != actions) {
    return fmt::format("its actions are {}; add or retire some by POST .../actions", fmt::join(actions, ", "));
  }
  if (seed && now.seed != asked.seed) return fmt::format("its seed is {}", now.seed);
  return {};
}

}  // namespace

ServedBandit::ServedBandit(std::string name, std::shared_ptr<LiveCalls> live, bool monitored)
    : name_(std::move(name)), live_(std::move(live)), monitored_(monitored), config_(live_->config()) {
  if (monitored_) monitor_.emplace(live_->store(), events_before_end(live_->store(), monitored_events), config_);
}

nlohmann::json ServedBandit::statistics() {
  const std::scoped_lock lock(monitoring_);
  asked_ = system_clock().steady();
  if (!monitor_) {
    monitor_.emplace(live_->store(), events_before_end(live_->store(), events_when_asked), config());
    monitor_->follow(live_->status().committed, events_when_asked);
  }
  return monitor_->statistics();
}

LiveConfig ServedBandit::config() const {
  if (!monitored_) return live_->config();
  const std::scoped_lock lock(mutex_);
  return config_;
}

void ServedBandit::change_config(const LiveConfig& config) {
  live_->change_config(config);
  const std::scoped_lock lock(mutex_);
  config_ = config;
}

void ServedBandit::change_actions(const std::vector<std::string>& add, const std::vector<std::string>& retire) {
  std::vector<Action> retired;  // before anything is changed
  for (const std::string& name : retire) retired.push_back(decider().action(name));
  const std::vector<std::string> known = decider().actions();
  std::vector<std::string> missing;  // a repeated request adds nothing
  std::ranges::copy_if(add, std::back_inserter(missing),
                       [&](const std::string& name) { return std::ranges::find(known, name) == known.end(); });
  if (!missing.empty()) live_->add_actions(missing);
  for (const Action action : retired) live_->retire(action);
  if (monitored_ && !(missing.empty() && retired.empty())) wait_until_learned();
}

// Once for all of them: those who change a bandit share one thread.
void ServedBandit::wait_until_learned() const {
  const EventNumber until = live_->status().committed;
  const Microseconds end = system_clock().steady() + patience;
  while (live_->status().learned < until && system_clock().steady() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void ServedBandit::follow(std::size_t most_events) {
  const std::scoped_lock monitoring(monitoring_);
  if (!monitored_ && system_clock().steady() - asked_ > unasked_after) monitor_.reset();
  if (!monitor_) return;
  try {
    monitor_->follow(live_->status().committed, most_events);
    const std::scoped_lock lock(mutex_);
    monitor_problem_.clear();
  } catch (const std::exception& e) {  // a group that cannot be read
    const std::scoped_lock lock(mutex_);
    monitor_problem_ = e.what();
  }
}

std::string ServedBandit::monitor_problem() const {
  const std::scoped_lock lock(mutex_);
  return monitor_problem_;
}

LiveSetup live_setup(const nlohmann::json& body) {
  LiveSetup setup;
  Fields list = fields(setup.config);
  for (const auto& [name, value] : body.items()) {
    try {
      if (name == "agent") {
        setup.agent = value.get<std::string>();
      } else if (name == "schema") {
        setup.schema = value.dump();
      } else if (name == "context_size") {
        setup.context_size = value.get<std::size_t>();
        if (!value.is_number_unsigned()) throw bad_input("'context_size' is a whole number from 0 on");
      } else if (name == "actions") {
        setup.actions = value.get<std::vector<std::string>>();
      } else if (name == "seed") {
        if (!value.is_number_unsigned()) throw bad_input("'seed' is a whole number from 0 on");
        setup.seed = value.get<std::uint64_t>();
      } else if (list.has(name)) {
        list.set(name, text_of(value, name));
      } else {
        throw unknown_name("field", name, known_fields(list));
      }
    } catch (const nlohmann::json::exception&) {
      throw bad_input("'{}' has the wrong type", name);
    }
  }
  if (!body.contains("rewards") && setup.config.window == 0.0) setup.config.rewards = RewardRule::first;
  return setup;
}

Bandits::Bandits(BanditSource& source) : source_(source), entries_(std::make_unique<Entries>()) {
  auto entries = std::make_unique<Entries>();
  for (const std::string& name : source_.names()) entries->emplace(name, Entry{});
  entries_.publish(std::move(entries));
}

std::shared_ptr<ServedBandit> Bandits::find(std::string_view name) const {
  return entries_.read([&](const Entries& entries) {
    const auto found = entries.find(name);
    if (found == entries.end()) {
      throw status_error(404, "there is no bandit '{}'; PUT /v1/bandits/NAME makes one", beginning(name));
    }
    const Entry& entry = found->second;
    if (!entry.problem.empty()) throw unavailable("the bandit '{}' cannot be opened: {}", name, entry.problem);
    if (!entry.bandit) throw unavailable("the bandit '{}' is being recovered", name);
    return entry.bandit;
  });
}

Bandits::Entries Bandits::entries() const {
  return entries_.read([](const Entries& entries) { return entries; });
}

void Bandits::set(const std::string& name, std::optional<Entry> entry) {
  const std::scoped_lock lock(changing_);
  auto next = std::make_unique<Entries>(entries());
  if (entry) {
    (*next)[name] = *std::move(entry);
  } else {
    next->erase(name);
  }
  entries_.publish(std::move(next));
}

// An entry without a bandit and without a problem: there is no log, only what a crash has left of a creation.
Bandits::Entry Bandits::opened(const std::string& name, const std::stop_token& stop) const {
  try {
    return {.bandit = source_.open(name, stop)};
  } catch (const std::exception& e) {
    return {.bandit = nullptr, .problem = e.what()};
  }
}

void Bandits::open_all(const std::stop_token& stop) {
  Entries all = entries();
  if (source_.shared()) {
    for (const std::string& name : source_.names()) all.try_emplace(name);
  }
  std::erase_if(all, [](const auto& entry) { return entry.second.bandit != nullptr; });
  auto next = all.begin();
  std::mutex taking;
  const auto open_some = [&] {
    for (;;) {
      std::unique_lock lock(taking);
      if (next == all.end() || stop.stop_requested()) return;
      const std::string& name = next++->first;
      lock.unlock();
      Entry now = opened(name, stop);
      const bool there = now.bandit || !now.problem.empty();
      set(name, there ? std::optional(std::move(now)) : std::nullopt);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(most_opened_at_once, all.size()); ++i) others.emplace_back(open_some);
  open_some();
}

bool Bandits::put(const std::string& name, const nlohmann::json& body) {
  check_name(name);
  const LiveSetup setup = live_setup(body);
  const Created asked = created_by(setup);
  if (!entries().contains(name)) {
    const bool created = source_.create(name, setup);
    set(name, opened(name));  // also where that failed: the log is there, and open_all() tries again
    if (created) {
      find(name);
      return true;
    }
  }
  const auto bandit = find(name);
  const Decider& decider = bandit->decider();
  const std::string wrong = difference(decider.created(), asked, decider.actions(), setup.seed.has_value());
  if (!wrong.empty()) throw status_error(409, "there is a bandit '{}' already: {}", name, wrong);
  try {
    // In a fleet others may have changed them: the log knows.
    const bool known = !source_.shared() && as_text(setup.config) == as_text(bandit->config());
    if (!known) bandit->change_config(setup.config);
  } catch (const Error& e) {
    if (is_refusal(e)) throw status_error(409, "{}", e.what());
    throw;
  }
  return false;
}

}  // namespace pits
