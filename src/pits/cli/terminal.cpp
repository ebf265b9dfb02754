#include "pits/cli/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "pits/experiment/ranks/executor.h"

namespace pits::cli {
namespace {

using Clock = std::chrono::steady_clock;

extern "C" void on_signal(int signal) {
  stop_flag() = true;
  std::signal(signal, SIG_DFL);
}

std::string quoted(const std::string& word) {
  std::string text(1, '\'');
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + '\'';
}

}  // namespace

// SIGPIPE would end the program: it is held back while writing, and then taken off the thread.
void note_text(std::string_view text) {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  constexpr timespec at_once{};
  sigtimedwait(&pipe, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void announce(std::string_view what, const std::filesystem::path& file, bool json) {
  const std::string line = fmt::format("{}: {}\n", what, std::filesystem::absolute(file).string());
  json ? note_text(line) : fmt::print("{}", line);
}

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool is_open = ::fcntl(stream, F_GETFD) != -1;
    // The lowest free descriptor is `stream`, as those below it are open.
    if (!is_open && ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) != stream) std::_Exit(1);
  }
}

bool colour_on_stdout() {
  const char* no_color = std::getenv("NO_COLOR");
  // mpirun gives a rank a terminal wherever its own output goes.
  return !this_launch() && ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789-_=.,:/+@%") == std::string::npos;
    if (!line.empty()) line += ' ';
    line += plain ? word : quoted(word);
  }
  return line;
}

std::atomic<bool>& stop_flag() {
  static std::atomic<bool> flag = false;
  return flag;
}

void watch_signals() {
  stop_flag() = false;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Progress::Progress(std::size_t total_rounds, std::size_t done_before)
    : total_(total_rounds), done_before_(done_before), done_(done_before), terminal_(::isatty(STDERR_FILENO) == 1) {}

std::string Progress::time_left(std::size_t done) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto fresh = static_cast<double>(done - done_before_);
  if (fresh <= 0.0) return "--:--";
  const auto left = static_cast<int>(elapsed / fresh * static_cast<double>(total_ - done) + 0.5);
  return left >= 3600 ? fmt::format("{}:{:02}:{:02}", left / 3600, left / 60 % 60, left % 60)
                      : fmt::format("{:02}:{:02}", left / 60, left % 60);
}

void Progress::add(std::size_t rounds) {
  const std::size_t done = done_ += rounds;
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock.owns_lock()) show(done);
}

void Progress::show(std::size_t done) {
  const std::size_t percent = total_ == 0 ? 100 : 100 * done / total_;
  if (terminal_) {
    const auto now = Clock::now();
    if (now - last_shown_ < std::chrono::milliseconds(100) && done < total_) return;
    last_shown_ = now;
    const std::size_t filled = percent * 30 / 100;
    note("\r[{}{}] {:3}%  {} left ", std::string(filled, '#'), std::string(30 - filled, '.'), percent, time_left(done));
  } else if (percent / 10 > tenths_shown_ && Clock::now() - start_ > std::chrono::seconds(2)) {
    tenths_shown_ = percent / 10;
    note("{}% done, {} left\n", percent, time_left(done));
  }
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (terminal_) note("\r{:60}\r", "");
}

}  // namespace pits::cli
