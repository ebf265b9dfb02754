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
  const std::atomic<bool>* stop = nullptr;                                     // ends the transfer when true
};

enum class Arrival {
  whole,
  stopped,    // by the flag
  broken,     // some of it came: a later transfer can continue
  no_range,   // the server cannot continue behind a part
  too_large,  // more came, or was announced, than the file can have
  refused,    // nothing came
};

struct Transfer {
  Arrival arrival;
  std::string reason;  // why it is not whole
};

// Appends to `part`, up to `most_bytes` in all.
Transfer download(const std::string& address, const std::filesystem::path& part, std::uint64_t most_bytes,
                  const TransferWatch& watch);

}  // namespace pits
