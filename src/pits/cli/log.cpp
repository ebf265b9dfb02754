// pits log: exports, imports and checks the log of a live bandit, makes its decisions again, erases contexts, and
// teaches another bandit.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "pits/cli/commands.h"
#include "pits/cli/options.h"
#include "pits/cli/terminal.h"
#include "pits/core/io/files.h"
#include "pits/fleet/lone_lease.h"
#include "pits/log/audit.h"
#include "pits/log/erase.h"
#include "pits/log/event_json.h"
#include "pits/log/live_bandit.h"
#include "pits/log/sqlite_store.h"
#include "pits/log/teach.h"
#include "pits/schema/schema.h"

namespace pits::cli {
namespace {

using Json = nlohmann::ordered_json;
using Path = std::filesystem::path;

struct LogOptions {
  std::string directory;  // or the URL of a database
  std::string bandit;     // in the database
  std::string file;
  bool json = false;
  std::vector<std::uint64_t> ids;
  std::optional<std::int64_t> older_than;  // days
  std::string reason;
  std::string old;
  std::string schema;  // a file
  TeachSetup teach;
};

std::unique_ptr<const Store> opened(const std::string& log, const std::string& bandit) {
  if (!is_postgres_url(log)) return std::make_unique<SqliteStore>(log, Access::read);
  if (bandit.empty()) throw bad_usage("say which bandit of the database: --bandit NAME");
  return read_log(log, bandit);
}

int export_events(const LogOptions& options) {
  const auto log = opened(options.directory, options.bandit);
  const Store& store = *log;
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

// A new log, filled as told. The directory is there completely or not at all.
void make_log(const Path& target, const std::function<void(Store&)>& fill) {
  if (std::filesystem::exists(target)) throw bad_input("'{}' is there already; give a new directory", target.string());
  const Path unfinished = target.string() + ".unfinished";
  std::filesystem::remove_all(unfinished);
  try {
    {
      SqliteStore store(unfinished);
      fill(store);
      check_log(store);
    }
    std::filesystem::rename(unfinished, target);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(unfinished, ignored);
    throw;
  }
}

int import_events(const LogOptions& options) {
  EventNumber last = 0;
  make_log(options.directory, [&](Store& store) { last = import_lines(store, options.file); });
  fmt::print("{} events\n", last);
  return 0;
}

TeachSetup teach_setup(const LogOptions& options) {
  TeachSetup setup = options.teach;
  if (setup.agent.empty() && options.schema.empty()) throw bad_usage("say what is new: --schema or --agent");
  if (options.schema.empty()) return setup;
  setup.schema = read_file(options.schema);
  try {
    const Schema valid(setup.schema);
  } catch (const Error& e) {
    throw Error(e.kind(), fmt::format("'{}': {}", options.schema, e.what()));
  }
  return setup;
}

int teach(const LogOptions& options) {
  const TeachSetup setup = teach_setup(options);
  const auto old_log = opened(options.old, options.bandit);
  const Store& old = *old_log;
  Teaching done;
  make_log(options.directory, [&](Store& store) { done = pits::teach(store, old, setup); });
  if (options.json) {
    const Json json = {{"decisions", done.decisions}, {"learned", done.learned},     {"waiting", done.waiting},
                       {"left_out", done.left_out},   {"trainings", done.trainings}, {"refused", done.refused}};
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("{} decisions, of which {} learned and {} wait; {} left out, {} refused by the agent; {} trainings\n",
               done.decisions, done.learned, done.waiting, done.left_out, done.refused, done.trainings);
  }
  return 0;
}

int check(const LogOptions& options) {
  const auto opened_log = opened(options.directory, options.bandit);
  const Store& store = *opened_log;
  const LogSummary log = check_log(store);
  if (options.json) {
    Json json = {{"events", log.events},     {"decisions", log.decisions},
                 {"rewards", log.rewards},   {"settled", log.settled},
                 {"waiting", log.waiting},   {"restored", log.restored},
                 {"unlogged", log.unlogged}, {"snapshots", store.snapshots().size()}};
    if (!store.damage().empty()) json["damage"] = store.damage();
    if (log.oldest > 0) json["oldest"] = log.oldest;
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("whole: {} events; {} decisions, of which {} settled and {} wait; {} rewards; {} snapshots\n",
               log.events, log.decisions, log.settled, log.waiting, log.rewards, store.snapshots().size());
    if (log.oldest > 0) fmt::print("events before {} were dropped; their decisions are not counted\n", log.oldest);
    if (log.restored > 0) fmt::print("{} decisions were lost and came back with their tokens\n", log.restored);
    if (log.unlogged > 0) fmt::print("{} more decisions were made and not logged, in overload\n", log.unlogged);
    if (!store.damage().empty()) fmt::print("snapshots: {}; the next start learns the log again\n", store.damage());
  }
  return 0;
}

int verify(const LogOptions& options) {
  const auto log = opened(options.directory, options.bandit);
  const Store& store = *log;
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
  if (is_postgres_url(options.directory) && options.bandit.empty()) {
    throw bad_usage("say which bandit of the database: --bandit NAME");
  }
  std::optional<LoneLease> lease;
  if (is_postgres_url(options.directory)) {
    lease.emplace(options.directory, options.bandit);
  } else if (!std::filesystem::exists(Path(options.directory) / "events.db")) {
    throw bad_input("'{}' holds no log: there is no events.db", options.directory);
  }
  const auto open_to_write = [&]() -> std::unique_ptr<Store> {
    if (lease) return lease->store();
    return std::make_unique<SqliteStore>(options.directory);
  };
  // All that is learned goes into a snapshot first.
  { LiveBandit(open_to_write()).catch_up(); }
  const auto store = open_to_write();
  const std::set<DecisionId> ids(options.ids.begin(), options.ids.end());
  constexpr Microseconds day = 86'400'000'000;
  const Microseconds before = options.older_than ? system_clock().utc() - *options.older_than * day : 0;
  const std::uint64_t erased = erase_contexts(*store, options.reason, [&](DecisionId id, const GroupTime& time) {
    return ids.contains(id) || (options.older_than && time.utc < before);
  });
  fmt::print("{} contexts erased\n", erased);
  if (erased < ids.size() && !options.older_than) {
    throw bad_input(
        "{} of the {} decisions were not erased: they have not settled (wait, or cancel them), were erased before, "
        "or are not in the log",
        ids.size() - erased, ids.size());
  }
  return 0;
}

CLI::App* add_command(CLI::App& log, const std::string& name, const std::string& text, LogOptions& options,
                      const std::string& example) {
  auto* command = log.add_subcommand(name, text);
  add_text(*command, "DIR", options.directory, "directory of the log")->required();
  if (name != "import")
    add_text(*command, "--bandit", options.bandit, "where DIR is a postgresql:// URL: which of its bandits");
  command->footer("Example:\n  pits log " + example);
  return command;
}

}  // namespace

std::function<int()> add_log(CLI::App& app) {
  auto* log =
      app.add_subcommand("log", "Export, import, check, verify or erase the log of a live bandit, or teach a new one");
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
  auto* erases = add_command(*log, "erase", "Blank contexts of settled decisions, while no service uses the log",
                             *options, "erase shop --older-than 30");
  erases->add_option("--ids", options->ids, "decisions")->delimiter(',')->type_name("INT");
  add_whole(*erases, "--older-than", options->older_than, "decisions that are older than this number of days");
  add_text(*erases, "--reason", options->reason, "recorded in the log");
  auto* teaches = add_command(*log, "teach", "Make a new log, whose bandit learns what happened in an old one",
                              *options, "teach new shop --schema new.json");
  add_text(*teaches, "OLD", options->old, "directory of the old log")->required();
  add_text(*teaches, "--schema", options->schema, "file with the schema of named contexts; default: the old one");
  add_text(*teaches, "--agent", options->teach.agent, "NAME[:PRESET][,field=value...]; default: the old one");
  add_whole(*teaches, "--seed", options->teach.seed, "random unless given");
  for (auto* command : {checks, verifies, teaches}) command->add_flag("--json", options->json, "one JSON object");
  return [options, exports, imports, checks, verifies, teaches] {
    if (exports->parsed()) return export_events(*options);
    if (imports->parsed()) return import_events(*options);
    if (checks->parsed()) return check(*options);
    if (teaches->parsed()) return teach(*options);
    return verifies->parsed() ? verify(*options) : erase(*options);
  };
}

}  // namespace pits::cli
