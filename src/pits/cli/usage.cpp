#include "pits/cli/usage.h"

#include "pits/core/error.h"

namespace pits::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string unknown_word(const CLI::App& app, const CLI::App& command, const std::string& word) {
  if (word.starts_with("-")) return unknown_name("option", word, option_names(command)).what();
  if (&command == &app) return unknown_name("subcommand", word, subcommand_names(app)).what();
  return fmt::format("'{}' is one argument too many", word);
}

}  // namespace

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const bool named = !app.get_subcommands().empty();
  const CLI::App& command = named ? *app.get_subcommands().front() : app;
  const std::vector<std::string> left = app.remaining(true);
  std::string message = error.what();
  if (!left.empty()) {
    message = unknown_word(app, command, left.front());
  } else if (!named) {
    message = fmt::format("a subcommand is needed: {}", fmt::join(subcommand_names(app), ", "));
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    message = message.substr(message.find(": ") + 2) + " must be a whole number";  // "--steps = abc"
  } else if (message.ends_with(" missing")) {
    message = message.substr(0, message.find(": ")) + " needs a value";  // "--agent: 1 required TEXT missing"
  }
  return fmt::format("{} ('pits {}--help' says how)", message, named ? command.get_name() + " " : "");
}

}  // namespace pits::cli
