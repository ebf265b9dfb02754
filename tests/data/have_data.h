// The benchmark's data sets, where this machine has them.
#pragma once

#include <sstream>

#include "pits/data/read/bytes.h"
#include "pits/data/source/locate.h"

namespace pits::test {

inline bool have_data(std::string_view set) {
  for (const DataFile& file : find_data_set(set).files) {
    if (!locate_data_file(file, "")) return false;
  }
  return true;
}

// The lines of a file that is here, packed or not.
inline std::vector<std::string> unpacked_lines(const DataFile& file) {
  std::string text;
  read_unpacked(*locate_data_file(file, ""), [&](std::string_view piece) { text += piece; });
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace pits::test

#define PITS_SKIP_WITHOUT(set) \
  if (!pits::test::have_data(set)) GTEST_SKIP() << "no data set " << (set) << ": set PITS_DATA"
