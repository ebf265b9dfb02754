#include "pits/cli/toml_config.h"

#include <toml++/toml.h>

#include <algorithm>

#include "pits/cli/options.h"
#include "pits/core/io/files.h"

namespace pits::cli {
namespace {

constexpr std::size_t most_bytes = 1 << 20;
constexpr std::size_t most_dots = 1000;

class Reader {
 public:
  explicit Reader(std::filesystem::path file) : file_(std::move(file)) {}

  std::vector<NamedExperiment> read() const {
    const toml::table file = parse();
    NamedExperiment common;
    read(file, "run", common.config);
    const toml::node* runs = file.get("run");
    if (runs == nullptr) return {common};
    if (!runs->is_array_of_tables()) throw bad_input("{}: run must be tables, [[run]]", place(*runs));
    std::vector<NamedExperiment> list;
    for (const toml::node& node : *runs->as_array()) {
      const toml::table& table = *node.as_table();
      NamedExperiment one{.name = name_of(table), .config = common.config};
      if (std::ranges::find(list, one.name, &NamedExperiment::name) != list.end()) {
        throw bad_input("{}: a run called '{}' is there already", place(node), one.name);
      }
      if (table.contains("agents")) one.config.agents.clear();
      if (table.contains("environments")) one.config.environments.clear();
      read(table, "name", one.config);
      list.push_back(std::move(one));
    }
    return list;
  }

 private:
  // All keys but `other` are fields.
  void read(const toml::table& table, std::string_view other, ExperimentConfig& config) const {
    Fields all = fields(config);
    for (const auto& [key, node] : table) {
      if (key.str() == other) continue;
      const auto field = std::ranges::find(all.list(), std::string(key.str()), key_of);
      if (field == all.list().end()) throw unknown_key(all, key.str(), node);
      set(all, *field, node);
    }
  }

  // It is the name of a directory, too.
  std::string name_of(const toml::table& run) const {
    const auto name = run["name"].value_exact<std::string>();
    const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
    if (!name || name->empty() || !std::ranges::all_of(*name, plain)) {
      throw bad_input("{}: a run needs a name of letters, digits, - and _", place(run));
    }
    return *name;
  }

  toml::table parse() const {
    const std::string text = read_file(file_, most_bytes);
    check_depth(text);
    try {
      return toml::parse(text, file_.string());
    } catch (const toml::parse_error& e) {
      throw bad_input("{}:{}: not TOML: {}", file_.string(), e.source().begin.line, e.description());
    }
  }

  // The library calls itself for every part of a dotted key, so that a very long one would overflow the stack. A key or
  // value lies between two of these characters.
  void check_depth(std::string_view text) const {
    std::size_t line = 1, dots = 0;
    for (const char c : text) {
      if (std::string_view("=,{}[]\n").find(c) != std::string_view::npos) dots = 0;
      dots += c == '.' ? 1 : 0;
      line += c == '\n' ? 1 : 0;
      if (dots > most_dots) throw bad_input("{}:{}: a key of more than {} parts", file_.string(), line, most_dots);
    }
  }

  Error unknown_key(const Fields& all, std::string_view key, const toml::node& node) const {
    std::vector<std::string> known;
    std::ranges::transform(all.list(), std::back_inserter(known), key_of);
    return bad_input("{}: {}", place(node), unknown_name("key", key, known).what());
  }

  void set(Fields& all, const Field& field, const toml::node& node) const {
    const std::string key = key_of(field);
    if (field.type == FieldType::texts) {
      for (const std::string& text : field.name.starts_with("set") ? assignments(key, node) : strings(key, node)) {
        field.set(text);
      }
      return;
    }
    const std::string text = scalar_text(key, field.type, node);
    try {
      all.set(field.name, text);
    } catch (const Error& e) {
      throw bad_input("{}: {}", place(node), e.what());
    }
  }

  std::string place(const toml::node& node) const {
    return fmt::format("{}:{}", file_.string(), node.source().begin.line);
  }

  std::string scalar_text(const std::string& key, FieldType type, const toml::node& node) const {
    if (type == FieldType::whole && !node.is_integer())
      throw bad_input("{}: {} must be a whole number", place(node), key);
    if (type == FieldType::flag && !node.is_boolean())
      throw bad_input("{}: {} must be true or false", place(node), key);
    return value_text(key, node);
  }

  std::vector<std::string> strings(const std::string& key, const toml::node& node) const {
    std::vector<std::string> list;
    const toml::array* array = node.as_array();
    if (array == nullptr) throw bad_input("{}: {} must be a list of strings", place(node), key);
    for (const toml::node& item : *array) {
      const auto text = item.value_exact<std::string>();
      if (!text) throw bad_input("{}: {} must be a list of strings", place(item), key);
      list.push_back(*text);
    }
    return list;
  }

  // A scalar or a list of scalars as the text that a field parses.
  std::string value_text(const std::string& key, const toml::node& node) const {
    if (const auto text = node.value_exact<std::string>()) return *text;
    if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
    if (const auto number = node.value_exact<std::int64_t>()) return fmt::format("{}", *number);
    if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
    if (const toml::array* array = node.as_array()) {
      std::vector<std::string> items;
      for (const toml::node& item : *array) items.push_back(value_text(key, item));
      return fmt::format("{}", fmt::join(items, ","));
    }
    throw bad_input("{}: {} must be a number, a string, true or false, or a list", place(node), key);
  }

  // Tables become dotted names: [set.pi-ts] particles = 5 → "pi-ts.particles=5".
  std::vector<std::string> assignments(const std::string& key, const toml::node& node) const {
    if (!node.is_table()) throw bad_input("{}: {} must be a table", place(node), key);
    std::vector<std::string> list;
    add_assignments("", node, list);
    return list;
  }

  void add_assignments(const std::string& prefix, const toml::node& node, std::vector<std::string>& out) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      out.push_back(prefix + "=" + value_text(prefix, node));
      return;
    }
    for (const auto& [name, child] : *table) {
      add_assignments(prefix.empty() ? std::string(name.str()) : prefix + "." + std::string(name.str()), child, out);
    }
  }

  std::filesystem::path file_;
};

}  // namespace

std::vector<NamedExperiment> read_toml(const std::filesystem::path& file) { return Reader(file).read(); }

}  // namespace pits::cli
