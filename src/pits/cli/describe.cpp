// pits describe: the command line itself, from the definitions that --help shows, as completion for a shell, as man
// pages, or as a list.
#include <fmt/format.h>

#include <algorithm>

#include "pits/cli/commands.h"
#include "pits/core/error.h"
#include "pits/version.h"

namespace pits::cli {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

struct Command {
  std::string path;  // "pits data list"
  const CLI::App* app;
};

// A command and all below it, each before those below.
void collect(const std::string& path, const CLI::App& app, std::vector<Command>& into) {
  into.push_back({path, &app});
  for (const CLI::App* below : subcommands(app)) collect(path + " " + below->get_name(), *below, into);
}
std::vector<Command> all_commands(const CLI::App& app) {
  std::vector<Command> commands;
  collect("pits", app, commands);
  return commands;
}

bool is_named(const CLI::Option* option) { return !option->get_lnames().empty(); }
bool takes_value(const CLI::Option* option) { return !option->get_type_name().empty(); }  // a flag has no type

// --agent, --agent TEXT, or the name of a positional argument.
std::string name_of(const CLI::Option* option) {
  return is_named(option) ? "--" + option->get_lnames().front() : option->get_name(true);
}
std::string usage_of(const CLI::Option* option) {
  return is_named(option) && takes_value(option) ? name_of(option) + " " + option->get_type_name() : name_of(option);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// Joins what `text_of` gives for the options that `wanted` accepts.
template <class Wanted, class TextOf>
std::string joined_options(const CLI::App& app, std::string_view between, const Wanted& wanted, const TextOf& text_of) {
  std::vector<std::string> texts;
  for (const CLI::Option* option : app.get_options()) {
    if (wanted(option)) texts.push_back(text_of(option));
  }
  return fmt::to_string(fmt::join(texts, between));
}

// One command or option per line.
std::string as_list(const CLI::App& app) {
  std::string text;
  for (const Command& command : all_commands(app)) {
    text += command.path + "\n";
    for (const CLI::Option* option : command.app->get_options()) text += command.path + " " + usage_of(option) + "\n";
  }
  return text;
}

// Text in roff: no hyphen for a minus, no line that starts a request.
std::string roff(std::string text) {
  text = replaced(replaced(std::move(text), "\\", "\\e"), "-", "\\-");
  text = replaced(std::move(text), "\n.", "\n\\&.");
  return replaced(text.starts_with('.') || text.starts_with('\'') ? "\\&" + text : text, "\n'", "\n\\&'");
}

std::string man_options(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    text += fmt::format(".TP\n.B {}\n{}\n", roff(usage_of(option)), roff(option->get_description()));
  }
  return text;
}

// What a command line needs, e.g. "[OPTIONS] LOG": required options and positional arguments by name, others in
// brackets.
std::string synopsis(const CLI::App& app) {
  if (!subcommands(app).empty()) return "COMMAND [OPTIONS]";
  std::string text = "[OPTIONS]";
  for (const CLI::Option* option : app.get_options()) {
    if (is_named(option) && !option->get_required()) continue;
    const std::string words = usage_of(option) + (option->get_items_expected_max() > 1 ? "..." : "");
    text += option->get_required() ? " " + words : " [" + words + "]";
  }
  return text;
}

// The page of one command, with the commands below it.
std::string as_man(const CLI::App& app, const std::string& path) {
  const std::string title = replaced(path, " ", "-");
  std::string text = fmt::format(
      ".TH \"{}\" 1 \"\" \"pits {}\" \"pits\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n{}\n.SH OPTIONS\n{}",
      roff(title), version, roff(title), roff(app.get_description()), roff(path), roff(synopsis(app)),
      man_options(app));
  const bool whole = path == "pits";
  if (!subcommands(app).empty()) text += ".SH COMMANDS\n";
  for (const CLI::App* below : subcommands(app)) {
    const std::string name = below->get_name();
    text += whole ? fmt::format(".TP\n.BR pits\\-{} (1)\n{}\n", roff(name), roff(below->get_description()))
                  : fmt::format(".SS {} {} {}\n{}\n{}", roff(path), roff(name), roff(synopsis(*below)),
                                roff(below->get_description()), man_options(*below));
  }
  return text + ".SH NOTES\n.nf\n" + roff(app.get_footer()) + "\n.fi\n.SH SEE ALSO\n" +
         (whole ? "/usr/share/doc/pits\n" : ".BR pits (1)\n");
}

// The pattern of the paths that have commands or options of their own, below "pits".
std::string known_paths(const CLI::App& app) {
  std::vector<std::string> paths;
  for (const Command& command : all_commands(app)) {
    if (command.path != "pits") paths.push_back("\"" + command.path + "\"");
  }
  return fmt::to_string(fmt::join(paths, "|"));
}

std::string as_bash(const CLI::App& app) {
  std::string cases;
  for (const Command& command : all_commands(app)) {
    std::string below;
    for (const CLI::App* next : subcommands(*command.app)) below += next->get_name() + " ";
    cases += fmt::format("    \"{}\") commands=\"{}\" options=\"{}\" values=\" {} \" ;;\n", command.path, below,
                         joined_options(*command.app, " ", is_named, name_of),
                         joined_options(
                             *command.app, " ", [](auto* o) { return is_named(o) && takes_value(o); }, name_of));
  }
  constexpr const char* script = R"sh(# bash completion for pits, written by 'pits describe bash'
_pits() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local at=pits commands= options= values= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${{COMP_WORDS[i]}}" in
      {}) at="$at ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case $at in
{}  esac
  if [[ $before == --agent || $before == --env ]]; then
    local kind=agents
    [[ $before == --env ]] && kind=environments
    options=$("${{COMP_WORDS[0]}}" list $kind --json 2>/dev/null | sed -n 's/^{{"name":"\([^"]*\)".*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ $values == *" $before "* ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n $commands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -o filenames -F _pits pits
)sh";
  return fmt::format(script, known_paths(app), cases);
}

// A description inside quotes and brackets of zsh's _arguments and _describe.
std::string zsh(std::string text) {
  for (const char* special : {"\\", "[", "]", ":"})
    text = replaced(std::move(text), special, std::string("\\") + special);
  return replaced(replaced(std::move(text), "'", "'\\''"), "\n", " ");
}

// What zsh offers as the value of an option: the names of agents or problems, else files.
std::string zsh_value(const CLI::Option* option) {
  if (!takes_value(option)) return "";
  const std::string name = name_of(option);
  const std::string offered = name == "--agent" ? "_pits_names agents" : "_pits_names environments";
  return fmt::format(":{}:{}", zsh(option->get_type_name()), name == "--agent" || name == "--env" ? offered : "_files");
}

std::string as_zsh(const CLI::App& app) {
  std::string cases;
  for (const Command& command : all_commands(app)) {
    std::string below;
    for (const CLI::App* next : subcommands(*command.app)) {
      below += fmt::format(" '{}:{}'", next->get_name(), zsh(next->get_description()));
    }
    const std::string options = joined_options(*command.app, " ", is_named, [](const CLI::Option* o) {
      return fmt::format("'*{}[{}]{}'", name_of(o), zsh(o->get_description()), zsh_value(o));
    });
    cases += fmt::format("    (\"{}\")\n      commands=({})\n      options=({}) ;;\n", command.path, below, options);
  }
  constexpr const char* script = R"sh(#compdef pits
# zsh completion for pits, written by 'pits describe zsh'
_pits_names() {{
  local -a names
  names=(${{(f)"$($words[1] list $@[-1] --json 2>/dev/null | sed -n 's/^{{"name":"\([^"]*\)".*/\1/p')"}})
  compadd "${{(@)@[1,-2]}}" -a names
}}
_pits() {{
  local at=pits word
  local -a commands options
  for word in ${{words[2,CURRENT-1]}}; do
    case "$at $word" in
      ({}) at="$at $word" ;;
    esac
  done
  case $at in
{}  esac
  if (( $#commands )) && [[ $words[CURRENT] != -* ]]; then
    _describe command commands
  else
    _arguments $options '*:file:_files'
  fi
}}
# Loaded by compinit as the function _pits, this file is the first call; sourced, it only defines.
if [[ $funcstack[1] == _pits ]]; then
  _pits "$@"
else
  compdef _pits pits
fi
)sh";
  return fmt::format(script, known_paths(app), cases);
}

struct DescribeOptions {
  std::string form;
  std::string command;
};

std::string described(const CLI::App& app, const DescribeOptions& options) {
  if (!options.command.empty() && options.form != "man") throw bad_usage("describe {} takes no command", options.form);
  if (options.form == "list") return as_list(app);
  if (options.form == "bash") return as_bash(app);
  if (options.form == "zsh") return as_zsh(app);
  if (options.form != "man") throw unknown_name("form", options.form, {"bash", "zsh", "man", "list"});
  if (options.command.empty()) return as_man(app, "pits");
  std::vector<std::string> names;
  for (const CLI::App* command : subcommands(app)) {
    if (command->get_name() == options.command) return as_man(*command, "pits " + options.command);
    names.push_back(command->get_name());
  }
  throw unknown_name("command", options.command, names);
}

}  // namespace

std::function<int()> add_describe(CLI::App& app) {
  auto* command =
      app.add_subcommand("describe", "Print completion for bash or zsh, man pages, or a list of all options");
  auto options = std::make_shared<DescribeOptions>();
  command->add_option("form", options->form, "bash, zsh, man or list")->required();
  command->add_option("command", options->command, "with man: the page of this command");
  command->footer("Example:\n  pits describe bash");
  return [options, &app] {
    fmt::print("{}", described(app, *options));
    return 0;
  };
}

}  // namespace pits::cli
