// What the terminal is and how a person sees progress. Results go to stdout, everything here to stderr.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace pits::cli {

bool colour_on_stdout();  // a terminal, NO_COLOR is not set, and not under mpirun

// Words as a shell would need them: quoted where they must be.
std::string shell_line(const std::vector<std::string>& words);

// Raised by Ctrl-C (SIGINT) or SIGTERM; a second signal ends the program at once.
std::atomic<bool>& stop_flag();
void watch_signals();

// A bar with the time left on a terminal, a plain line every tenth elsewhere. Thread-safe.
class Progress {
 public:
  Progress(std::size_t total_rounds, std::size_t done_before);
  void add(std::size_t rounds);
  void finish();

 private:
  void show(std::size_t done);
  std::string time_left(std::size_t done) const;

  std::size_t total_;
  std::size_t done_before_;
  std::atomic<std::size_t> done_;
  bool terminal_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_shown_{};
  std::size_t tenths_shown_ = 0;
};

}  // namespace pits::cli
