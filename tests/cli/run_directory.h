// The files of a run directory that must not differ between runs of one seed.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "experiment/scratch.h"

namespace pits::test {

inline std::map<std::string, std::string> lasting_files(const std::filesystem::path& run) {
  std::map<std::string, std::string> files;
  for (const char* name : {"run.json", "results.jsonl", "curves.npy", "summary.jsonl"})
    files[name] = bytes_of(run / name);
  for (const std::string& name : names_in(run / "cells")) files["cells/" + name] = bytes_of(run / "cells" / name);
  return files;
}

inline void expect_same_files(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto files_a = lasting_files(a);
  const auto files_b = lasting_files(b);
  EXPECT_GT(files_a.size(), 4U);
  EXPECT_EQ(names_in(a / "cells"), names_in(b / "cells"));
  for (const auto& [name, bytes] : files_a) {
    EXPECT_TRUE(files_b.contains(name) && files_b.at(name) == bytes) << name << " differs";
  }
}

inline std::size_t finished_cells(const std::filesystem::path& run) {
  std::size_t finished = 0;
  if (!std::filesystem::exists(run / "cells")) return finished;
  for (const std::string& name : names_in(run / "cells")) finished += name.ends_with(".json") ? 1 : 0;
  return finished;
}

}  // namespace pits::test
