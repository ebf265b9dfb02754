#include "pits/serve/routes.h"

#include <array>

namespace pits {
namespace {

constexpr std::string_view name_mark = "{name}";

constexpr std::array table{
    Route{RouteId::decide, "POST", "/v1/bandits/{name}/decide", Scope::decide, "Decide: one action per context",
          "Decide", "Decided"},
    Route{RouteId::rank, "POST", "/v1/bandits/{name}/rank", Scope::decide, "Decide, and put the other actions in order",
          "Decide", "Ranked"},
    Route{RouteId::rewards, "POST", "/v1/bandits/{name}/rewards", Scope::reward,
          "Give rewards; answered when they are durable", "Rewards", "Answers"},
    Route{RouteId::cancel, "POST", "/v1/bandits/{name}/cancel", Scope::reward,
          "What was decided was never shown: nothing is learned of it", "Decision", "Answer"},
    Route{RouteId::activate, "POST", "/v1/bandits/{name}/activate", Scope::reward, "What was decided has been shown",
          "Decision", "Answer"},
    Route{RouteId::put, "PUT", "/v1/bandits/{name}", Scope::admin, "Create a bandit, or change its settings", "Bandit",
          "State"},
    Route{RouteId::state,
          "GET",
          "/v1/bandits/{name}/state",
          Scope::read,
          "Settings, actions and how far learning is",
          {},
          "State"},
    Route{RouteId::statistics,
          "GET",
          "/v1/bandits/{name}/statistics",
          Scope::read,
          "What the page shows",
          {},
          "Statistics"},
    Route{RouteId::actions, "POST", "/v1/bandits/{name}/actions", Scope::admin, "Add or retire actions", "Actions",
          "State"},
    Route{RouteId::bandits, "GET", "/v1/bandits", Scope::read, "All bandits", {}, "Bandits"},
    Route{RouteId::server,
          "GET",
          "/v1/server",
          Scope::read,
          "Latency, connections and problems of the server",
          {},
          "Server"},
    Route{RouteId::live, "GET", "/livez", Scope::none, "200 while the process answers"},
    Route{RouteId::ready,
          "GET",
          "/readyz",
          Scope::none,
          "200 where every bandit decides and its store takes rewards; else 503 and why",
          {},
          "Ready"},
    Route{RouteId::metrics, "GET", "/metrics", Scope::read, "Metrics in the text format of Prometheus"},
    Route{RouteId::openapi, "GET", "/openapi.json", Scope::none, "This document"},
    Route{RouteId::page, "GET", "/", Scope::none, "The page for people"},
    Route{RouteId::other, "", "", Scope::none, "Requests without a route"}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].id) != i) return false;
  }
  return true;
}
static_assert(in_order());

// Whether the path is the route's; sets the bandit's name.
bool fits(const Route& route, std::string_view path, std::string_view& name) {
  const std::size_t start = route.path.find(name_mark);
  if (start == std::string_view::npos) return path == route.path;
  const std::string_view before = route.path.substr(0, start), after = route.path.substr(start + name_mark.size());
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after)) return false;
  const std::string_view middle = path.substr(before.size(), path.size() - before.size() - after.size());
  if (middle.find('/') != std::string_view::npos) return false;
  name = middle;
  return true;
}

}  // namespace

std::span<const Route> routes() { return table; }

RouteMatch match_route(std::string_view method, std::string_view path) {
  RouteMatch match{.route = &table.back(), .name = {}, .allow = {}};
  const std::string_view as = method == "HEAD" ? "GET" : method;
  for (const Route& route : std::span(table).first(table.size() - 1)) {
    std::string_view name;
    if (!fits(route, path, name)) continue;
    if (route.method == as) return {.route = &route, .name = name, .allow = {}};
    match.allow += (match.allow.empty() ? "" : ", ") + std::string(route.method);
  }
  return match;
}

}  // namespace pits
