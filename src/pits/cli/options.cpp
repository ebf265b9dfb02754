#include "pits/cli/options.h"

#include <algorithm>

namespace pits::cli {
namespace {

std::string option_of(const Field& field) {
  if (field.name == "agents") return "--agent";  // one at a time
  if (field.name == "environments") return "--env";
  return "--" + key_of(field);
}

std::string help_of(const Field& field) {
  const std::string choices = field.choices.empty() ? "" : fmt::format("{}; ", fmt::join(field.choices, ", "));
  const std::string value = field.get();
  return value.empty() ? field.doc : fmt::format("{} ({}default {})", field.doc, choices, value);
}

}  // namespace

std::string key_of(const Field& field) {
  std::string key = field.name;
  std::ranges::replace(key, '_', '-');
  return key;
}

void FieldOptions::add(CLI::App& command, const Field& field) {
  const std::string option = option_of(field);
  const auto take = [this, name = field.name](const std::string& word) { give(name, word); };
  const auto take_whole = [take, option](const std::string& word) {
    whole_number<std::int64_t>(option, word);
    take(word);
  };
  const auto take_all = [take](const std::vector<std::string>& words) { std::ranges::for_each(words, take); };
  if (field.type == FieldType::flag) {
    command.add_flag_callback(
        option, [take] { take("true"); }, field.doc);
  } else if (field.type == FieldType::whole) {
    command.add_option_function<std::string>(option, take_whole, help_of(field))->type_name("INT");
  } else if (field.type == FieldType::texts) {
    command.add_option_function<std::vector<std::string>>(option, take_all, field.doc)->allow_extra_args(false);
  } else {
    add_text(command, option, take, help_of(field));
  }
}

void FieldOptions::apply(Fields fields) const {
  for (const auto& [field, words] : given_) {
    for (const std::string& word : words) fields.set(field, word);
  }
}

}  // namespace pits::cli
