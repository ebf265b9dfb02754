#include "pits/experiment/results.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pits/experiment/config_difference.h"
#include "pits/experiment/json_words.h"
#include "pits/experiment/npy.h"
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

// Throws where the file is of another cell or its parts do not fit together.
Trajectory from_json(const Plan& plan, std::size_t index, const Json& cell) {
  Trajectory path = trajectory_from(cell);
  const Json expected = to_json(plan, index, path);
  for (const char* key : {"cell", "agent", "env", "realization"}) {
    if (cell.at(key) != expected.at(key))
      throw bad_input("{} is {}, not {}", key, cell.at(key).dump(), expected.at(key).dump());
  }
  if (path.rounds > plan.steps()) throw bad_input("rounds is {}, above {}", path.rounds, plan.steps());
  if (plan.probes() == path.readings.empty()) throw bad_input("it has {} readings", path.readings.size());
  if (path.health.known() && !plan.diagnoses()) throw bad_input("it has a health that nobody asked for");
  return path;
}

}  // namespace

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

RunDirectory::RunDirectory(fs::path path, const Plan& plan)
    : path_(std::move(path)),
      plan_(plan),
      lock_((create_directories_or_throw(path_), path_)),
      finished_(plan.cells()) {}

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
  create_directories_or_throw(path / "cells");
  create_directories_or_throw(path / "timings");
  if (!fs::exists(path / "run.json")) {
    // The words of a command line need not be UTF-8.
    write_file_atomically(path / "origin.json", origin.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    write_file_atomically(path / "run.json", plan.resolved().dump(2) + "\n");
    return run;
  }
  const std::string difference = first_difference(read_resolved(path), plan.resolved());
  if (!difference.empty()) {
    throw bad_input("'{}' holds a different run: {}; choose another --out", path.string(), difference);
  }
  for (const fs::path& directory : {path, path / "cells", path / "timings"}) remove_unfinished(directory);
  run->find_finished_cells();
  return run;
}

std::unique_ptr<RunDirectory> RunDirectory::open(const fs::path& path, const Plan& plan) {
  std::unique_ptr<RunDirectory> run(new RunDirectory(path, plan));
  run->find_finished_cells();
  return run;
}

void RunDirectory::find_finished_cells() {
  for (std::size_t i = 0; i < finished_.size(); ++i) {
    if (!fs::exists(cell_file(i))) continue;
    get(i);  // a damaged file is an error, not a reason to compute in silence
    finished_[i] = 1;
  }
}

fs::path RunDirectory::cell_file(std::size_t cell) const { return path_ / "cells" / fmt::format("{:06}.json", cell); }
fs::path RunDirectory::timing_file(std::size_t cell) const {
  return path_ / "timings" / fmt::format("{:06}.json", cell);
}

void RunDirectory::put(std::size_t cell, const Trajectory& trajectory) {
  try {
    write_file_atomically(timing_file(cell), Json({{"cell", cell}, {"seconds", trajectory.seconds}}).dump() + "\n");
    write_file_atomically(cell_file(cell), to_json(plan_, cell, trajectory).dump() + "\n");
  } catch (const Error& e) {  // the directory was there when the run began
    throw failed("{}", e.what());
  }
  finished_[cell] = 1;
}

Trajectory RunDirectory::get(std::size_t cell) const {
  const auto damaged = [&](const std::string& reason) {
    return bad_input("'{}' is damaged: {}; remove it and --resume computes the cell again", cell_file(cell).string(),
                     reason);
  };
  Trajectory trajectory;
  try {
    trajectory = from_json(plan_, cell, Json::parse(read_file(cell_file(cell))));
  } catch (const Json::exception& e) {
    throw damaged(in_own_words(e));
  } catch (const Error& e) {
    throw damaged(e.what());
  }
  trajectory.seconds = seconds_of(cell);
  return trajectory;
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
