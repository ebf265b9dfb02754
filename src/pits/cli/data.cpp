// pits data: lists, fetches and checks the data sets of the benchmark.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "pits/cli/commands.h"
#include "pits/cli/options.h"
#include "pits/cli/terminal.h"
#include "pits/core/error.h"
#include "pits/core/io/files.h"
#include "pits/core/io/text_table.h"
#include "pits/data/source/check.h"
#include "pits/data/source/fetch.h"
#include "pits/data/source/locate.h"

namespace pits::cli {
namespace {

using Json = nlohmann::ordered_json;
using Path = std::filesystem::path;

constexpr int longest_stall = 3600;

struct DataOptions {
  std::vector<std::string> names;
  std::string data_dir;
  bool json = false;
  std::string from;
  int stall_timeout = 30;
};

std::vector<const DataSet*> chosen(const DataOptions& options) {
  std::vector<const DataSet*> sets;
  for (const std::string& name : options.names) sets.push_back(&find_data_set(name));
  if (!sets.empty()) return sets;
  for (const DataSet& set : data_catalogue()) sets.push_back(&set);
  return sets;
}

std::string size_text(std::uint64_t bytes) {
  return bytes < 1'000'000 ? fmt::format("{:.0f} kB", static_cast<double>(bytes) / 1e3)
                           : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

Json file_json(const DataFile& file, const std::optional<Path>& found) {
  Json contents = Json::array();
  for (const Content& c : file.contents) {
    contents.push_back({{"sha256", c.sha256}, {"bytes", c.bytes}, {"remark", c.remark}});
  }
  return {{"name", file.name},
          {"found", found ? Json(found->string()) : Json()},
          {"addresses", file.addresses},
          {"contents", contents},
          {"by_shape", file.check != nullptr}};
}

Json set_json(const DataSet& set, const std::string& data_dir) {
  Json files = Json::array();
  for (const DataFile& file : set.files) files.push_back(file_json(file, locate_data_file(file, data_dir)));
  return {{"name", set.name},
          {"summary", set.summary},
          {"files", files},
          {"licence", set.licence},
          {"citation", set.citation}};
}

int list(const DataOptions& options) {
  TextTable table{.header = {"name", "size", "found", "licence", "address"}, .rows = {}, .left = 5};
  for (const DataSet* set : chosen(options)) {
    if (options.json) fmt::print("{}\n", set_json(*set, options.data_dir).dump());
    for (const DataFile& file : set->files) {
      const auto found = locate_data_file(file, options.data_dir);
      table.rows.push_back({set->name, size_text(file.contents.front().bytes), found ? found->string() : "not here",
                            set->licence, file.addresses.front()});
    }
  }
  if (!options.json) fmt::print("{}", as_text(table));
  return 0;
}

// Prints a line. Returns the reason where the file is wrong; empty where it is right or not there.
std::string check_file(const DataSet& set, const DataFile& file, const DataOptions& options) {
  const bool named = !options.names.empty();
  const auto found = locate_data_file(file, options.data_dir);
  Json line = {{"name", set.name}, {"file", file.name}, {"found", found ? Json(found->string()) : Json()}};
  std::string reason;
  try {
    if (found || named) {
      const Path path = find_data_file(set, file, options.data_dir);
      const Content content = read_data_file(file, path, path.string(), [](std::string_view) {});
      line.update({{"state", "ok"}, {"bytes", content.bytes}, {"sha256", content.sha256}, {"remark", content.remark}});
    } else {
      line["state"] = "not here";
    }
  } catch (const Error& e) {
    reason = e.what();
    line.update({{"state", "bad"}, {"reason", reason}});
  }
  if (options.json) {
    fmt::print("{}\n", line.dump());
  } else if (reason.empty()) {
    const std::string remark = line.value("remark", "");
    fmt::print("{:<11}{:<10}{}{}\n", set.name, line["state"].get<std::string>(),
               found ? found->string() : file.addresses.front(), remark.empty() ? "" : " (" + remark + ")");
  }
  return reason;
}

int check(const DataOptions& options) {
  std::vector<std::string> reasons;
  for (const DataSet* set : chosen(options)) {
    for (const DataFile& file : set->files) {
      if (const std::string reason = check_file(*set, file, options); !reason.empty()) reasons.push_back(reason);
    }
  }
  if (!reasons.empty()) throw bad_input("{}", fmt::join(reasons, "\npits: "));
  return 0;
}

// The bar starts again with every address and every restart.
class DownloadProgress {
 public:
  void operator()(std::uint64_t done, std::uint64_t total) {
    if (total == 0) return;
    if (!bar_ || total != total_ || done < done_) {
      finish();
      bar_ = std::make_unique<Progress>(total, done);
      total_ = total;
      done_ = done;
    }
    bar_->add(done - done_);
    done_ = done;
  }
  void finish() {
    if (bar_) bar_->finish();
    bar_.reset();
  }

 private:
  std::unique_ptr<Progress> bar_;
  std::uint64_t total_ = 0, done_ = 0;
};

// The verified file where it is already here, also an accepted subset; nothing where it must be fetched.
std::optional<Path> already_here(const DataFile& file, const std::optional<Path>& found) {
  if (!found) return std::nullopt;
  try {
    const Content content = read_data_file(file, *found, found->string(), [](std::string_view) {});
    if (!content.remark.empty()) note("'{}' is a subset: {}\n", found->string(), content.remark);
    return found;
  } catch (const Error& e) {
    note("{}\n", e.what());
  }
  return std::nullopt;
}

// False where Ctrl-C ended it.
bool fetch_file(const DataSet& set, const DataFile& file, const DataOptions& options) {
  const Path directory = options.data_dir.empty() ? data_cache() : Path(options.data_dir);
  if (directory.empty()) throw bad_input("no directory to fetch into: give --data-dir DIR, or set HOME");
  // A directory that was named gets the file; otherwise any place where runs find it is enough.
  const auto before = options.data_dir.empty() ? locate_data_file(file, "") : locate_in(directory, file);
  if (const auto here = already_here(file, before)) {
    fmt::print("{}: already here: {}\n", set.name, here->string());
    return true;
  }
  const Path target = directory / file.name;
  if (before && *before != target) {
    throw bad_input("'{}' is damaged and comes before '{}' in the search order: remove it", before->string(),
                    target.string());
  }
  DownloadProgress progress;
  const auto content = fetch_data_file(
      set, file,
      {.directory = directory,
       .from = options.from,
       .starting = [&](const std::string& address) { progress.finish(), note("from {}\n", address); },
       .watch = {.stall_seconds = options.stall_timeout, .progress = std::ref(progress), .stop = &stop_flag()}});
  progress.finish();
  if (!content) return false;
  fmt::print("{}: {}\n", set.name, target.string());
  return true;
}

int fetch(const DataOptions& options) {
  if (options.stall_timeout < 1 || options.stall_timeout > longest_stall) {
    throw bad_input("--stall-timeout must be from 1 to {} seconds, not {}", longest_stall, options.stall_timeout);
  }
  if (!options.data_dir.empty()) create_directories_or_throw(options.data_dir);
  watch_signals();
  std::optional<Error> first;
  for (const DataSet* set : chosen(options)) {
    for (const DataFile& file : set->files) {
      try {
        if (fetch_file(*set, file, options)) continue;
      } catch (const Error& e) {  // the other files may work
        if (first) note("pits: {}\n", e.what());
        if (!first) first = e;
        continue;
      }
      note("interrupted; the same command continues the download\n");
      return 130;
    }
  }
  if (first) throw *first;
  return 0;
}

CLI::App* add_command(CLI::App& data, const char* name, const char* text, DataOptions& options) {
  auto* command = data.add_subcommand(name, text);
  command->add_option("names", options.names, "data sets (default: all)");
  add_text(*command, "--data-dir", options.data_dir, "look here before $PITS_DATA and the cache (~/.cache/pits)");
  return command;
}

}  // namespace

std::function<int()> add_data(CLI::App& app) {
  auto* data = app.add_subcommand("data", "List, fetch or check the benchmark's data sets");
  data->require_subcommand(1);
  data->footer("Example:\n  pits data list");
  auto options = std::make_shared<DataOptions>();
  auto* lists = add_command(*data, "list", "All data sets: where they are found, licence and address", *options);
  lists->add_flag("--json", options->json, "one JSON object per line");
  lists->footer("Example:\n  pits data list mushroom");
  auto* fetches = add_command(*data, "fetch", "Download missing files into --data-dir or the cache", *options);
  add_text(*fetches, "--from", options->from, "a mirror's address, instead of the public addresses");
  add_whole(*fetches, "--stall-timeout", options->stall_timeout, "seconds without a byte until the next try (30)");
  fetches->footer("Example:\n  pits data fetch mushroom statlog");
  auto* checks =
      add_command(*data, "check", "Verify the files that are here, or all files of the named sets", *options);
  checks->add_flag("--json", options->json, "one JSON object per line");
  checks->footer("Example:\n  pits data check");
  return [options, lists, fetches] {
    return lists->parsed() ? list(*options) : fetches->parsed() ? fetch(*options) : check(*options);
  };
}

}  // namespace pits::cli
