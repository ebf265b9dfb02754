#include "pits/data/source/fetch.h"

#include <algorithm>
#include <utility>

#include "pits/core/error.h"
#include "pits/core/io/files.h"
#include "pits/data/source/check.h"

namespace pits {
namespace {

constexpr int most_breaks = 5;

std::string last_part(const std::string& address) {
  const std::string path = address.substr(0, address.find('?'));
  return path.substr(path.rfind('/') + 1);
}

Content store(const DataFile& file, const std::string& address, const std::filesystem::path& part,
              const std::filesystem::path& target) {
  AtomicFile stored(target);
  const Content content = read_data_file(file, part, address, [&](std::string_view piece) { stored.write(piece); });
  stored.finish();
  return content;
}

std::optional<Content> fetch_from(const DataFile& file, const std::string& address, const FetchOptions& options) {
  const std::filesystem::path part = options.directory / (last_part(address) + ".part");
  bool fresh = !std::filesystem::exists(part);
  for (int breaks = 0;;) {
    const Transfer transfer = download(address, part, most_bytes(file), options.watch);
    if (transfer.arrival == Arrival::stopped) return std::nullopt;
    if (transfer.arrival == Arrival::no_range) fresh = std::filesystem::remove(part);
    const bool again = transfer.arrival == Arrival::broken || transfer.arrival == Arrival::no_range;
    if (again && ++breaks <= most_breaks) continue;
    if (again || transfer.arrival == Arrival::refused) throw failed("{}: {}", address, transfer.reason);
    try {
      if (transfer.arrival == Arrival::too_large) throw failed("{}: {}", address, transfer.reason);
      const Content content = store(file, address, part, options.directory / file.name);
      std::filesystem::remove(part);
      return content;
    } catch (const Error&) {
      std::filesystem::remove(part);
      if (std::exchange(fresh, true)) throw;  // else an older download's part may be what is wrong
    }
  }
}

}  // namespace

std::vector<std::string> fetch_addresses(const DataFile& file, const std::string& from) {
  if (from.empty()) return file.addresses;
  std::vector<std::string> addresses;
  for (const std::string& home : file.addresses) {
    const std::string address = from + (from.ends_with('/') ? "" : "/") + last_part(home);
    if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
  }
  return addresses;
}

std::optional<Content> fetch_data_file(const DataSet& set, const DataFile& file, const FetchOptions& options) {
  create_directories_or_throw(options.directory);
  const DirectoryLock lock(options.directory);
  std::vector<std::string> reasons;
  for (const std::string& address : fetch_addresses(file, options.from)) {
    if (options.starting) options.starting(address);
    try {
      return fetch_from(file, address, options);
    } catch (const Error& e) {
      reasons.emplace_back(e.what());
    }
  }
  throw failed("cannot fetch {} of the data set {}: {}. By hand: put {} into '{}'", file.name, set.name,
               fmt::join(reasons, "; "), file.addresses.front(), options.directory.string());
}

}  // namespace pits
