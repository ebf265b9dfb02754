// The OpenAPI document: paths from the table of routes, settings of a bandit from LiveConfig's list of fields.
#include <nlohmann/json.hpp>

#include "pits/log/live_config.h"
#include "pits/serve/routes.h"
#include "pits/version.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schemas = R"json({
  "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
  "Context": {"description": "An object of named values where the bandit has a schema, else a list of numbers",
    "oneOf": [{"type": "object"}, {"type": "array", "items": {"type": "number"}}]},
  "OneDecide": {"type": "object", "additionalProperties": false, "properties": {
    "context": {"$ref": "#/components/schemas/Context"},
    "allowed": {"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "Names of the actions to choose from; default: all"},
    "key": {"type": "string", "maxLength": 256, "description": "The caller's own name: a second decision with it is the first one. Durable before it is answered"},
    "features": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}, "description": "A row per candidate, for agents that score candidates"}}},
  "Decide": {"oneOf": [{"$ref": "#/components/schemas/OneDecide"},
    {"type": "object", "required": ["decisions"], "additionalProperties": false, "properties": {
      "decisions": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"$ref": "#/components/schemas/OneDecide"}}}}]},
  "OneDecided": {"type": "object", "required": ["id", "action", "propensity", "propensity_error", "model"], "properties": {
    "id": {"type": "integer"},
    "action": {"oneOf": [{"type": "string"}, {"type": "integer"}], "description": "Its name; the number of the candidate where candidates came with the request"},
    "propensity": {"type": "number", "description": "The probability with which it was chosen"},
    "propensity_error": {"type": "number", "description": "The largest error of it; 0: exact"},
    "model": {"type": "integer", "description": "The events that the model had learned"},
    "token": {"type": "string", "description": "To be sent with the reward: it brings the decision back if its record was lost in a crash. None where the record is durable already"}}},
  "Decided": {"oneOf": [{"$ref": "#/components/schemas/OneDecided"},
    {"type": "object", "required": ["decisions"], "properties": {
      "decisions": {"type": "array", "items": {"$ref": "#/components/schemas/OneDecided"}}}}]},
  "OneRanked": {"allOf": [{"$ref": "#/components/schemas/OneDecided"}, {"type": "object", "required": ["ranking"], "properties": {
    "ranking": {"type": "array", "description": "The decided action first; the reward is for it", "items": {"type": "object", "required": ["action", "probability"], "properties": {
      "action": {"oneOf": [{"type": "string"}, {"type": "integer"}]}, "probability": {"type": "number"}}}}}}]},
  "Ranked": {"oneOf": [{"$ref": "#/components/schemas/OneRanked"},
    {"type": "object", "required": ["decisions"], "properties": {
      "decisions": {"type": "array", "items": {"$ref": "#/components/schemas/OneRanked"}}}}]},
  "Decision": {"type": "object", "additionalProperties": false, "description": "One of the three says which decision", "properties": {
    "id": {"type": "integer"}, "decision": {"type": "string", "description": "The caller's key"},
    "token": {"type": "string"}}},
  "Reward": {"type": "object", "required": ["value"], "additionalProperties": false, "properties": {
    "id": {"type": "integer"}, "decision": {"type": "string", "description": "The caller's key of the decision, instead of its id"},
    "token": {"type": "string"}, "value": {"type": "number"},
    "key": {"type": "string", "maxLength": 256, "description": "Of this reward: the same key again is a retry"}}},
  "Rewards": {"oneOf": [{"$ref": "#/components/schemas/Reward"},
    {"type": "object", "required": ["rewards"], "additionalProperties": false, "properties": {
      "rewards": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"$ref": "#/components/schemas/Reward"}}}}]},
  "AnswerName": {"type": "string", "enum": ["accepted", "duplicate", "expired", "unknown", "full"]},
  "Answer": {"type": "object", "required": ["answer"], "properties": {"answer": {"$ref": "#/components/schemas/AnswerName"}}},
  "Answers": {"oneOf": [{"$ref": "#/components/schemas/Answer"},
    {"type": "object", "required": ["answers"], "properties": {
      "answers": {"type": "array", "items": {"$ref": "#/components/schemas/AnswerName"}}}}]},
  "Actions": {"type": "object", "additionalProperties": false, "properties": {
    "add": {"type": "array", "items": {"type": "string"}}, "retire": {"type": "array", "items": {"type": "string"}}}},
  "State": {"type": "object", "required": ["name", "agent", "actions", "config", "events", "decisions", "rewards", "problem"], "properties": {
    "name": {"type": "string"}, "agent": {"type": "string"}, "context_size": {"type": "integer"}, "seed": {"type": "integer"},
    "schema": {"type": "object"}, "engine": {"type": "string"},
    "actions": {"type": "array", "items": {"type": "object", "required": ["name", "retired"], "properties": {
      "name": {"type": "string"}, "retired": {"type": "boolean"}}}},
    "events": {"type": "object", "required": ["committed", "learned"], "properties": {
      "committed": {"type": "integer"}, "learned": {"type": "integer"}}},
    "decisions": {"type": "integer"}, "rewards": {"type": "integer"}, "settled": {"type": "integer"},
    "unlogged": {"type": "integer"}, "restored": {"type": "integer"}, "queued": {"type": "integer"}, "refused": {"type": "integer"},
    "training": {"type": "boolean"}, "trainings": {"type": "integer"},
    "learned_here": {"type": "boolean", "description": "Whether this server of a fleet learns it"},
    "model_age": {"type": "number", "description": "Seconds since decisions knew all that was written, in a fleet"},
    "problem": {"type": "string"}}},
  "Statistics": {"type": "object", "description": "Of the events from `from` to `to`. Times are seconds since 1970, UTC. Actions are given by number",
    "required": ["from", "to", "utc", "decisions", "rewards", "restored", "unlogged", "settled", "waiting", "one_in", "window", "rates", "series", "propensities", "calibration", "models", "values"],
    "properties": {
    "from": {"type": "integer"}, "to": {"type": "integer"}, "utc": {"type": "number"},
    "decisions": {"type": "integer"}, "rewards": {"type": "integer"}, "restored": {"type": "integer"}, "unlogged": {"type": "integer"},
    "settled": {"type": "object", "properties": {"reward": {"type": "integer"}, "expired": {"type": "integer"},
      "cancelled": {"type": "integer"}, "lost": {"type": "integer"}}},
    "waiting": {"type": "integer"},
    "one_in": {"type": "integer", "description": "Above 1: rewards, values and waiting are of a sample, one decision in so many"},
    "window": {"type": "boolean", "description": "Whether decisions settle by themselves"},
    "rates": {"type": "object", "description": "Per second", "properties": {
      "last_10_s": {"$ref": "#/components/schemas/Rates"}, "last_60_s": {"$ref": "#/components/schemas/Rates"}}},
    "series": {"type": "object", "properties": {
      "all": {"$ref": "#/components/schemas/Series"}, "recent": {"$ref": "#/components/schemas/Series"}}},
    "propensities": {"type": "object", "description": "Of the actions that were taken", "properties": {
      "edges": {"type": "array", "items": {"type": "number"}, "description": "Upper ends of the bins"},
      "counts": {"type": "array", "items": {"type": "integer"}}, "certain": {"type": "integer"},
      "estimated": {"type": "integer"}, "least": {"type": "number", "nullable": true}}},
    "calibration": {"type": "array", "description": "A tenth of the propensities each", "items": {"type": "object", "properties": {
      "pairs": {"type": "integer"}, "expected": {"type": "number"}, "observed": {"type": "number"}, "error": {"type": "number"}}}},
    "models": {"type": "object", "properties": {
      "versions": {"type": "integer"}, "adopted": {"type": "integer"}, "skipped": {"type": "integer"},
      "last": {"type": "array", "items": {"type": "object", "properties": {
        "model": {"type": "integer"}, "decisions": {"type": "integer"}, "first_used": {"type": "number"}}}},
      "trainings": {"type": "array", "items": {"type": "object", "properties": {
        "event": {"type": "integer"}, "began": {"type": "integer"}, "utc": {"type": "number"}, "problem": {"type": "string"}}}}}},
    "values": {"type": "object", "description": "What policies would have earned per decision", "properties": {
      "level": {"type": "number", "description": "Of the intervals, which hold at every look"},
      "range": {"type": "array", "items": {"type": "number"}, "nullable": true},
      "rounds": {"type": "integer"}, "left_out": {"type": "integer"}, "outside": {"type": "integer"}, "interval_rounds": {"type": "integer"},
      "logged": {"$ref": "#/components/schemas/PolicyValue"}, "uniform": {"$ref": "#/components/schemas/PolicyValue"},
      "actions": {"type": "array", "items": {"$ref": "#/components/schemas/PolicyValue"}}}}}},
  "Rates": {"type": "object", "properties": {"decisions": {"type": "number"}, "rewards": {"type": "number"}, "settled": {"type": "number"}}},
  "Series": {"type": "object", "description": "Buckets of equal length", "properties": {
    "start": {"type": "number"}, "seconds": {"type": "number"},
    "decisions": {"type": "array", "items": {"type": "integer"}}, "rewards": {"type": "array", "items": {"type": "integer"}},
    "settled": {"type": "array", "items": {"type": "integer"}},
    "waiting": {"type": "array", "items": {"type": "integer"}, "description": "Of the decisions of that time, as what follows"},
    "outcomes": {"type": "array", "items": {"type": "integer"}},
    "sum": {"type": "array", "items": {"type": "number"}}, "squares": {"type": "array", "items": {"type": "number"}},
    "actions": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}}},
  "PolicyValue": {"type": "object", "properties": {
    "ips": {"type": "number", "nullable": true}, "error": {"type": "number", "nullable": true},
    "snips": {"type": "number", "nullable": true}, "effective": {"type": "number", "nullable": true},
    "interval": {"type": "array", "items": {"type": "number"}, "nullable": true}}},
  "Bandits": {"type": "object", "required": ["bandits"], "properties": {"bandits": {"type": "array", "items": {
    "type": "object", "required": ["name", "ready", "problem"], "properties": {
      "name": {"type": "string"}, "ready": {"type": "boolean"}, "problem": {"type": "string"}}}}}},
  "Ready": {"type": "object", "required": ["ready", "problems"], "properties": {
    "ready": {"type": "boolean"}, "problems": {"type": "array", "items": {"type": "string"},
      "description": "In words; without a key that may read, where there are keys: one sentence with their number"}}},
  "Server": {"type": "object", "required": ["version", "uptime_s", "requests_per_second", "latency_us", "open_connections", "draining", "problems"],
    "properties": {"version": {"type": "string"}, "uptime_s": {"type": "number"}, "requests_per_second": {"type": "number"},
    "latency_us": {"type": "object", "required": ["p50", "p99", "p999"], "properties": {
      "p50": {"type": "number"}, "p99": {"type": "number"}, "p999": {"type": "number"}}},
    "open_connections": {"type": "integer"}, "draining": {"type": "boolean"},
    "problems": {"type": "array", "items": {"type": "string"}}}}
})json";

Json property_of(const Field& field) {
  Json property;
  switch (field.type) {
    case FieldType::flag: property["type"] = "boolean"; break;
    case FieldType::whole: property["type"] = "integer"; break;
    case FieldType::number: property["type"] = "number"; break;
    case FieldType::choice: property = {{"type", "string"}, {"enum", field.choices}}; break;
    default: property["type"] = "string"; break;
  }
  if (field.name == "reward_range") {
    property = {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 2}, {"maxItems", 2}};
  }
  property["description"] = field.doc + "; default: " + (field.get().empty() ? "none" : field.get());
  if (field.name == "rewards") property["description"] = field.doc + "; default: largest, or first without a window";
  return property;
}

Json settings() {
  Json properties;
  LiveConfig config;
  for (const Field& field : fields(config).list()) properties[field.name] = property_of(field);
  return properties;
}

Json bandit_schema() {
  Json properties = {
      {"agent", {{"type", "string"}, {"description", "NAME[:PRESET][,field=value...]; default: pi-ts"}}},
      {"schema", {{"type", "object"}, {"description", "Of named contexts; without it contexts are lists of numbers"}}},
      {"context_size", {{"type", "integer"}, {"description", "Length of the lists, where there is no schema"}}},
      {"actions",
       {{"type", "array"},
        {"items", {{"type", "string"}}},
        {"description", "Their names; none: candidates come with each decision"}}},
      {"seed", {{"type", "integer"}, {"description", "Random unless given"}}}};
  properties.update(settings());
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

Json reference(std::string_view schema) {
  return {{"application/json", {{"schema", {{"$ref", "#/components/schemas/" + std::string(schema)}}}}}};
}

Json operation(const Route& route) {
  Json operation = {{"summary", route.summary}};
  if (route.scope != Scope::none) {
    operation["description"] = "Scope of the key: " + std::string(enum_names<Scope>[static_cast<int>(route.scope)]);
    operation["security"] = Json::array({{{"key", Json::array()}}});
  }
  if (route.path.find('{') != std::string_view::npos) {
    operation["parameters"] =
        Json::array({{{"name", "name"},
                      {"in", "path"},
                      {"required", true},
                      {"schema", {{"type", "string"}, {"pattern", "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}}}}});
  }
  if (!route.request.empty()) operation["requestBody"] = {{"required", true}, {"content", reference(route.request)}};
  Json done = {{"description", "done"}};
  if (!route.response.empty()) done["content"] = reference(route.response);
  Json& responses = operation["responses"];
  responses["200"] = done;
  if (route.id == RouteId::put) {
    responses["200"]["description"] = "it was there, and has these settings now";
    responses["201"] = {{"description", "created"}, {"content", done["content"]}};
  }
  responses["default"] = {{"description", "refused"}, {"content", reference("Error")}};
  return operation;
}

Json document() {
  Json paths;
  for (const Route& route : routes()) {
    if (route.id == RouteId::other) continue;
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    paths[std::string(route.path)][method] = operation(route);
  }
  Json components = {{"schemas", Json::parse(schemas)},
                     {"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}};
  components["schemas"]["Bandit"] = bandit_schema();
  Json now = settings();
  now["reward_range"]["nullable"] = true;
  components["schemas"]["State"]["properties"]["config"] = {{"type", "object"}, {"properties", now}};
  return {{"openapi", "3.0.3"},
          {"info", {{"title", "pits"}, {"version", version}, {"description", "Decisions of contextual bandits"}}},
          {"paths", paths},
          {"components", components}};
}

}  // namespace

const std::string& openapi_document() {
  static const std::string text = document().dump(1) + "\n";
  return text;
}

}  // namespace pits
