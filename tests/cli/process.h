// Runs the real program and keeps what it wrote.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pits::test {

struct Outcome {
  int exit_code = -1;  // −1: ended by a signal
  int signal = 0;
  bool timed_out = false;   // and killed
  long peak_kilobytes = 0;  // of memory
  std::string out;
  std::string err;
};

struct Surroundings {
  std::filesystem::path directory = {};                                // empty: where the test runs
  std::map<std::string, std::optional<std::string>> environment = {};  // none: unset
  bool terminal = false;                                               // stdout is a terminal, not a pipe
  bool error_terminal = false;                                         // and so is stderr, another one
  std::chrono::seconds timeout = std::chrono::seconds(300);
  std::vector<std::string> through = {};  // a program that starts pits, and its options
};

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  int number() const { return number_; }

 private:
  int number_;
};

// Two ends: what is written to one is read from the other.
struct Channel {
  Descriptor read_end;
  Descriptor write_end;

  static Channel pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    return {Descriptor(ends[0]), Descriptor(ends[1])};
  }
  static Channel terminal() {
    Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (master.number() < 0 || ::grantpt(master.number()) != 0 || ::unlockpt(master.number()) != 0) {
      throw std::runtime_error("no terminal");
    }
    Descriptor slave(::open(::ptsname(master.number()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    return {std::move(master), std::move(slave)};
  }
};

class Process {
 public:
  Process(std::vector<std::string> words, const Surroundings& where)
      : deadline_(std::chrono::steady_clock::now() + where.timeout),
        out_(where.terminal ? Channel::terminal() : Channel::pipe()),
        err_(where.error_terminal ? Channel::terminal() : Channel::pipe()) {
    words.insert(words.begin(), PITS_PROGRAM);
    words.insert(words.begin(), where.through.begin(), where.through.end());
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("no fork");
    if (pid_ == 0) become(words, where);
    out_.write_end.close();
    err_.write_end.close();
  }
  ~Process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return pid_; }
  void send(int signal) const { ::kill(pid_, signal); }

  // Reads both streams to their end and reaps the process.
  Outcome wait() {
    Outcome outcome;
    std::array<std::pair<Descriptor*, std::string*>, 2> streams = {
        {{&out_.read_end, &outcome.out}, {&err_.read_end, &outcome.err}}};
    while (out_.read_end.number() >= 0 || err_.read_end.number() >= 0) {
      std::array<pollfd, 2> polls{};
      for (std::size_t i = 0; i < 2; ++i) polls[i] = {.fd = streams[i].first->number(), .events = POLLIN, .revents = 0};
      if (::poll(polls.data(), polls.size(), 100) < 0 && errno != EINTR) throw std::runtime_error("no poll");
      for (std::size_t i = 0; i < 2; ++i) {
        if (polls[i].revents != 0) read_some(*streams[i].first, *streams[i].second);
      }
      if (!outcome.timed_out && std::chrono::steady_clock::now() > deadline_) {
        outcome.timed_out = true;
        send(SIGKILL);
      }
    }
    int status = 0;
    rusage used{};
    ::wait4(std::exchange(pid_, -1), &status, 0, &used);
    outcome.peak_kilobytes = used.ru_maxrss;
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    return outcome;
  }

 private:
  // The child's side of the fork.
  [[noreturn]] void become(const std::vector<std::string>& words, const Surroundings& where) const {
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out_.write_end.number(), STDOUT_FILENO);
    ::dup2(err_.write_end.number(), STDERR_FILENO);
    ::unsetenv("NO_COLOR");
    ::unsetenv("PITS_SIMD");
    for (const auto& [name, value] : where.environment) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (where.directory.empty() || ::chdir(where.directory.c_str()) == 0) ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }

  // Closes the stream at its end; a terminal ends with an error.
  static void read_some(Descriptor& from, std::string& into) {
    std::array<char, 4096> buffer;
    const ssize_t n = ::read(from.number(), buffer.data(), buffer.size());
    if (n > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      from.close();
    }
  }

  std::chrono::steady_clock::time_point deadline_;
  Channel out_;
  Channel err_;
  pid_t pid_ = -1;
};

inline Outcome pits(std::vector<std::string> words, const Surroundings& where = {}) {
  Outcome outcome = Process(std::move(words), where).wait();
  EXPECT_FALSE(outcome.timed_out) << outcome.err;
  EXPECT_EQ(outcome.signal, 0) << outcome.err;
  return outcome;
}

}  // namespace pits::test
