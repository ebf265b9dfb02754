// Where the files of a data set are on this machine.
#pragma once

#include <filesystem>
#include <optional>

#include "pits/data/catalogue.h"

namespace pits {

// Where data is looked for, in order: `data_dir` where it is not empty, $PITS_DATA, the cache, and what came with pits.
// A `data_dir` or $PITS_DATA that is not a directory is an Error.
std::vector<std::filesystem::path> data_directories(const std::string& data_dir);
// $XDG_CACHE_HOME/pits or ~/.cache/pits; empty where neither is set.
std::filesystem::path data_cache();
// The directories with data that came with pits: data/ beside the program or the Python module (a build tree, a wheel),
// share/pits/data below its prefix, pits/data below $XDG_DATA_DIRS. Only those that exist.
std::vector<std::filesystem::path> bundled_data();

// The first place that has the file under one of its names, plain or with .gz, .xz, .zip or .Z behind.
std::optional<std::filesystem::path> locate_data_file(const DataFile& file, const std::string& data_dir);
// The same in one directory only.
std::optional<std::filesystem::path> locate_in(const std::filesystem::path& directory, const DataFile& file);
// As locate_data_file, but not found is an Error that names the address and where to put the file.
std::filesystem::path find_data_file(const DataSet& set, const DataFile& file, const std::string& data_dir);

}  // namespace pits
