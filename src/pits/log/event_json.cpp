#include "pits/log/event_json.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace pits {
namespace {

using Json = nlohmann::ordered_json;

struct ToJson {
  Json& out;

  template <class T>
  void operator()(std::string_view name, const T& field) const {
    out[std::string(name)] = field;
  }
  void operator()(std::string_view name, SettleReason reason) const { out[std::string(name)] = format_value(reason); }
  void operator()(std::string_view name, const TextFields& fields) const {
    Json& list = out[std::string(name)] = Json::object();
    for (const auto& [key, value] : fields) list[key] = value;
  }
};

// JSON's numbers would be cut to fit.
template <class T>
void read_whole(const Json& in, const std::string& name, T& out) {
  const Json& value = in.at(name);
  using Limits = std::numeric_limits<T>;
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= std::uint64_t{Limits::max()}
                                               : value.is_number_integer() && Limits::is_signed;
  if (!fits)
    throw bad_input("'{}' must be a whole number from {} to {}, not {}", name, Limits::min(), Limits::max(),
                    value.dump());
  value.get_to(out);
}

struct FromJson {
  const Json& in;

  template <class T>
  void operator()(std::string_view name, T& field) const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      read_whole(in, std::string(name), field);
    } else {
      in.at(std::string(name)).get_to(field);
    }
  }
  void operator()(std::string_view name, SettleReason& reason) const {
    parse_value(in.at(std::string(name)).get<std::string>(), reason);
  }
  void operator()(std::string_view name, TextFields& fields) const {
    for (const auto& [key, value] : in.at(std::string(name)).items()) fields.emplace_back(key, value);
  }
};

template <std::size_t i = 0>
Event read_event(const Json& json, const std::string& name) {
  if constexpr (i < std::variant_size_v<Event>) {
    using Kind = std::variant_alternative_t<i, Event>;
    if (name != Kind::name) return read_event<i + 1>(json, name);
    Kind event;
    event.visit(FromJson{json});
    if constexpr (Kind::version > 1) {
      event.visit_added([&](std::string_view field, auto& value) {
        if (json.contains(std::string(field))) FromJson{json}(field, value);
      });
    }
    return event;
  } else {
    throw bad_input("there is no event '{}'", name);
  }
}

}  // namespace

std::string to_json(const TimedEvent& event) {
  Json json;
  json["number"] = event.number;
  json["utc"] = event.time.utc;
  json["elapsed"] = event.time.elapsed;
  std::visit(
      [&](auto fields) {
        json["event"] = fields.name;
        fields.visit(ToJson{json});
        if constexpr (decltype(fields)::version > 1) {
          if (fields.has_added()) fields.visit_added(ToJson{json});
        }
      },
      event.event);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TimedEvent event_from_json(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    TimedEvent event;
    read_whole(json, "number", event.number);
    read_whole(json, "utc", event.time.utc);
    read_whole(json, "elapsed", event.time.elapsed);
    event.event = read_event(json, json.at("event").get<std::string>());
    return event;
  } catch (const nlohmann::json::exception& e) {
    throw bad_input("not an event in JSON: {}", e.what());
  }
}

LogImport::LogImport(Store& store) : store_(store) {
  if (store.last() != 0) throw bad_input("the store holds a log already");
}

void LogImport::add(const TimedEvent& event) {
  const EventNumber expected = last_ + group_.count() + 1;
  if (event.number != expected) {
    throw bad_input("event {} must follow, not {}; a log whose old events were dropped cannot be imported", expected,
                    event.number);
  }
  if (expected == 1 && !std::holds_alternative<Created>(event.event)) throw bad_input("event 1 must be 'created'");
  check_erased(event.event);
  const bool same_group = event.time.utc == time_.utc && event.time.elapsed == time_.elapsed;
  if (group_.count() > 0 && !same_group) commit();
  time_ = event.time;
  std::visit([&](const auto& fields) { group_.add(fields); }, event.event);
  if (const Decided* decided = decision_in(event.event); decided != nullptr && !decided->key.empty()) {
    keys_.emplace_back(decided->key, decided->id);
  }
}

void LogImport::check_erased(const Event& event) {
  if (const auto* created = std::get_if<Created>(&event)) {
    context_size_ = created->context_size;
    candidates_ = created->actions.empty();
  }
  const Decided* decided = decision_in(event);
  if (decided != nullptr && was_erased(*decided, context_size_, candidates_)) erased_.insert(decided->id);
  const auto* settled = std::get_if<Settled>(&event);
  if (settled == nullptr || erased_.erase(settled->id) == 0) return;
  if (settled->reason == SettleReason::cancelled || settled->reason == SettleReason::lost) return;
  throw bad_input(
      "the context of decision {} was erased, and what was learned of it is in the snapshots of its log, which an "
      "export "
      "does not have: copy the log's directory instead",
      settled->id);
}

void LogImport::commit() {
  store_.commit({.first = last_ + 1, .group = group_.finish(time_), .keys = keys_});
  last_ += group_.count();
  group_ = {};
  keys_.clear();
}

EventNumber LogImport::finish() {
  if (group_.count() > 0) commit();
  return last_;
}

}  // namespace pits
