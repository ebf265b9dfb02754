// The terminal: colour, signals, and what goes to stderr. Results go to stdout.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pits::cli {

// Writes to stderr. Text that cannot be written (a full disk, a pipe without a reader) is dropped: no run ends for it.
void note_text(std::string_view text);
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  note_text(fmt::format(format, std::forward<Args>(args)...));
}

// "Report: FILE" on stdout, or on stderr where stdout is lines of JSON.
void announce(std::string_view what, const std::filesystem::path& file, bool json);

// Opens those of the descriptors 0, 1 and 2 that are closed, so that no file of a run becomes one of them. Writing to
// such a stdout still fails.
void open_standard_streams();

bool colour_on_stdout();  // a terminal, NO_COLOR is not set, and not under mpirun

// Words as a shell would need them: quoted where they must be.
std::string shell_line(const std::vector<std::string>& words);

// Raised by Ctrl-C (SIGINT) or SIGTERM; a second signal ends the program at once.
std::atomic<bool>& stop_flag();
void watch_signals();

// On a terminal a bar with the time left, elsewhere one line per tenth of the work. Thread-safe.
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
