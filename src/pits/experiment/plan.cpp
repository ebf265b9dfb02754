#include "pits/experiment/plan.h"

#include <algorithm>
#include <set>

#include "pits/core/kernels.h"
#include "pits/experiment/health_probe.h"
#include "pits/experiment/json_words.h"
#include "pits/experiment/posterior_probe.h"
#include "pits/revision.h"
#include "pits/version.h"

namespace pits {
namespace {

std::size_t positive(std::int64_t value, std::string_view name, std::int64_t limit) {
  if (value < 1 || value > limit) throw bad_input("{} must be at least 1 and at most {}, not {}", name, limit, value);
  return static_cast<std::size_t>(value);
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

Revealed revealed(const std::string& text) {
  Revealed feedback{};
  Fields{}.add("feedback", feedback, "").set("feedback", text);
  return feedback;
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

std::vector<std::string> labels_in(const nlohmann::ordered_json& list) {
  std::vector<std::string> names;
  for (const auto& item : list) names.push_back(item.at("label").get<std::string>());
  return names;
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
    : steps_(positive(config.steps, "steps", 4'000'000'000)),
      realizations_(positive(config.realizations, "realizations", 1'000'000)),
      seed_(static_cast<std::uint64_t>(config.seed)),
      feedback_(revealed(config.feedback)),
      probe_(config.probe),
      diagnostics_(config.diagnostics),
      data_dir_(config.data_dir),
      device_(config.device),
      precision_(config.precision) {
  if (!probe_.empty() && probe_ != "posterior") throw unknown_name("probe", probe_, {"posterior"});
  if (config.seed < 0) throw bad_input("seed must be at least 0, not {}", config.seed);
  if (config.agents.empty()) throw bad_input("no agent given: --agent NAME; 'pits list agents' shows them");
  if (config.environments.empty())
    throw bad_input("no environment given: --env NAME; 'pits list environments' shows them");
  for (const auto* texts : {&config.agents, &config.environments, &config.set, &config.set_env}) check_utf8(*texts);
  check_distinct(config.agents, "agent");
  check_distinct(config.environments, "environment");
  for (const std::string& text : config.agents) {
    const Spec spec = parse_spec(text);
    agents_.push_back({spec, find_recipe(catalogues.agents, "agent", spec)});
  }
  for (const std::string& text : config.environments) {
    const Spec spec = parse_spec(text);
    environments_.push_back({spec, find_recipe(catalogues.environments, "environment", spec)});
  }
  for (const std::string& text : config.set) assign(agents_, text, "agent", true);
  for (const std::string& text : config.set_env) assign(environments_, text, "environment", false);
}

Plan Plan::from_resolved(const nlohmann::ordered_json& resolved) {
  try {
    Plan plan({.agents = labels_in(resolved.at("agents")),
               .environments = labels_in(resolved.at("environments")),
               .steps = resolved.at("steps").get<std::int64_t>(),
               .realizations = resolved.at("realizations").get<std::int64_t>(),
               .seed = resolved.at("seed").get<std::int64_t>(),
               .feedback = resolved.value("feedback", "played"),
               .probe = resolved.value("probe", ""),
               .diagnostics = resolved.value("diagnostics", false),
               .device = resolved.value("device", ""),
               .precision = resolved.value("precision", "")},
              {}, Untried{});  // a label alone may not fit: what --set adds to it comes only now
    restore_fields(plan.agents_, resolved.at("agents"));
    restore_fields(plan.environments_, resolved.at("environments"));
    return plan;
  } catch (const nlohmann::json::exception& e) {
    throw bad_input("not the config of a run: {}", in_own_words(e));
  }
}

// Makes every agent for every environment once, so that a bad combination fails before hours of work, not after.
void Plan::try_out() {
  bool particles = false;
  for (NamedEnvironment& env : environments_) {
    env.tried = env.recipe->make(setup_of(0));
    env.data_sha256 = env.tried->data_sha256();
    env.remark = env.tried->remark();
    env.shape = {env.tried->context_size(), env.tried->actions()};
    const auto probe = make_probe(*env.tried);
    for (const NamedAgent& agent : agents_) {
      try {
        const auto made = agent.recipe->make({env.tried->context_size(), env.tried->actions(), seed_, 0});
        if (probe) probe->measure(*made);
        particles = particles || (diagnostics_ && HealthProbe::of(*made, steps_) != nullptr);
      } catch (const Error& e) {
        throw bad_input("agent '{}' on '{}': {}", agent.spec.text, env.spec.text, e.what());
      } catch (const std::bad_alloc&) {
        throw bad_input("agent '{}' on '{}' needs more memory than there is", agent.spec.text, env.spec.text);
      }
    }
  }
  if (diagnostics_ && !particles) {
    throw bad_input(
        "diagnostics look at particles, and no agent here has two or more; pi-ts, ensemble, ensemble-sampling, "
        "bootstrap and weighted-bootstrap have them");
  }
}

EnvironmentSetup Plan::setup_of(std::uint32_t realization) const {
  return {.seed = seed_, .realization = realization, .steps = steps_, .data_dir = data_dir_};
}

Cell Plan::cell(std::size_t index) const {
  const std::size_t per_environment = agents_.size() * realizations_;
  return {.index = index,
          .agent = index % per_environment / realizations_,
          .environment = index / per_environment,
          .realization = static_cast<std::uint32_t>(index % realizations_)};
}

std::size_t Plan::rounds(const Cell& cell) const {
  const auto& tried = environments_[cell.environment].tried;
  return tried == nullptr ? steps_ : std::min(steps_, tried->horizon());
}

Trajectory Plan::run(const Cell& cell, const RoundsDone& done) const {
  const auto environment = make_environment(cell);
  const auto agent = make_agent(cell, *environment);
  try {
    const auto probe = make_probe(*environment);
    const auto health = diagnostics_ ? HealthProbe::of(*agent, rounds(cell)) : nullptr;
    return run_rounds(*agent, *environment, steps_, done, {.probe = probe.get(), .health = health.get()}, feedback_);
  } catch (const Error& e) {
    throw Error(e.kind(), fmt::format("agent '{}' on '{}', realization {}: {}", agents_[cell.agent].spec.text,
                                      environments_[cell.environment].spec.text, cell.realization, e.what()));
  }
}

std::unique_ptr<Environment> Plan::make_environment(const Cell& cell) const {
  return environments_[cell.environment].recipe->make(setup_of(cell.realization));
}

std::unique_ptr<Agent> Plan::make_agent(const Cell& cell, const Environment& environment) const {
  return agents_[cell.agent].recipe->make({environment.context_size(), environment.actions(), seed_, cell.realization});
}

std::vector<std::string> Plan::agents() const { return labels(agents_); }
std::vector<std::string> Plan::environments() const { return labels(environments_); }

std::unique_ptr<Probe> Plan::make_probe(const Environment& environment) const {
  if (probe_.empty()) return nullptr;
  const auto* linear = dynamic_cast<const Linear*>(&environment);
  if (linear == nullptr) throw bad_input("probe=posterior knows the exact posterior of linear and sparse_linear only");
  return std::make_unique<PosteriorProbe>(*linear, steps_);
}

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
  nlohmann::ordered_json all = {{"version", version},
                                {"revision", revision},
                                {"simd", simd_target()},
                                {"seed", seed_},
                                {"steps", steps_},
                                {"realizations", realizations_},
                                {"agents", resolved_specs(agents_)},
                                {"environments", resolved_specs(environments_)}};
  if (feedback_ != Revealed::played) all["feedback"] = format_value(feedback_);
  if (!probe_.empty()) all["probe"] = probe_;
  if (diagnostics_) all["diagnostics"] = true;
  if (!device_.empty()) {
    all["device"] = device_;
    all["precision"] = precision_;
  }
  return all;
}

}  // namespace pits
