// A local HTTP server that misbehaves as told (serve.py), for as long as the object lives.
#pragma once

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiment/scratch.h"

namespace pits::test {

class Server {
 public:
  // `modes` as in serve.py: "truncate,ok".
  Server(const std::filesystem::path& folder, const std::string& modes) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::vector<std::string> words = {"python3", PITS_TEST_DIR "/data/serve.py", folder.string(), modes,
                                      (scratch_ / "log").string()};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int status = ::posix_spawnp(&pid_, "python3", &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    FILE* out = ::fdopen(ends[0], "r");
    if (status != 0 || ::fscanf(out, "%d", &port_) != 1) throw std::runtime_error("serve.py does not start");
    ::fclose(out);
  }
  ~Server() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // "/PATH" or "/PATH bytes=FIRST-" of every request so far.
  std::vector<std::string> requests() const {
    std::ifstream in(scratch_ / "log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  Scratch scratch_;
  pid_t pid_ = -1;
  int port_ = 0;
};

}  // namespace pits::test
