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

std::string unknown_word(const CLI::App& command, const std::string& word) {
  if (word.starts_with("-")) return unknown_name("option", word, option_names(command)).what();
  const std::vector<std::string> known = subcommand_names(command);
  if (!known.empty()) return unknown_name("subcommand", word, known).what();
  return fmt::format("'{}' is one argument too many", word);
}

}  // namespace

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;  // the innermost that was named
  std::string named;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    named += command->get_name() + " ";
  }
  const std::vector<std::string> left = app.remaining(true), known = subcommand_names(*command);
  std::string message = error.what();
  if (!left.empty()) {
    message = unknown_word(*command, left.front());
  } else if (!known.empty()) {
    message = fmt::format("a subcommand is needed: {}", fmt::join(known, ", "));
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::string given = message.substr(message.find(": ") + 2);  // "--resume = maybe"
    message = fmt::format("{} is a flag: it takes no value, or true or false", given);
  } else if (message.find("At Most 1 required") != std::string::npos) {
    message = message.substr(0, message.find(": ")) + " is given twice";
  } else if (message.ends_with(" missing")) {
    message = message.substr(0, message.find(": ")) + " needs a value";  // "--agent: 1 required TEXT missing"
  }
  return fmt::format("{} ('pits {}--help' says how)", message, named);
}

}  // namespace pits::cli
