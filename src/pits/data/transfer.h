// One address to one file over HTTP (libcurl), resumed where a part of it is there already.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace pits {

struct TransferWatch {
  int stall_seconds = 30;  // without a byte for this long, the connection counts as broken
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};  // total 0: not known yet
  const std::atomic<bool>* stop = nullptr;                                     // ends the transfer when raised
};

enum class Arrival {
  whole,
  stopped,   // by the flag
  broken,    // some of it came: what there is can be gone on with
  no_range,  // the server cannot go on behind a part
  refused,   // nothing came
};

struct Transfer {
  Arrival arrival;
  std::string reason;  // why it is not whole
};

// Appends to `part`.
Transfer download(const std::string& address, const std::filesystem::path& part, const TransferWatch& watch);

}  // namespace pits
