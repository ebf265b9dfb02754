// A private PostgreSQL for the tests of this process, and a database of its own for each test (scripts/cluster).
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "experiment/scratch.h"
#include "pits/fleet/tables.h"

namespace pits::test {

// Within a time that no machine needs: 20 s, and longer where the question itself takes long.
template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class Cluster {
 public:
  // Empty: PostgreSQL is not installed.
  static std::string new_database() {
    static Cluster cluster;
    static int databases = 0;
    if (cluster.url_.empty()) return {};
    const std::string name = fmt::format("test{}", ++databases);
    Postgres(cluster.url_).execute("CREATE DATABASE " + name);
    std::string url = cluster.url_;
    url.replace(url.find("/pits?"), 6, "/" + name + "?");
    return url;
  }
  // Of all others.
  static void end_sessions(const std::string& url) {
    Postgres(url).execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid()");
  }

  const std::string& url() const { return url_; }  // empty: PostgreSQL is not installed

  Cluster() {
    std::filesystem::permissions(scratch_.path(), std::filesystem::perms(0755));
    url_ = output_of("start", " '-c fsync=off' '-c max_connections=60' 2>&1");
    if (!url_.starts_with("postgresql://")) {
      if (url_.find("not installed") == url_.npos) throw std::runtime_error(url_);
      url_.clear();
    }
  }
  ~Cluster() {
    if (!url_.empty()) output_of("stop", " immediate 2>&1");
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

 private:
  std::string output_of(const std::string& verb, const std::string& rest) const {
    const std::string command =
        std::string(PITS_TEST_DIR) + "/../scripts/cluster " + verb + " " + (scratch_ / "cluster").string() + rest;
    std::string text;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 512> part{};
    while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    if (pipe != nullptr) ::pclose(pipe);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  Scratch scratch_;
  std::string url_;
};

// Skips where PostgreSQL is not installed.
class WithDatabase : public testing::Test {
 protected:
  void SetUp() override {
    url = Cluster::new_database();
    if (url.empty()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  std::string url;
};

}  // namespace pits::test
