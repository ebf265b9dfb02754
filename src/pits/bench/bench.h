// Speed, always beside something that was measured in the same run: the peak of sgemm, a plain loop, PyTorch, numpy.
//
// Times are CPU seconds of the best of several repetitions, so that other programs on the machine count as little as
// possible; what runs on several threads is timed by the clock on the wall, and so are single decisions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pits::bench {

struct Options {
  std::string filter = ".";  // a regular expression; what it is found in the name of is measured
  bool quick = false;        // one short repetition: whether it works, not how fast it is
};

// The same work done by something else.
struct Reference {
  std::string name;  // "plain loop", "PyTorch", "numpy", "one thread", "early rounds"
  double seconds;
};

struct Row {
  std::string name;
  double seconds = 0.0;                // of one unit of work
  std::optional<double> p50{}, p99{};  // of single decisions or rounds
  std::optional<double> largest{};     // of the calls of learn
  std::optional<double> operations{};  // useful ones in a unit of work
  std::vector<Reference> references{};
  std::string missing{};  // why nothing was measured; empty: it was

  // What is compared with a reference: the median where there is one.
  double compared() const { return p50.value_or(seconds); }
};

struct Report {
  double sgemm_flops = 0.0;  // operations a second; 0: OpenBLAS was not found
  std::string torch{};       // version; empty: not found, or not wanted
  bool torch_wanted = false;
  std::string numpy{};  // the same for numpy
  bool numpy_wanted = false;
  std::vector<Row> rows{};
};

// Throws bad_usage where the filter is no regular expression or is found in no name.
Report run(const Options& options);

std::string as_text(const Report& report);
// One object for the references, then one for each row.
std::vector<nlohmann::ordered_json> as_json(const Report& report);

}  // namespace pits::bench
