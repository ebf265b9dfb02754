// What the service says of itself: state, readiness, metrics.
#include <unistd.h>

#include <fstream>

#include "pits/serve/metrics_text.h"
#include "pits/serve/service.h"
#include "pits/version.h"

namespace pits {
namespace {

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0.0, resident = 0.0;
  file >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string problem_of(const std::string& name, const Bandits::Entry& entry) {
  if (!entry.problem.empty()) return fmt::format("{}: {}", name, entry.problem);
  if (!entry.bandit) return fmt::format("{}: it is being recovered", name);
  const LiveStatus status = entry.bandit->live().status();
  std::string problem = status.store_problem.empty() ? status.learning_problem : status.store_problem;
  if (problem.empty()) problem = entry.bandit->monitor_problem();
  return problem.empty() ? std::string() : fmt::format("{}: {}", name, problem);
}

void add_http_metrics(MetricsText& text, const HttpCounters& http) {
  text.add("pits_http_connections_open", "gauge", "Connections that are open", static_cast<double>(http.open));
  text.add("pits_http_connections_total", "counter", "Connections accepted", static_cast<double>(http.accepted));
  text.add("pits_http_buffered_bytes", "gauge", "Bodies of requests that come or wait, and replies that are not sent",
           static_cast<double>(http.buffered));
  text.add("pits_http_connections_refused_total", "counter", "Connections above a limit",
           static_cast<double>(http.refused));
  text.add("pits_http_malformed_total", "counter", "Requests that are not HTTP, or too large",
           static_cast<double>(http.malformed));
  text.add("pits_http_timeouts_total", "counter", "Connections closed because the client was too slow",
           static_cast<double>(http.timeouts));
  text.add("pits_http_requests_waiting", "gauge", "Requests without an answer yet", static_cast<double>(http.waiting));
}

struct Metric {
  const char *name, *type, *help;
  double (*value)(const LiveStatus&);
};

const auto& bandit_metrics() {
  static constexpr auto as_number = [](auto n) { return static_cast<double>(n); };
  static constexpr std::array all{
      Metric{"pits_decisions_total", "counter", "Decisions made",
             [](const LiveStatus& s) { return as_number(s.made); }},
      Metric{"pits_decisions_unlogged_total", "counter", "Decisions answered whose record could not be queued",
             [](const LiveStatus& s) { return as_number(s.unlogged); }},
      Metric{"pits_decisions_queued", "gauge", "Decisions that are not durable yet",
             [](const LiveStatus& s) { return as_number(s.queued); }},
      Metric{"pits_decisions_restored_total", "counter", "Decisions whose lost record a token brought back",
             [](const LiveStatus& s) { return as_number(s.durable.restored); }},
      Metric{"pits_rewards_total", "counter", "Rewards accepted",
             [](const LiveStatus& s) { return as_number(s.durable.rewards); }},
      Metric{"pits_settled_total", "counter", "Decisions settled by a reward, their window or a cancel",
             [](const LiveStatus& s) { return as_number(s.durable.settled); }},
      Metric{"pits_events_committed", "gauge", "Number of the last durable event",
             [](const LiveStatus& s) { return as_number(s.committed); }},
      Metric{"pits_events_lag", "gauge", "Durable events that are not learned yet",
             [](const LiveStatus& s) { return as_number(s.committed - std::min(s.committed, s.learned)); }},
      Metric{"pits_outcomes_refused_total", "counter", "Outcomes that the agent could not learn",
             [](const LiveStatus& s) { return as_number(s.refused); }},
      Metric{"pits_trainings_total", "counter", "Trainings adopted",
             [](const LiveStatus& s) { return as_number(s.trainings); }},
      Metric{"pits_training", "gauge", "1 while a training is under way or due",
             [](const LiveStatus& s) { return s.training ? 1.0 : 0.0; }},
      Metric{"pits_model_age_seconds", "gauge", "Seconds since decisions knew all that was written, in a fleet",
             [](const LiveStatus& s) { return s.model_age; }},
      Metric{"pits_learned_here", "gauge", "1 where this server learns the bandit",
             [](const LiveStatus& s) { return s.held ? 1.0 : 0.0; }},
      Metric{"pits_store_failing", "gauge", "1 while the store does not take what is written",
             [](const LiveStatus& s) { return s.store_problem.empty() ? 0.0 : 1.0; }}};
  return all;
}

void add_bandit_metrics(MetricsText& text, const Bandits::Entries& entries) {
  std::vector<std::pair<std::string, LiveStatus>> all;
  for (const auto& [name, entry] : entries) {
    if (entry.bandit) all.emplace_back(name, entry.bandit->live().status());
  }
  for (const Metric& metric : bandit_metrics()) {
    text.head(metric.name, metric.type, metric.help);
    for (const auto& [name, status] : all) text.sample(metric.name, {{"bandit", name}}, metric.value(status));
  }
  text.head("pits_bandit_ready", "gauge",
            "1 where the bandit decides; 0: its log is being recovered or cannot be opened");
  for (const auto& [name, entry] : entries)
    text.sample("pits_bandit_ready", {{"bandit", name}}, entry.bandit ? 1.0 : 0.0);
}

void add_request_metrics(MetricsText& text, const RequestMetrics& requests) {
  text.head("pits_requests_total", "counter", "Requests answered, by route and class of status");
  for (const Route& route : routes()) {
    const auto totals = requests.totals(static_cast<std::size_t>(route.id));
    for (std::size_t c = 0; c < totals.by_class.size(); ++c) {
      if (totals.by_class[c] == 0) continue;
      text.sample("pits_requests_total",
                  {{"route", route_label(route)}, {"status", c == 0 ? "other" : fmt::format("{}xx", c)}},
                  static_cast<double>(totals.by_class[c]));
    }
  }
  text.head("pits_request_seconds", "histogram", "Time from a request's last byte to its reply");
  for (const Route& route : routes()) {
    const auto totals = requests.totals(static_cast<std::size_t>(route.id));
    text.histogram("pits_request_seconds", {{"route", route_label(route)}}, totals.counts, totals.seconds);
  }
}

nlohmann::json settings_of(LiveConfig settings) {
  nlohmann::json config = nlohmann::json::object();
  for (const Field& field : fields(settings).list()) {
    const std::string text = field.get();
    if (field.name == "reward_range") {  // two numbers, as in a PUT
      config[field.name] = text.empty() ? nlohmann::json() : nlohmann::json::parse("[" + text + "]");
    } else if (field.type == FieldType::text || field.type == FieldType::choice) {
      config[field.name] = text;
    } else {
      config[field.name] = nlohmann::json::parse(text);
    }
  }
  return config;
}

}  // namespace

nlohmann::json state_of(ServedBandit& bandit) {
  const Decider& decider = bandit.decider();
  const LiveStatus status = bandit.live().status();
  const Created& created = decider.created();
  const auto retired = decider.retired();
  auto actions = nlohmann::json::array();
  const auto names = decider.actions();
  for (Action a = 0; a < names.size(); ++a) {
    actions.push_back({{"name", names[a]}, {"retired", a < retired.size() && retired[a] != 0}});
  }
  nlohmann::json state = {{"name", bandit.name()},
                          {"agent", created.agent},
                          {"context_size", created.context_size},
                          {"seed", created.seed},
                          {"engine", engine_name()},
                          {"actions", actions},
                          {"config", settings_of(bandit.config())},
                          {"events", {{"committed", status.committed}, {"learned", status.learned}}},
                          {"decisions", status.made},
                          {"rewards", status.durable.rewards},
                          {"settled", status.durable.settled},
                          {"unlogged", status.unlogged},
                          {"restored", status.durable.restored},
                          {"queued", status.queued},
                          {"refused", status.refused},
                          {"training", status.training},
                          {"trainings", status.trainings},
                          {"learned_here", status.held},
                          {"model_age", status.model_age},
                          {"problem", status.problem}};
  if (!created.schema.empty()) state["schema"] = nlohmann::json::parse(created.schema);
  return state;
}

nlohmann::json list_of(const Bandits::Entries& entries) {
  auto list = nlohmann::json::array();
  for (const auto& [name, entry] : entries) {
    list.push_back({{"name", name}, {"ready", entry.bandit != nullptr}, {"problem", problem_of(name, entry)}});
  }
  return {{"bandits", list}};
}

std::vector<std::string> Service::problems() const {
  std::vector<std::string> all;
  if (draining_) all.emplace_back("the service is stopping");
  if (!recovered_) all.emplace_back("logs are being recovered");
  const std::string of_all = source_->problem();
  if (!of_all.empty()) all.push_back(of_all);
  for (const auto& [name, entry] : bandits_.entries()) {
    if (!of_all.empty() && entry.bandit) continue;
    std::string problem = problem_of(name, entry);
    if (problem.empty() && config_.fleet) {
      const LiveStatus status = entry.bandit->live().status();
      if (status.model_age > config_.oldest_model) {
        problem = fmt::format("{}: its policy is {:.0f} s old{}{}", name, status.model_age,
                              status.problem.empty() ? "" : ": ", status.problem);
      }
    }
    if (!problem.empty()) all.push_back(std::move(problem));
  }
  const std::scoped_lock lock(mutex_);
  if (!token_problem_.empty()) all.push_back(token_problem_);
  return all;
}

std::vector<std::string> Service::unwritten() const {
  std::vector<std::string> lines;
  for (const auto& [name, entry] : bandits_.entries()) {
    if (!entry.bandit) continue;
    const LiveStatus status = entry.bandit->live().status();
    if (status.queued == 0 || status.store_problem.empty()) continue;
    lines.push_back(fmt::format("{}: {} decisions are not in the log: {}", name, status.queued, status.store_problem));
  }
  return lines;
}

// Where there are keys, names and paths are for those who may read; whoever balances the load needs the status alone.
HttpReply Service::ready(const HttpRequest& request) const {
  auto found = problems();
  const bool ready = found.empty();
  const bool may_read = credentials_.read(
      [&](const Credentials& credentials) { return credentials.callers.allow(request.authorization, Scope::read); });
  if (!ready && !may_read) {
    found = {fmt::format("{} problem{}; a key with the scope 'read' is told which", found.size(),
                         found.size() == 1 ? "" : "s")};
  }
  const nlohmann::json body = {{"ready", ready}, {"problems", found}};
  return {.status = ready ? 200 : 503, .body = body.dump() + "\n", .retry_after = ready ? 0 : 1};
}

LatencyHistogram::Counts Service::all_latencies() const {
  LatencyHistogram::Counts all{};
  for (std::size_t route = 0; route < requests_.routes(); ++route) {
    const auto totals = requests_.totals(route);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += totals.counts[i];
  }
  return all;
}

void Service::remember_latencies() {
  Latencies now{.counts = all_latencies()};
  const std::scoped_lock lock(mutex_);
  earlier_ = std::exchange(later_, now);
}

nlohmann::json Service::server() const {
  LatencyHistogram::Counts recent = all_latencies();
  std::uint64_t count = 0;
  double seconds = 0.0;
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < recent.size(); ++i) count += recent[i] -= earlier_.counts[i];
    seconds = std::chrono::duration<double>(RequestMetrics::now() - earlier_.at).count();
  }
  const auto micros = [&](double q) { return 1e6 * LatencyHistogram::quantile(recent, q); };
  const std::chrono::duration<double> uptime = RequestMetrics::now() - start_;
  const HttpServer* http = http_;
  return {{"version", version},
          {"uptime_s", uptime.count()},
          {"requests_per_second", static_cast<double>(count) / std::max(seconds, 1e-3)},
          {"latency_us", {{"p50", micros(0.5)}, {"p99", micros(0.99)}, {"p999", micros(0.999)}}},
          {"open_connections", http == nullptr ? 0 : http->counters().open},
          {"draining", draining_.load()},
          {"problems", problems()}};
}

std::string Service::metrics() const {
  MetricsText text;
  text.head("pits_build_info", "gauge", "Always 1");
  text.sample("pits_build_info", {{"engine", engine_name()}}, 1.0);
  const std::chrono::duration<double> uptime = RequestMetrics::now() - start_;
  text.add("pits_uptime_seconds", "gauge", "Since the start", uptime.count());
  text.add("process_resident_memory_bytes", "gauge", "Resident memory", resident_bytes());
  text.add("pits_ready", "gauge", "1 where /readyz answers 200", problems().empty() ? 1.0 : 0.0);
  if (const HttpServer* http = http_) add_http_metrics(text, http->counters());
  add_bandit_metrics(text, bandits_.entries());
  add_request_metrics(text, requests_);
  return text.finish();
}

}  // namespace pits
