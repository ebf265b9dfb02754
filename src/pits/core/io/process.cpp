#include "pits/core/io/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "pits/core/error.h"

namespace pits {
namespace {

using Clock = std::chrono::steady_clock;

// Starts the words as the leader of a new process group; its output goes to the descriptor.
pid_t spawn(const std::vector<std::string>& words, int output) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw failed("cannot start '{}': {}", words.front(), std::strerror(error));
  return pid;
}

// A running child and the reading end of its output; its process group ends with this object.
class Child {
 public:
  Child(const std::vector<std::string>& words, Clock::time_point end) : end_(end) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw failed("cannot start '{}': {}", words.front(), std::strerror(errno));
    output_ = ends[0];
    try {
      pid_ = spawn(words, ends[1]);
    } catch (...) {
      close(ends[0]);
      close(ends[1]);
      throw;
    }
    close(ends[1]);
  }
  ~Child() {
    close(output_);
    kill(-pid_, SIGKILL);
    if (!waited_) waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::optional<std::string> read_all() const {
    std::string text;
    std::vector<char> buffer(1 << 16);
    for (;;) {
      pollfd ready{.fd = output_, .events = POLLIN, .revents = 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
      if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) == 0) return std::nullopt;
      const ssize_t n = read(output_, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }

  std::optional<int> exit_code() {
    for (int status = 0; Clock::now() < end_; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      if (waitpid(pid_, &status, WNOHANG) != pid_) continue;
      waited_ = true;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return std::nullopt;
  }

 private:
  Clock::time_point end_;
  pid_t pid_ = -1;
  int output_ = -1;
  bool waited_ = false;
};

}  // namespace

std::optional<ProcessResult> run_process(const std::vector<std::string>& words, std::chrono::seconds limit) {
  Child child(words, Clock::now() + limit);
  std::optional<std::string> output = child.read_all();
  if (!output) return std::nullopt;
  const std::optional<int> code = child.exit_code();
  if (!code) return std::nullopt;
  return ProcessResult{.output = std::move(*output), .exit_code = *code};
}

}  // namespace pits
