// pits list: what there is, one line on each; with a name, its fields and their defaults.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pits/agent/catalogue.h"
#include "pits/cli/commands.h"
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

Json named_lines(const std::vector<std::string>& names, const std::vector<std::string>& summaries) {
  Json list = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) list.push_back({{"name", names[i]}, {"summary", summaries[i]}});
  return list;
}

Json contents(const std::string& kind, const Spec& spec) {
  if (kind == "agents") return describe_all(agent_catalogue(), "agent", spec);
  if (kind == "environments") return describe_all(environment_catalogue(), "environment", spec);
  if (kind == "flows") return named_lines(EnumNames<FlowKind>::names(), flow_summaries());
  if (kind == "targets") {
    Json list = Json::array();
    for (const TargetEntry& t : target_catalogue()) list.push_back({{"name", t.name}, {"summary", t.summary}});
    return list;
  }
  throw unknown_name("list", kind, {"agents", "environments", "flows", "targets"});
}

constexpr int name_width = 20;

void print_line(const Json& item) {
  fmt::print("{:<{}}{}\n", item["name"].get<std::string>(), name_width, item["summary"].get<std::string>());
  if (!item.contains("presets")) return;
  for (const Json& preset : item["presets"]) {
    fmt::print("{:<{}}  :{:<16}{}\n", "", name_width, preset["name"].get<std::string>(),
               preset["summary"].get<std::string>());
  }
}

void print_fields(const Json& item) {
  print_line(item);
  if (!item.contains("fields")) return;
  for (const Json& field : item["fields"]) {
    fmt::print("  {:<20}{:<20} {}\n", field["name"].get<std::string>(), field["default"].get<std::string>(),
               field["doc"].get<std::string>());
  }
}

int list(const ListOptions& options) {
  const Spec spec = options.name.empty() ? Spec{} : parse_spec(options.name);
  const Json items = contents(options.kind, spec);
  std::vector<std::string> names;
  bool found = options.name.empty();
  for (const Json& item : items) {
    const auto name = item["name"].get<std::string>();
    names.push_back(name);
    if (!options.name.empty() && spec.name != name) continue;
    found = true;
    if (options.json) {
      fmt::print("{}\n", item.dump());
    } else if (options.name.empty()) {
      print_line(item);
    } else {
      print_fields(item);
    }
  }
  if (!found) throw unknown_name(options.kind.substr(0, options.kind.size() - 1), spec.name, names);
  return 0;
}

}  // namespace

std::function<int()> add_list(CLI::App& app) {
  auto* command = app.add_subcommand("list", "List agents, environments, flows or targets");
  auto options = std::make_shared<ListOptions>();
  command->add_option("kind", options->kind, "agents, environments, flows or targets")->required();
  command->add_option("name", options->name,
                      "one of them, NAME[:PRESET]: what it is, with its fields and their values where it has some");
  command->add_flag("--json", options->json, "one JSON object a line");
  command->footer("Example:\n  pits list agents\n  pits list agents pi-ts:released");
  return [options] { return list(*options); };
}

}  // namespace pits::cli
