// pits list: names with a line on each; of one name its fields and their defaults.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pits/agent/catalogue.h"
#include "pits/cli/commands.h"
#include "pits/core/io/text_table.h"
#include "pits/environment/catalogue.h"
#include "pits/flow/flow.h"
#include "pits/target/target.h"

namespace pits::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ListOptions {
  std::string kind;
  std::string name;
  bool json = false;
};

// {name, summary, presets: [{name, summary}], fields: [{name, default, doc}]}, the fields as `spec` sets them.
template <class Product, class Setup>
Json describe(const std::vector<Entry<Product, Setup>>& catalogue, const Entry<Product, Setup>& entry,
              std::string_view what, const Spec& spec) {
  Json presets = Json::array();
  for (const Preset& p : entry.presets) presets.push_back({{"name", p.name}, {"summary", p.summary}});
  Json fields = Json::array();
  const auto recipe = find_recipe(catalogue, what, spec.name == entry.name ? spec : parse_spec(entry.name));
  for (const Field& f : recipe->fields().list()) {
    fields.push_back({{"name", f.name}, {"default", f.get()}, {"doc", f.doc}});
  }
  return {{"name", entry.name}, {"summary", entry.summary}, {"presets", presets}, {"fields", fields}};
}

template <class Catalogue>
Json describe_all(const Catalogue& catalogue, std::string_view what, const Spec& spec) {
  Json list = Json::array();
  for (const auto& entry : catalogue) list.push_back(describe(catalogue, entry, what, spec));
  return list;
}

Json named_lines(std::span<const char* const> names, const std::vector<std::string>& summaries) {
  Json list = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) list.push_back({{"name", names[i]}, {"summary", summaries[i]}});
  return list;
}

Json contents(const std::string& kind, const Spec& spec) {
  if (kind == "agents") return describe_all(agent_catalogue(), "agent", spec);
  if (kind == "environments") return describe_all(environment_catalogue(), "environment", spec);
  if (kind == "flows") return named_lines(enum_names<FlowKind>, flow_summaries());
  if (kind == "targets") {
    Json list = Json::array();
    for (const TargetEntry& t : target_catalogue()) list.push_back({{"name", t.name}, {"summary", t.summary}});
    return list;
  }
  throw unknown_name("list", kind, {"agents", "environments", "flows", "targets"});
}

// Name and summary, then its presets.
void add_rows(const Json& item, TextTable& table) {
  const auto text = [](const Json& of, const char* key) { return of[key].get<std::string>(); };
  table.rows.push_back({text(item, "name"), text(item, "summary")});
  if (!item.contains("presets")) return;
  for (const Json& preset : item["presets"]) {
    table.rows.push_back({"  :" + text(preset, "name"), text(preset, "summary")});
  }
}

// The listed things; of a single one its fields too.
std::string list_text(const Json& items, bool with_fields) {
  TextTable names{.header = {}, .rows = {}, .left = 2};
  for (const Json& item : items) add_rows(item, names);
  if (!with_fields || !items[0].contains("fields") || items[0]["fields"].empty()) return as_text(names);
  TextTable fields{.header = {}, .rows = {}, .left = 3};
  for (const Json& field : items[0]["fields"]) {
    fields.rows.push_back({"  " + field["name"].get<std::string>(), field["default"].get<std::string>(),
                           field["doc"].get<std::string>()});
  }
  return as_text(names) + as_text(fields);
}

int list(const ListOptions& options) {
  const Spec spec = options.name.empty() ? Spec{} : parse_spec(options.name);
  std::vector<std::string> names;
  Json chosen = Json::array();
  for (const Json& item : contents(options.kind, spec)) {
    names.push_back(item["name"].get<std::string>());
    if (options.name.empty() || spec.name == names.back()) chosen.push_back(item);
  }
  if (chosen.empty()) throw unknown_name(options.kind.substr(0, options.kind.size() - 1), spec.name, names);
  if (!options.json) fmt::print("{}", list_text(chosen, !options.name.empty()));
  for (const Json& item : chosen) {
    if (options.json) fmt::print("{}\n", item.dump());
  }
  return 0;
}

}  // namespace

std::function<int()> add_list(CLI::App& app) {
  auto* command = app.add_subcommand("list", "List agents, environments, flows or targets");
  auto options = std::make_shared<ListOptions>();
  command->add_option("kind", options->kind, "agents, environments, flows or targets")->required();
  command->add_option("name", options->name,
                      "one of them, NAME[:PRESET]: what it is, with its fields and their values where it has some");
  command->add_flag("--json", options->json, "one JSON object per line");
  command->footer("Example:\n  pits list agents\n  pits list agents pi-ts:released");
  return [options] { return list(*options); };
}

}  // namespace pits::cli
