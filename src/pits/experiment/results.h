// Where finished cells are kept: in memory, or in a run directory that survives a crash.
//
// A run directory holds
//   run.json        everything the results depend on: version, SIMD target, seed, resolved agents and environments
//   origin.json     command line and machine, for the record
//   cells/N.json    cell N, written atomically when it is finished: with the run it belongs to and its SHA-256
//   timings/N.json  its CPU time, apart, because it differs from run to run
//   results.jsonl   one line per cell, in order, once all are finished
//   curves.npy      their regret curves, (cells, points)
//   summary.jsonl   one line per agent and environment
//   report.html     the page
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "pits/core/io/files.h"
#include "pits/experiment/plan.h"

namespace pits {

class Results {
 public:
  virtual ~Results() = default;
  virtual bool has(std::size_t cell) const = 0;
  virtual Trajectory get(std::size_t cell) const = 0;
  // Called from many threads, each with its own cell.
  virtual void put(std::size_t cell, const Trajectory& trajectory) = 0;
};

// Rounds of all cells, and of those that are there already.
struct RoundCount {
  std::size_t all = 0, done = 0;
  RoundCount& operator+=(const RoundCount& more) { return all += more.all, done += more.done, *this; }
};
RoundCount count_rounds(const Plan& plan, const Results& results);

// Keeps every trajectory: about 2 KB per cell, its curve of at most 200 points. A run directory keeps one byte.
class MemoryResults : public Results {
 public:
  explicit MemoryResults(const Plan& plan) : kept_(plan.cells()) {}
  bool has(std::size_t cell) const override { return kept_[cell].has_value(); }
  Trajectory get(std::size_t cell) const override { return *kept_[cell]; }
  void put(std::size_t cell, const Trajectory& trajectory) override { kept_[cell] = trajectory; }

 private:
  std::vector<std::optional<Trajectory>> kept_;
};

// The resolved config or the origin of a run directory. An Error for a damaged file ends with the remedy.
nlohmann::ordered_json read_json_file(const std::filesystem::path& path, std::string_view remedy);
// run.json of a run directory, and its plan.
nlohmann::ordered_json read_resolved(const std::filesystem::path& directory);
Plan read_plan(const std::filesystem::path& directory);

class RunDirectory : public Results {
 public:
  // A new run; refuses a directory that already holds one.
  static std::unique_ptr<RunDirectory> create(const std::filesystem::path& path, const Plan& plan,
                                              const nlohmann::ordered_json& origin);
  // Goes on with a run of the same plan; refuses any other, naming the difference. Starts one where there is none.
  static std::unique_ptr<RunDirectory> resume(const std::filesystem::path& path, const Plan& plan,
                                              const nlohmann::ordered_json& origin);

  // What is there of a run, for reading; run.json may be of another version or machine.
  static std::unique_ptr<RunDirectory> open(const std::filesystem::path& path, const Plan& plan);

  bool has(std::size_t cell) const override { return finished_[cell] != 0; }
  // Throws where the file is damaged.
  Trajectory get(std::size_t cell) const override;
  void put(std::size_t cell, const Trajectory& trajectory) override;

  // results.jsonl and curves.npy, once every cell is there.
  void collect() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  RunDirectory(std::filesystem::path path, const Plan& plan);
  void find_finished_cells(const nlohmann::ordered_json& resolved);
  std::optional<Trajectory> read(std::size_t cell) const;  // none where the file is of another run
  double seconds_of(std::size_t cell) const;               // NaN where nobody knows
  std::filesystem::path cell_file(std::size_t cell) const;
  std::filesystem::path timing_file(std::size_t cell) const;

  std::filesystem::path path_;
  const Plan& plan_;
  std::optional<DirectoryLock> lock_;
  std::string run_{};           // SHA-256 of what run.json says
  std::vector<char> finished_;  // char, not bool: threads write neighbouring entries
};

}  // namespace pits
