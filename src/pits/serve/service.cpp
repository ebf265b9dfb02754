#include "pits/serve/service.h"

#include "pits/core/thread_turns.h"
#include "pits/serve/page.h"

namespace pits {
namespace {

constexpr std::chrono::seconds follow_every{1}, open_again_every{2};
constexpr std::chrono::milliseconds look_for_others{500};  // bandits that another server of a fleet has made
constexpr int follows_per_interval = 30;                   // of latencies
constexpr int follows_per_retry = 2;                       // of a rotation that failed
constexpr std::size_t events_per_follow = 20'000;          // of one bandit's statistics

// Of "localhost:8080", "http://127.0.0.1" or "[::1]:80".
bool names_this_machine(std::string_view authority) {
  if (const std::size_t scheme = authority.find("://"); scheme != authority.npos) authority.remove_prefix(scheme + 3);
  for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (authority == name || (authority.starts_with(name) && authority[name.size()] == ':')) return true;
  }
  return false;
}

// Without keys everybody on this machine may do everything. Pages of other sites in a browser on this machine are not
// meant, but for those that were allowed: they would come with their own Origin, or by a name of theirs that leads here
// (DNS rebinding).
void refuse_other_sites(const HttpRequest& request, bool page_allowed) {
  const bool from_here = request.origin.empty() || page_allowed || names_this_machine(request.origin);
  const bool to_here = request.peer == "unix" || names_this_machine(request.host);
  if (from_here && to_here) return;
  throw status_error(403, "without --keys only this machine is answered, by the names localhost, 127.0.0.1 and [::1]");
}

// A browser asks with OPTIONS, without a key, whether a script of a page may call.
HttpReply may_call() {
  return {.status = 204,
          .headers =
              "Access-Control-Allow-Methods: GET, POST, PUT\r\n"
              "Access-Control-Allow-Headers: Authorization, Content-Type\r\nAccess-Control-Max-Age: 7200\r\n"};
}

}  // namespace

Service::Service(const ServiceConfig& config)
    : Service(config, config.fleet ? fleet_source(*config.fleet) : directory_source(config.store)) {}

Service::Service(const ServiceConfig& config, std::unique_ptr<BanditSource> source)
    : config_(config),
      requests_(routes().size()),
      source_(std::move(source)),
      credentials_(std::make_unique<Credentials>(
          Credentials{config.keys.empty() ? ApiKeys() : ApiKeys::read(config.keys), source_->tokens()})),
      bandits_(*source_),
      batches_(as_many_as_wait, config.threads) {
  recovery_ = std::jthread([this](const std::stop_token& stop) { recover(stop); });
  housekeeper_ = std::thread([this] { housekeeping(); });
}

Service::~Service() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  recovery_.request_stop();
  wake_.notify_all();
  housekeeper_.join();
  recovery_.join();
}

void Service::stop_watching() {
  for (Background* thread : {&changes_, &statistics_, &reports_, &lookups_, &batches_}) thread->stop();
}

void Service::reload() {
  const std::scoped_lock lock(reloading_);  // first: what was read later is published later
  publish_credentials(config_.keys.empty() ? ApiKeys() : ApiKeys::read(config_.keys));
}

void Service::publish_credentials(ApiKeys callers) {
  credentials_.publish(std::make_unique<Credentials>(Credentials{std::move(callers), source_->tokens()}));
  reloaded_at_ = system_clock().steady();
  const std::scoped_lock lock(mutex_);
  token_problem_.clear();
}

// The file of the callers' keys is read again when somebody asks for it, not by the clock.
void Service::rotate_tokens() {
  try {
    const std::scoped_lock lock(reloading_);
    publish_credentials(credentials_.read([](const Credentials& now) { return now.callers; }));
  } catch (const std::exception& e) {
    const std::scoped_lock lock(mutex_);
    token_problem_ = e.what();
  }
}

const std::string* Service::allowed_page(const HttpRequest& request) const {
  if (request.origin.empty()) return nullptr;
  const auto found = std::ranges::find(config_.pages, request.origin);
  return found == config_.pages.end() ? nullptr : &*found;
}

void Service::handle(const HttpRequest& request, Answerer answerer) {
  const std::string* const page = allowed_page(request);
  const RouteMatch match = match_route(request.method, request.path);
  Exchange exchange{.request = request,
                    .name = match.name,
                    .reply = Reply(std::move(answerer), requests_, static_cast<std::size_t>(match.route->id), page)};
  try {
    if (page != nullptr && request.method == "OPTIONS") return exchange.reply(may_call());
    if (match.route->id == RouteId::other && !match.allow.empty()) {
      return exchange.reply(HttpReply{.status = 405,
                                      .body = fmt::format("{{\"error\": \"this path takes {}\"}}\n", match.allow),
                                      .headers = fmt::format("Allow: {}\r\n", match.allow)});
    }
    credentials_.read([&](const Credentials& credentials) {
      if (match.route->scope == Scope::none) return 0;
      if (credentials.callers.empty()) {
        refuse_other_sites(request, page != nullptr);
      } else {
        credentials.callers.check(request.authorization, match.route->scope, system_clock().steady());
      }
      return 0;
    });
    dispatch(match.route->id, exchange);
  } catch (...) {
    exchange.reply(std::current_exception());
  }
}

void Service::dispatch(RouteId route, Exchange& e) {
  switch (route) {
    case RouteId::decide: return decide(e, false);
    case RouteId::rank: return decide(e, true);
    case RouteId::rewards: return reward(e);
    case RouteId::cancel: return settle(e, true);
    case RouteId::activate: return settle(e, false);
    case RouteId::put: return put(e);
    case RouteId::actions: return actions(e);
    case RouteId::state:
      return later(reports_, e,
                   [bandit = bandits_.find(e.name)] { return HttpReply{.body = state_of(*bandit).dump() + "\n"}; });
    case RouteId::statistics:
      return later(statistics_, e,
                   [bandit = bandits_.find(e.name)] { return HttpReply{.body = bandit->statistics().dump() + "\n"}; });
    case RouteId::bandits: return e.reply(list_of(bandits_.entries()).dump() + "\n");
    case RouteId::server: return e.reply(server().dump() + "\n");
    case RouteId::live: return e.reply(HttpReply{.body = "alive\n", .type = "text/plain; charset=utf-8"});
    case RouteId::ready: return e.reply(ready(e.request));
    case RouteId::metrics:
      return later(reports_, e,
                   [this] { return HttpReply{.body = metrics(), .type = "text/plain; version=0.0.4; charset=utf-8"}; });
    case RouteId::openapi: return e.reply(openapi_document());
    case RouteId::page:
      return e.reply(HttpReply{.body = std::string(service_page()),
                               .type = "text/html; charset=utf-8",
                               .headers = "Content-Security-Policy: frame-ancestors 'none'\r\nX-Frame-Options: "
                                          "DENY\r\nX-Content-Type-Options: nosniff\r\n"
                                          "Referrer-Policy: no-referrer\r\n"});
    case RouteId::other: break;
  }
  throw status_error(404, "there is no such path; GET /openapi.json lists all");
}

void Service::later(Background& thread, Exchange& exchange, std::function<HttpReply()> compute) {
  const auto reply = std::make_shared<Reply>(std::move(exchange.reply));
  const bool taken = thread.add([reply, compute = std::move(compute)] {
    try {
      (*reply)(compute());
    } catch (...) {
      (*reply)(std::current_exception());
    }
  });
  if (!taken) (*reply)(unavailable("too many requests of this kind wait"));
}

void Service::put(Exchange& e) {
  later(changes_, e, [this, name = std::string(e.name), body = std::string(e.request.body)] {
    const bool created = bandits_.put(name, read_object(body));
    return HttpReply{.status = created ? 201 : 200, .body = state_of(*bandits_.find(name)).dump() + "\n"};
  });
}

void Service::actions(Exchange& e) {
  later(changes_, e, [bandit = bandits_.find(e.name), body = std::string(e.request.body)] {
    const nlohmann::json json = read_object(body);
    std::vector<std::string> add, retire;
    for (const auto& [name, value] : json.items()) {
      if (name != "add" && name != "retire") throw unknown_name("field", name, {"add", "retire"});
      try {
        value.get_to(name == "add" ? add : retire);
      } catch (const nlohmann::json::exception&) {
        throw bad_input("'{}' is a list of names", name);
      }
    }
    bandit->change_actions(add, retire);
    return HttpReply{.body = state_of(*bandit).dump() + "\n"};
  });
}

// Logs that cannot be opened are tried again: a full disk may have room by then.
void Service::recover(const std::stop_token& stop) {
  for (;;) {
    bandits_.open_all(stop);
    if (stop.stop_requested()) return;
    recovered_ = true;
    std::unique_lock lock(mutex_);
    const std::chrono::milliseconds pause = source_->shared() ? look_for_others : open_again_every;
    if (wake_.wait_for(lock, pause, [&] { return stopping_; })) return;
  }
}

void Service::report_problems() {
  if (!config_.report || !recovered_) return;
  auto found = problems();
  for (const auto& [name, entry] : bandits_.entries()) {
    const std::string damage = entry.bandit ? entry.bandit->live().status().damage : "";
    if (!damage.empty()) found.push_back(fmt::format("{}: {}", name, damage));
  }
  const std::set<std::string> now(found.begin(), found.end());
  for (const std::string& problem : now) {
    if (!reported_.contains(problem)) config_.report(problem);
  }
  for (const std::string& problem : reported_) {
    if (!now.contains(problem)) config_.report("over: " + problem);
  }
  reported_ = now;
}

void Service::housekeeping() {
  name_thread("pits monitor");
  give_way();
  for (int turn = 1;; ++turn) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, follow_every, [&] { return stopping_; })) return;
    }
    for (const auto& [name, entry] : bandits_.entries()) {
      if (entry.bandit) entry.bandit->follow(events_per_follow);
    }
    report_problems();
    if (turn % follows_per_interval == 0) remember_latencies();
    if (reload_asked_.exchange(false) || turn % (tokens_fail() ? follows_per_retry : config_.token_turns) == 0) {
      rotate_tokens();
    }
  }
}

}  // namespace pits
