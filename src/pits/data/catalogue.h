// The data sets that the benchmark's problems are made of: where they come from, and what their bytes must be.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pits {

// A content that is accepted for a file.
struct Content {
  std::string sha256;  // of the unpacked bytes
  std::uint64_t bytes;
  std::string remark;  // what every table must say where this content is used; empty for the whole data set
};

struct DataFile {
  std::string name;                // as it is stored: "covtype.data.gz"
  std::vector<std::string> names;  // other names it may be found under: "covtype.data"
  std::string address;             // its public home
  std::vector<Content> contents;   // accepted contents, the whole data set first; empty: checked by shape and ranges
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

// Where data is looked for, in order: `data_dir` where it is not empty, $PITS_DATA, the cache
// ($XDG_CACHE_HOME/pits or ~/.cache/pits).
std::vector<std::filesystem::path> data_directories(const std::string& data_dir);
std::filesystem::path data_cache();

// The first place that has the file. Not found: an Error that names the address and where to put the file.
std::filesystem::path find_data_file(const DataSet& set, const DataFile& file, const std::string& data_dir);

// Reads the unpacked file through `sink` and checks it against the accepted contents; anything else is an Error that
// names the file and the reason. Returns the content it is (the digest alone where the catalogue knows none).
Content read_data_file(const DataSet& set, const DataFile& file, const std::string& data_dir,
                       const std::function<void(std::string_view)>& sink);

}  // namespace pits
