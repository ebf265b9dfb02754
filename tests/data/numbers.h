// A data set of one file, the numbers 0 .. 99999 on a line each, as `seq 0 99999` writes them and sha256sum sees them.
#pragma once

#include "pits/data/catalogue.h"

namespace pits::test {

inline std::string numbers_text() {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i) + "\n";
  return text;
}

inline DataSet numbers_set() {
  return {.name = "numbers",
          .summary = "numbers",
          .files = {{.name = "numbers.txt",
                     .names = {"seq.txt"},
                     .addresses = {"http://127.0.0.1:9/first/numbers.gz", "http://127.0.0.1:9/second/numbers.txt"},
                     .contents = {{"6b3cecf895b686a8659bbec06f0a84fc869b00a8d47684e494766b87260b878b", 588'890, ""},
                                  {std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), 3,
                                   "three letters"}}}},
          .licence = "none",
          .citation = "none"};
}

}  // namespace pits::test
