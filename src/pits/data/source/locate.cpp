#include "pits/data/source/locate.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>

#include "pits/core/error.h"

namespace pits {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The directory of the program, or of the Python module, that this code is part of.
std::filesystem::path own_directory() {
  static const char here = 0;
  Dl_info info{};
  link_map* object = nullptr;
  if (::dladdr1(&here, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0 || object == nullptr) return {};
  const bool program = object->l_name == nullptr || *object->l_name == '\0';
  std::error_code none;
  return std::filesystem::canonical(program ? "/proc/self/exe" : object->l_name, none).parent_path();
}

// Where people put data: what pits is asked to look at, and the cache.
std::vector<std::filesystem::path> own_places(const std::string& data_dir) {
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

// "a:b:c"; the XDG base directory specification says where the system keeps data, and the default.
std::vector<std::filesystem::path> system_places() {
  const std::string named = variable("XDG_DATA_DIRS"), list = named.empty() ? "/usr/local/share:/usr/share" : named;
  std::vector<std::filesystem::path> places;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    const std::filesystem::path place = list.substr(start, end - start);
    if (place.is_absolute()) places.push_back(place / "pits" / "data");
    start = end + 1;
  }
  return places;
}

}  // namespace

// A relative $XDG_CACHE_HOME is to be ignored, says the XDG base directory specification.
std::filesystem::path data_cache() {
  const std::filesystem::path cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (cache.is_absolute()) return cache / "pits";
  return home.empty() ? home : home / ".cache" / "pits";
}

std::vector<std::filesystem::path> bundled_data() {
  std::vector<std::filesystem::path> places = system_places();
  if (const std::filesystem::path own = own_directory(); !own.empty()) {
    places.insert(places.begin(), {own / "data", own.parent_path() / "share" / "pits" / "data"});
  }
  std::erase_if(places, [](const auto& place) { return !std::filesystem::is_directory(place); });
  return places;
}

std::vector<std::filesystem::path> data_directories(const std::string& data_dir) {
  std::vector<std::filesystem::path> directories = own_places(data_dir);
  const std::vector<std::filesystem::path> bundled = bundled_data();
  directories.insert(directories.end(), bundled.begin(), bundled.end());
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
  for (const std::filesystem::path& directory : own_places(data_dir)) {
    places.push_back(fmt::format("'{}'", directory.string()));
  }
  throw bad_input(
      "no {} of the data set {}: get it with 'pits data fetch {}', or from {} into {}; PITS_DATA or --data-dir names "
      "a folder that has it",
      file.name, set.name, set.name, file.addresses.front(),
      places.empty() ? "$PITS_DATA" : fmt::to_string(fmt::join(places, " or ")));
}

}  // namespace pits
