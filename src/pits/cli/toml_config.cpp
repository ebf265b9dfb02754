#include "pits/cli/toml_config.h"

#include <toml++/toml.h>

#include "pits/core/files.h"

namespace pits::cli {
namespace {

class Reader {
 public:
  explicit Reader(std::filesystem::path file) : file_(std::move(file)) {}

  void read(ExperimentConfig& config) const {
    const toml::table table = parse();
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (name == "agents") {
        config.agents = strings(name, node);
      } else if (name == "environments") {
        config.environments = strings(name, node);
      } else if (name == "steps") {
        config.steps = whole(name, node);
      } else if (name == "realizations") {
        config.realizations = whole(name, node);
      } else if (name == "seed") {
        config.seed = whole(name, node);
      } else if (name == "feedback") {
        config.feedback = value_text(name, node);
      } else if (name == "probe") {
        config.probe = value_text(name, node);
      } else if (name == "diagnostics") {
        config.diagnostics = flag(name, node);
      } else if (name == "set") {
        assignments(name, "", node, config.set);
      } else if (name == "set-env") {
        assignments(name, "", node, config.set_env);
      } else {
        const Error unknown = unknown_name("key", name,
                                           {"agents", "environments", "steps", "realizations", "seed", "feedback",
                                            "probe", "diagnostics", "set", "set-env"});
        throw bad_input("{}: {}", place(node), unknown.what());
      }
    }
  }

 private:
  toml::table parse() const {
    const std::string text = read_file(file_);
    try {
      return toml::parse(text, file_.string());
    } catch (const toml::parse_error& e) {
      throw bad_input("{}:{}: not TOML: {}", file_.string(), e.source().begin.line, e.description());
    }
  }

  std::string place(const toml::node& node) const {
    return fmt::format("{}:{}", file_.string(), node.source().begin.line);
  }

  std::int64_t whole(const std::string& key, const toml::node& node) const {
    if (const auto value = node.value_exact<std::int64_t>()) return *value;
    throw bad_input("{}: {} must be a whole number", place(node), key);
  }

  bool flag(const std::string& key, const toml::node& node) const {
    if (const auto value = node.value_exact<bool>()) return *value;
    throw bad_input("{}: {} must be true or false", place(node), key);
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
  void assignments(const std::string& key, const std::string& prefix, const toml::node& node,
                   std::vector<std::string>& out) const {
    if (const toml::table* table = node.as_table()) {
      for (const auto& [name, child] : *table) {
        const std::string dotted = prefix.empty() ? std::string(name.str()) : prefix + "." + std::string(name.str());
        assignments(key, dotted, child, out);
      }
    } else if (prefix.empty()) {
      throw bad_input("{}: {} must be a table", place(node), key);
    } else {
      out.push_back(prefix + "=" + value_text(prefix, node));
    }
  }

  std::filesystem::path file_;
};

}  // namespace

void read_toml(const std::filesystem::path& file, ExperimentConfig& config) { Reader(file).read(config); }

}  // namespace pits::cli
