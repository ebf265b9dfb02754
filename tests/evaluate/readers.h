// Reads texts as files of logs.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "pits/core/error.h"
#include "pits/evaluate/read/read_log.h"

namespace pits::test {

class Readers : public testing::Test {
 protected:
  Readers() : directory_(std::filesystem::temp_directory_path() / ("pits-readers-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory_);
  }
  ~Readers() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
    return directory_ / name;
  }
  LoggedData read(const std::string& name, const std::string& text, const LogOptions& options = {}) {
    return read_log(write(name, text), options);
  }
  // The error names the file, the line where there is one, and what is wrong.
  void expect_error(const std::string& name, const std::string& text, const std::string& line, const std::string& what,
                    const LogOptions& options = {}) {
    try {
      read(name, text, options);
      ADD_FAILURE() << "no error: " << what;
    } catch (const Error& e) {
      const std::string message = e.what();
      EXPECT_EQ(e.kind(), ErrorKind::input) << message;
      EXPECT_NE(message.find(name), std::string::npos) << message;
      const std::string place = line.empty() ? name : "line " + line + ": ";
      EXPECT_NE(message.find(place), std::string::npos) << message;
      EXPECT_NE(message.find(what), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
  std::filesystem::path directory_;
};

}  // namespace pits::test
