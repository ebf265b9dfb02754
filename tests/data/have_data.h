// The benchmark's data sets, where this machine has them.
#pragma once

#include "pits/data/source/locate.h"

namespace pits::test {

inline bool have_data(std::string_view set) {
  for (const DataFile& file : find_data_set(set).files) {
    if (!locate_data_file(file, "")) return false;
  }
  return true;
}

}  // namespace pits::test

#define PITS_SKIP_WITHOUT(set) \
  if (!pits::test::have_data(set)) GTEST_SKIP() << "no data set " << (set) << ": set PITS_DATA"
