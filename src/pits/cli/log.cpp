// pits log: exports, imports and checks the log of a live bandit, makes its decisions again, and erases contexts.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "pits/cli/commands.h"
#include "pits/cli/options.h"
#include "pits/cli/terminal.h"
#include "pits/core/io/files.h"
#include "pits/log/audit.h"
#include "pits/log/event_json.h"
#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"

namespace pits::cli {
namespace {

using Json = nlohmann::ordered_json;
using Path = std::filesystem::path;

struct LogOptions {
  std::string directory;
  std::string file;
  bool json = false;
  std::vector<std::uint64_t> ids;
  std::optional<std::int64_t> older_than;  // days
  std::string reason;
};

int export_events(const LogOptions& options) {
  const SqliteStore store(options.directory, Access::read);
  for_each_event(store, [](EventNumber number, const GroupTime& time, const Event& event) {
    fmt::print("{}\n", to_json({.number = number, .time = time, .event = event}));
  });
  return 0;
}

EventNumber import_lines(Store& store, const std::string& file) {
  std::ifstream lines(file);
  if (!lines) throw bad_input("cannot read '{}'", file);
  LogImport import(store);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    ++count;
    try {
      import.add(event_from_json(line));
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("'{}', line {}: {}", file, count, e.what()));
    }
  }
  if (count == 0) throw bad_input("'{}' has no events", file);
  return import.finish();
}

// The directory is there completely or not at all.
int import_events(const LogOptions& options) {
  const Path target = options.directory;
  if (std::filesystem::exists(target))
    throw bad_input("'{}' is there already; a log is imported as a new one", target.string());
  const Path unfinished = target.string() + ".importing";
  std::filesystem::remove_all(unfinished);
  try {
    EventNumber last = 0;
    {
      SqliteStore store(unfinished);
      last = import_lines(store, options.file);
      check_log(store);
    }
    std::filesystem::rename(unfinished, target);
    fmt::print("{} events\n", last);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(unfinished, ignored);
    throw;
  }
  return 0;
}

int check(const LogOptions& options) {
  const SqliteStore store(options.directory, Access::read);
  const LogSummary log = check_log(store);
  if (options.json) {
    const Json json = {{"events", log.events},   {"decisions", log.decisions}, {"rewards", log.rewards},
                       {"settled", log.settled}, {"waiting", log.waiting},     {"snapshots", store.snapshots().size()}};
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("whole: {} events; {} decisions, of which {} settled and {} wait; {} rewards; {} snapshots\n",
               log.events, log.decisions, log.settled, log.waiting, log.rewards, store.snapshots().size());
  }
  return 0;
}

int verify(const LogOptions& options) {
  const SqliteStore store(options.directory, Access::read);
  const Verification found = verify_log(store);
  if (options.json) {
    const Json json = {{"same", found.same},
                       {"different", found.different},
                       {"other_engine", found.other_engine},
                       {"out_of_reach", found.out_of_reach},
                       {"examples", found.examples}};
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("same {}, different {}, other engine {}, out of reach {}\n", found.same, found.different,
               found.other_engine, found.out_of_reach);
  }
  if (found.different == 0) return 0;
  throw failed("{} decisions differ, the first with the id {}", found.different, found.examples.front());
}

int erase(const LogOptions& options) {
  if (options.ids.empty() && !options.older_than) throw bad_usage("say which: --ids or --older-than");
  // All that is learned goes into a snapshot first.
  if (!std::filesystem::exists(Path(options.directory) / "events.db")) {
    throw bad_input("'{}' holds no log: there is no events.db", options.directory);
  }
  { LiveBandit(std::make_unique<SqliteStore>(options.directory)).catch_up(); }
  SqliteStore store(options.directory);
  const std::set<DecisionId> ids(options.ids.begin(), options.ids.end());
  constexpr Microseconds day = 86'400'000'000;
  const Microseconds before = options.older_than ? system_clock().utc() - *options.older_than * day : 0;
  const std::uint64_t erased = erase_contexts(store, options.reason, [&](DecisionId id, const GroupTime& time) {
    return ids.contains(id) || (options.older_than && time.utc < before);
  });
  fmt::print("{} contexts erased\n", erased);
  return 0;
}

CLI::App* add_command(CLI::App& log, const std::string& name, const std::string& text, LogOptions& options,
                      const std::string& example) {
  auto* command = log.add_subcommand(name, text);
  add_text(*command, "DIR", options.directory, "directory of the log")->required();
  command->footer("Example:\n  pits log " + example);
  return command;
}

}  // namespace

std::function<int()> add_log(CLI::App& app) {
  auto* log = app.add_subcommand("log", "Export, import, check, verify or erase the log of a live bandit");
  log->require_subcommand(1);
  log->footer("Example:\n  pits log check shop");
  auto options = std::make_shared<LogOptions>();
  auto* exports =
      add_command(*log, "export", "Print every event as a line of JSON", *options, "export shop > shop.jsonl");
  auto* imports = add_command(*log, "import", "Make a new log of exported lines", *options, "import copy shop.jsonl");
  add_text(*imports, "FILE", options->file, "lines of JSON")->required();
  auto* checks = add_command(*log, "check", "Read all events: is anything missing, damaged or contradictory?", *options,
                             "check shop");
  auto* verifies = add_command(*log, "verify", "Make every decision again and compare actions and probabilities",
                               *options, "verify shop");
  for (auto* command : {checks, verifies}) command->add_flag("--json", options->json, "one JSON object");
  auto* erases = add_command(*log, "erase", "Blank contexts of settled decisions, while no service uses the log",
                             *options, "erase shop --older-than 30");
  erases->add_option("--ids", options->ids, "decisions")->delimiter(',')->type_name("INT");
  add_whole(*erases, "--older-than", options->older_than, "decisions that are older than this number of days");
  add_text(*erases, "--reason", options->reason, "recorded in the log");
  return [options, exports, imports, checks, verifies] {
    if (exports->parsed()) return export_events(*options);
    if (imports->parsed()) return import_events(*options);
    if (checks->parsed()) return check(*options);
    return verifies->parsed() ? verify(*options) : erase(*options);
  };
}

}  // namespace pits::cli
