#include "pits/experiment/plan.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "pits/core/simd/kernels.h"
#include "pits/experiment/json_words.h"
#include "pits/revision.h"
#include "pits/version.h"

namespace pits {
namespace {

// A problem by the bare name of a table, where a kind of table is needed too.
void check_no_file(const std::string& name, const std::vector<EnvironmentEntry>& known) {
  if (std::ranges::find(known, name, &EnvironmentEntry::name) != known.end()) return;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name, ignored)) return;
  throw bad_input("environment '{0}' is a file: csv:{0} with --label COLUMN, or rewards:{0}", name);
}

// Applies text "name.field=value" or "field=value" to the things that have the field; at least one must.
template <class Named>
void assign(std::vector<Named>& things, std::string_view text, std::string_view what, bool name_needed) {
  const auto [target, value] = parse_assignment(text);
  const std::size_t dot = target.find('.');
  if (dot == 0 || (dot == std::string::npos && name_needed)) {
    throw bad_input("'{}' must look like {}.field=value", text, what);
  }
  const std::string name = dot == std::string::npos ? "" : target.substr(0, dot);
  const std::string field = dot == std::string::npos ? target : target.substr(dot + 1);
  std::set<std::string> names, field_names;
  bool used = false;
  for (Named& thing : things) {
    names.insert(thing.spec.name);
    if (!name.empty() && name != thing.spec.name) continue;
    Fields fields = thing.recipe->fields();
    for (const Field& f : fields.list()) field_names.insert(f.name);
    if (name.empty() && !fields.has(field)) continue;
    try {
      fields.set(field, value);
    } catch (const Error& e) {
      throw bad_input("{} '{}': {}", what, thing.spec.name, e.what());
    }
    used = true;
  }
  if (used) return;
  if (!name.empty()) throw unknown_name(fmt::format("{} in '{}'", what, text), name, {names.begin(), names.end()});
  throw unknown_name(fmt::format("field of an {} in '{}':", what, text), field,
                     {field_names.begin(), field_names.end()});
}

void check_distinct(const std::vector<std::string>& specs, std::string_view what) {
  std::set<std::string> seen;
  for (const std::string& spec : specs) {
    if (!seen.insert(spec).second) throw bad_input("{} '{}' is asked for twice", what, spec);
  }
}

// Labels and values become JSON, on the run's page and in its files.
void check_utf8(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    try {
      (void)nlohmann::json(text).dump();
    } catch (const nlohmann::json::type_error&) {
      const std::string shown = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      throw bad_input("{} is not UTF-8; rename the file or the column, or convert the text to UTF-8", shown);
    }
  }
}

template <class Named>
nlohmann::ordered_json resolved_specs(const std::vector<Named>& things) {
  auto list = nlohmann::ordered_json::array();
  for (const Named& thing : things) {
    nlohmann::ordered_json fields = nlohmann::ordered_json::object();
    for (const Field& field : thing.recipe->fields().list()) fields[field.name] = field.get();
    nlohmann::ordered_json item = {{"label", thing.spec.text}, {"name", thing.spec.name}, {"fields", fields}};
    if constexpr (requires { thing.data_sha256; }) {
      if (!thing.data_sha256.empty()) item["data_sha256"] = thing.data_sha256;
      item["contexts"] = thing.shape.contexts;
      item["actions"] = thing.shape.actions;
      if (!thing.remark.empty()) item["remark"] = thing.remark;
    }
    list.push_back(std::move(item));
  }
  return list;
}

// The inverse.
template <class Named>
void restore_fields(std::vector<Named>& things, const nlohmann::ordered_json& list) {
  for (std::size_t i = 0; i < things.size(); ++i) {
    for (const auto& [field, value] : list.at(i).at("fields").items()) {
      things[i].recipe->fields().set(field, value.template get<std::string>());
    }
    if constexpr (requires { things[i].data_sha256; }) {
      things[i].data_sha256 = list.at(i).value("data_sha256", "");
      things[i].remark = list.at(i).value("remark", "");
      things[i].shape = {list.at(i).value("contexts", std::size_t{0}), list.at(i).value("actions", std::size_t{0})};
    }
  }
}

bool is_text(const Field& field) { return field.type == FieldType::choice || field.type == FieldType::text; }

nlohmann::ordered_json value_of(const Field& field) {
  return is_text(field) ? nlohmann::ordered_json(field.get()) : nlohmann::ordered_json::parse(field.get());
}

// The inverse; agents and environments by their labels.
void restore(Fields& list, const Field& field, const nlohmann::ordered_json& value) {
  if (field.type != FieldType::texts) {
    return list.set(field.name, is_text(field) ? value.get<std::string>() : value.dump());
  }
  for (const auto& item : value) field.set(item.at("label").get<std::string>());
}

template <class Named>
std::vector<std::string> labels(const std::vector<Named>& things) {
  std::vector<std::string> names;
  for (const Named& thing : things) names.push_back(thing.spec.text);
  return names;
}

}  // namespace

Plan::Plan(const ExperimentConfig& config, const Catalogues& catalogues) : Plan(config, catalogues, Untried{}) {
  try_out();
}

Plan::Plan(const ExperimentConfig& config, const Catalogues& catalogues, Untried)
    : config_(checked(config)), diagnostics_(asked_diagnostics(config.probe, config.diagnostics)) {
  if (config.device != Device::cuda) {
    config_.device = Device::cpu;
    config_.precision = {};
  }
  if (config.agents.empty()) throw bad_input("no agent given: --agent NAME; 'pits list agents' shows them");
  if (config.environments.empty())
    throw bad_input("no environment given: --env NAME; 'pits list environments' shows them");
  for (const auto* texts : {&config.agents, &config.environments, &config.set, &config.set_env}) check_utf8(*texts);
  check_distinct(config.agents, "agent");
  check_distinct(config.environments, "environment");
  if (!config.compare.empty() && std::ranges::find(config.agents, config.compare) == config.agents.end()) {
    throw unknown_name("agent to compare with", config.compare, config.agents);
  }
  for (const std::string& text : config.agents) {
    const Spec spec = parse_spec(text);
    agents_.push_back({spec, find_recipe(catalogues.agents, "agent", spec)});
  }
  for (const std::string& text : config.environments) {
    const Spec spec = parse_spec(text);
    check_no_file(spec.name, catalogues.environments);
    environments_.push_back({spec, find_recipe(catalogues.environments, "environment", spec)});
  }
  for (const std::string& text : config.set) assign(agents_, text, "agent", true);
  for (const std::string& text : config.set_env) assign(environments_, text, "environment", false);
}

Plan Plan::from_resolved(const nlohmann::ordered_json& resolved) {
  try {
    ExperimentConfig config;
    Fields list = fields(config);
    for (const Field& field : list.list()) {
      const bool wanted = is_always_recorded(field) || (is_recorded(field) && resolved.contains(field.name));
      if (wanted) restore(list, field, resolved.at(field.name));
    }
    Plan plan(config, {}, Untried{});  // a label alone may not fit: what --set adds to it comes only now
    restore_fields(plan.agents_, resolved.at("agents"));
    restore_fields(plan.environments_, resolved.at("environments"));
    return plan;
  } catch (const nlohmann::json::exception& e) {
    throw bad_input("not the config of a run: {}", in_own_words(e));
  }
}

// Makes every agent for every environment once, so that a bad combination fails before hours of work, not after.
void Plan::try_out() {
  std::set<std::string_view> observed;
  for (NamedEnvironment& env : environments_) {
    env.tried = env.recipe->make(setup_of(0));
    env.data_sha256 = env.tried->data_sha256();
    env.remark = env.tried->remark();
    env.shape = {env.tried->context_size(), env.tried->actions()};
    for (const NamedAgent& agent : agents_) {
      try {
        const auto made = agent.recipe->make({env.tried->context_size(), env.tried->actions(), seed(), 0});
        for (const Diagnostic& d : diagnostics_) {
          if (d.make({*made, *env.tried, steps()})) observed.insert(d.name);
        }
      } catch (const Error& e) {
        throw bad_input("agent '{}' on '{}': {}", agent.spec.text, env.spec.text, e.what());
      } catch (const std::bad_alloc&) {
        throw bad_input("agent '{}' on '{}' needs more memory than there is", agent.spec.text, env.spec.text);
      }
    }
  }
  for (const Diagnostic& d : diagnostics_) {
    if (!observed.contains(d.name)) throw bad_input("{}", d.nothing_to_observe);
  }
}

EnvironmentSetup Plan::setup_of(std::uint32_t realization) const {
  return {.seed = seed(), .realization = realization, .steps = steps(), .data_dir = config_.data_dir};
}

Cell Plan::cell(std::size_t index) const {
  const std::size_t per_environment = agents_.size() * realizations();
  return {.index = index,
          .agent = index % per_environment / realizations(),
          .environment = index / per_environment,
          .realization = static_cast<std::uint32_t>(index % realizations())};
}

std::size_t Plan::rounds(const Cell& cell) const {
  const auto& tried = environments_[cell.environment].tried;
  return tried == nullptr ? steps() : std::min(steps(), tried->horizon());
}

// Realizations of a problem are averaged: they need as many rounds, contexts and actions.
void Plan::check_like_the_first(const Cell& cell, const Environment& environment) const {
  const auto [contexts, actions] = environments_[cell.environment].shape;
  const auto check = [](std::size_t n, std::size_t first, std::string_view what) {
    if (n != first)
      throw bad_input("this realization has {} {} and realization 0 has {}; they need as many", n, what, first);
  };
  check(std::min(steps(), environment.horizon()), rounds(cell), "rounds");
  check(environment.context_size(), contexts, "numbers in a context");
  check(environment.actions(), actions, "actions");
}

std::unique_ptr<Environment> Plan::make_environment(const Cell& cell) const {
  return environments_[cell.environment].recipe->make(setup_of(cell.realization));
}

std::unique_ptr<Agent> Plan::make_agent(const Cell& cell, const Environment& environment) const {
  return agents_[cell.agent].recipe->make(
      {environment.context_size(), environment.actions(), seed(), cell.realization});
}

std::vector<std::string> Plan::agents() const { return labels(agents_); }
std::vector<std::string> Plan::environments() const { return labels(environments_); }

std::vector<Plan::Shape> Plan::shapes() const {
  std::vector<Shape> list;
  for (const NamedEnvironment& env : environments_) list.push_back(env.shape);
  return list;
}

std::vector<std::string> Plan::remarks() const {
  std::vector<std::string> list;
  for (const NamedEnvironment& env : environments_) list.push_back(env.remark);
  return list;
}

nlohmann::ordered_json Plan::resolved() const {
  ExperimentConfig config = config_, untouched;
  nlohmann::ordered_json all = {
      {"version", version}, {"revision", revision}, {"simd", simd_target()}, {"seed", config.seed}};
  const std::vector<Field> defaults = fields(untouched).list();
  auto unchanged = defaults.begin();
  for (const Field& field : fields(config).list()) {
    const bool differs = field.get() != (unchanged++)->get();
    if (field.name == "agents") {
      all[field.name] = resolved_specs(agents_);
    } else if (field.name == "environments") {
      all[field.name] = resolved_specs(environments_);
    } else if (is_always_recorded(field) || (is_recorded(field) && differs)) {
      all[field.name] = value_of(field);
    }
  }
  if (config.device == Device::cuda) all["precision"] = format_value(config.precision);  // also at its default
  return all;
}

}  // namespace pits
