#include "pits/experiment/results.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "pits/core/io/npy.h"
#include "pits/core/io/sha256.h"
#include "pits/experiment/config_difference.h"
#include "pits/experiment/json_words.h"
#include "pits/experiment/trajectory_json.h"

namespace pits {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

Json to_json(const Plan& plan, std::size_t index, const Trajectory& path) {
  const Cell cell = plan.cell(index);
  Json json = {{"cell", index},
               {"agent", plan.agents()[cell.agent]},
               {"env", plan.environments()[cell.environment]},
               {"realization", cell.realization}};
  json.update(trajectory_json(path));
  return json;
}

std::string sha256_of(std::string_view text) {
  Sha256 sha;
  sha.add(text);
  return fmt::format("{:02x}", fmt::join(sha.finish(), ""));
}

constexpr std::string_view checksum_key = ",\"sha256\":\"";

// An object without its closing brace, closed by the SHA-256 of these bytes: {...,"sha256":"HEX"}
std::string sealed(std::string_view open_object) {
  return fmt::format("{}{}{}\"}}\n", open_object, checksum_key, sha256_of(open_object));
}

// Throws where any byte is not as it was sealed.
Json unsealed(const std::string& text) {
  Json json = Json::parse(text);
  const std::size_t end = text.rfind(checksum_key);
  if (end == std::string::npos) throw bad_input("it has no checksum");
  if (text != sealed(text.substr(0, end))) throw bad_input("its content does not fit its checksum");
  return json;
}

// Throws where the file is of another cell or its parts do not fit together.
Trajectory from_json(const Plan& plan, std::size_t index, const Json& cell) {
  Trajectory path = trajectory_from(cell);
  const Json expected = to_json(plan, index, path);
  for (const char* key : {"cell", "agent", "env", "realization"}) {
    if (cell.at(key) != expected.at(key))
      throw bad_input("{} is {}, not {}", key, cell.at(key).dump(), expected.at(key).dump());
  }
  if (path.rounds < 1 || path.rounds > plan.steps()) {
    throw bad_input("rounds is {}, not from 1 to {}", path.rounds, plan.steps());
  }
  check_observed(plan.diagnostics(), path.observed, path.rounds);
  return path;
}

}  // namespace

RoundCount count_rounds(const Plan& plan, const Results& results) {
  RoundCount count;
  for (std::size_t i = 0; i < plan.cells(); ++i) {
    const std::size_t rounds = plan.rounds(plan.cell(i));
    count += {.all = rounds, .done = results.has(i) ? rounds : 0};
  }
  return count;
}

Json read_json_file(const fs::path& path, std::string_view remedy) {
  try {
    return Json::parse(read_file(path));
  } catch (const Json::exception& e) {
    throw bad_input("'{}' is damaged: {}; {}", path.string(), in_own_words(e), remedy);
  }
}

Json read_resolved(const fs::path& directory) {
  return read_json_file(directory / "run.json", "remove it and give the same command again, which computes all cells");
}

Plan read_plan(const fs::path& directory) {
  const fs::path file = directory / "run.json";
  const auto resolved = read_resolved(directory);
  try {
    return Plan::from_resolved(resolved);
  } catch (const Error& e) {
    throw bad_input("'{}': {}", file.string(), e.what());
  }
}

RunDirectory::RunDirectory(fs::path path, const Plan& plan)
    : path_(std::move(path)), plan_(plan), finished_(plan.cells()) {}

std::unique_ptr<RunDirectory> RunDirectory::create(const fs::path& path, const Plan& plan, const Json& origin) {
  if (fs::exists(path / "run.json")) {
    throw bad_input("'{}' already holds a run; continue it with --resume or choose another --out", path.string());
  }
  return resume(path, plan, origin);
}

std::unique_ptr<RunDirectory> RunDirectory::resume(const fs::path& path, const Plan& plan, const Json& origin) {
  if (fs::exists(path) && !fs::is_directory(path)) throw bad_input("'{}' is not a directory", path.string());
  if (fs::exists(path / "reproduction.json")) {
    throw bad_input("'{}' holds a reproduction; choose another --out", path.string());
  }
  std::unique_ptr<RunDirectory> run(new RunDirectory(path, plan));
  create_directories_or_throw(path);
  run->lock_.emplace(path);
  create_directories_or_throw(path / "cells");
  create_directories_or_throw(path / "timings");
  for (const fs::path& directory : {path, path / "cells", path / "timings"}) remove_unfinished(directory);
  if (!fs::exists(path / "run.json")) {
    // The words of a command line need not be UTF-8.
    write_file_atomically(path / "origin.json", origin.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    write_file_atomically(path / "run.json", plan.resolved().dump(2) + "\n");
  }
  const Json there = read_resolved(path);
  if (const std::string difference = first_difference(there, plan.resolved()); !difference.empty()) {
    throw bad_input("'{}' holds a different run: {}; choose another --out", path.string(), difference);
  }
  run->find_finished_cells(there);
  return run;
}

std::unique_ptr<RunDirectory> RunDirectory::open(const fs::path& path, const Plan& plan) {
  std::unique_ptr<RunDirectory> run(new RunDirectory(path, plan));
  if (::access(path.c_str(), W_OK) == 0) run->lock_.emplace(path);  // nobody writes a read-only directory
  run->find_finished_cells(read_resolved(path));
  return run;
}

// Cells of another run may be there, from before run.json was removed: they are open.
void RunDirectory::find_finished_cells(const Json& resolved) {
  run_ = sha256_of(resolved.dump());
  for (std::size_t i = 0; i < finished_.size(); ++i) {
    if (!fs::exists(cell_file(i))) continue;
    finished_[i] = read(i) ? 1 : 0;  // a damaged file is an error, not a reason to compute in silence
  }
}

fs::path RunDirectory::cell_file(std::size_t cell) const { return path_ / "cells" / fmt::format("{:06}.json", cell); }
fs::path RunDirectory::timing_file(std::size_t cell) const {
  return path_ / "timings" / fmt::format("{:06}.json", cell);
}

void RunDirectory::put(std::size_t cell, const Trajectory& trajectory) {
  try {
    write_file_atomically(timing_file(cell), Json({{"cell", cell}, {"seconds", trajectory.seconds}}).dump() + "\n");
    Json json = to_json(plan_, cell, trajectory);
    json["run"] = run_;
    std::string text = json.dump();
    text.pop_back();
    write_file_atomically(cell_file(cell), sealed(text));
  } catch (const Error& e) {  // the directory was there when the run began
    throw failed("{}", e.what());
  }
  finished_[cell] = 1;
}

std::optional<Trajectory> RunDirectory::read(std::size_t cell) const {
  const auto damaged = [&](const std::string& reason) {
    return bad_input("'{}' is damaged: {}; remove it and --resume computes the cell again", cell_file(cell).string(),
                     reason);
  };
  const std::string text = read_file(cell_file(cell));  // what cannot be read now need not be damaged
  Trajectory trajectory;
  try {
    const Json json = unsealed(text);
    if (json.at("run") != run_) return {};
    trajectory = from_json(plan_, cell, json);
  } catch (const Json::exception& e) {
    throw damaged(in_own_words(e));
  } catch (const Error& e) {
    throw damaged(e.what());
  }
  trajectory.seconds = seconds_of(cell);
  return trajectory;
}

Trajectory RunDirectory::get(std::size_t cell) const {
  if (auto trajectory = read(cell)) return *std::move(trajectory);
  throw bad_input("'{}' belongs to another run", cell_file(cell).string());
}

double RunDirectory::seconds_of(std::size_t cell) const {
  if (!fs::exists(timing_file(cell))) return std::numeric_limits<double>::quiet_NaN();
  const Json timing = read_json_file(timing_file(cell), "remove it to go on without its seconds");
  if (!timing.is_object() || !timing.contains("seconds") || !timing["seconds"].is_number()) {
    throw bad_input("'{}' is damaged: it has no seconds; remove it to go on without them", timing_file(cell).string());
  }
  return timing["seconds"].get<double>();
}

// One cell at a time in memory, however many there are.
void RunDirectory::collect() const {
  AtomicFile lines(path_ / "results.jsonl");
  AtomicFile curves(path_ / "curves.npy");
  std::vector<double> row(curve_rounds(plan_.steps()).size());
  curves.write(npy_header(plan_.cells(), row.size()));
  for (std::size_t i = 0; i < plan_.cells(); ++i) {
    const Trajectory path = get(i);
    Json cell = to_json(plan_, i, path);
    cell.erase("curve");
    lines.write(cell.dump() + "\n");
    std::ranges::fill(row, std::numeric_limits<double>::quiet_NaN());  // a problem may end before it has as many points
    std::ranges::copy(path.curve, row.begin());
    curves.write(npy_row(row));
  }
  lines.finish();
  curves.finish();
}

}  // namespace pits
