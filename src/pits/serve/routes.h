// The routes of the service: one table for dispatching, scopes, metrics and the OpenAPI document.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "pits/serve/api_keys.h"

namespace pits {

enum class RouteId {
  decide,
  rank,
  rewards,
  cancel,
  activate,
  put,
  state,
  statistics,
  actions,
  bandits,
  server,
  live,
  ready,
  metrics,
  openapi,
  page,
  other,  // no such route
};

struct Route {
  RouteId id;
  std::string_view method;
  std::string_view path;  // with {name} for the name of a bandit
  Scope scope;
  std::string_view summary;
  std::string_view request = {}, response = {};  // names of schemas; empty: none, or no JSON
};

// In the order of RouteId; the last stands for all requests without a route.
std::span<const Route> routes();

struct RouteMatch {
  const Route* route;     // `other` where nothing matches
  std::string_view name;  // of the bandit
  std::string allow;      // methods of the path, where it exists for others only
};
RouteMatch match_route(std::string_view method, std::string_view path);

// OpenAPI 3.0 as JSON.
const std::string& openapi_document();

}  // namespace pits
