// The data sets that the benchmark's problems are made of: where they come from, and what their bytes must be.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pits/data/bytes.h"

namespace pits {

// A content that is accepted for a file.
struct Content {
  std::string sha256;  // of the unpacked bytes
  std::uint64_t bytes;
  std::string remark;  // what every table must say where this content is used; empty for the whole data set
};

struct DataFile {
  std::string name;                     // as it is stored, unpacked: "covtype.data"
  std::vector<std::string> names = {};  // other names it may be found under: "mushroom.data"
  std::vector<std::string> addresses;   // its public homes, tried in order; what lies there may be packed
  std::vector<Content> contents;        // accepted contents, the whole data set first
  bool by_shape = false;                // other contents too are accepted where check_jester passes
};

struct DataSet {
  std::string name;
  std::string summary;
  std::vector<DataFile> files;
  std::string licence;
  std::string citation;
};

const std::vector<DataSet>& data_catalogue();
const DataSet& find_data_set(std::string_view name);

// Where data is looked for, in order: `data_dir` where it is not empty, $PITS_DATA, the cache. A `data_dir` or
// $PITS_DATA that is not a directory is an Error.
std::vector<std::filesystem::path> data_directories(const std::string& data_dir);
// $XDG_CACHE_HOME/pits or ~/.cache/pits; empty where neither is set.
std::filesystem::path data_cache();

// The first place that has the file under one of its names, plain or with .gz, .xz, .zip or .Z behind.
std::optional<std::filesystem::path> locate_data_file(const DataFile& file, const std::string& data_dir);
// The same in one place only.
std::optional<std::filesystem::path> locate_in(const std::filesystem::path& directory, const DataFile& file);
// As locate_data_file, but not found is an Error that names the address and where to put the file.
std::filesystem::path find_data_file(const DataSet& set, const DataFile& file, const std::string& data_dir);

// The accepted content that `digest` is; anything else is an Error that names `where` it was read and the reason.
Content verify_content(const DataFile& file, std::string_view where, const Digest& digest);

// Reads the unpacked file through `sink` and verifies it. A damaged file is reported as such, also where `sink` meets
// the damage first and throws an Error. Returns the content it is (the digest alone where it is not listed).
Content read_data_file(const DataSet& set, const DataFile& file, const std::string& data_dir,
                       const std::function<void(std::string_view)>& sink);

}  // namespace pits
