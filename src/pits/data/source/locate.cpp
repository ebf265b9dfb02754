#include "pits/data/source/locate.h"

#include <cstdlib>

#include "pits/core/error.h"

namespace pits {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

// A relative $XDG_CACHE_HOME is to be ignored, says the XDG base directory specification.
std::filesystem::path data_cache() {
  const std::filesystem::path cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (cache.is_absolute()) return cache / "pits";
  return home.empty() ? home : home / ".cache" / "pits";
}

std::vector<std::filesystem::path> data_directories(const std::string& data_dir) {
  std::vector<std::filesystem::path> directories;
  const auto add = [&](const std::string& asked, std::string_view source) {
    if (asked.empty()) return;
    if (!std::filesystem::is_directory(asked))
      throw bad_input("the data directory '{}'{} does not exist", asked, source);
    directories.emplace_back(asked);
  };
  add(data_dir, "");
  add(variable("PITS_DATA"), " of $PITS_DATA");
  if (const std::filesystem::path cache = data_cache(); !cache.empty()) directories.push_back(cache);
  return directories;
}

std::optional<std::filesystem::path> locate_in(const std::filesystem::path& directory, const DataFile& file) {
  std::vector<std::string> names = {file.name};
  names.insert(names.end(), file.names.begin(), file.names.end());
  for (const std::string& name : names) {
    for (const char* packed : {"", ".gz", ".xz", ".zip", ".Z"}) {
      const std::filesystem::path path = directory / (name + packed);
      if (std::filesystem::exists(path)) return path;
    }
  }
  return std::nullopt;
}

std::optional<std::filesystem::path> locate_data_file(const DataFile& file, const std::string& data_dir) {
  for (const std::filesystem::path& directory : data_directories(data_dir)) {
    if (const auto path = locate_in(directory, file)) return path;
  }
  return std::nullopt;
}

std::filesystem::path find_data_file(const DataSet& set, const DataFile& file, const std::string& data_dir) {
  if (const auto path = locate_data_file(file, data_dir)) return *path;
  std::vector<std::string> places;
  for (const std::filesystem::path& directory : data_directories(data_dir)) {
    places.push_back(fmt::format("'{}'", directory.string()));
  }
  throw bad_input("no {} of the data set {}: get it with 'pits data fetch {}', or from {} into {}", file.name, set.name,
                  set.name, file.addresses.front(),
                  places.empty() ? "$PITS_DATA" : fmt::to_string(fmt::join(places, " or ")));
}

}  // namespace pits
