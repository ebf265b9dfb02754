// How many connections each address has.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

namespace pits {

// Whom a connection counts for: its address, or the network of 64 bits of an IPv6 address, all of which one client may
// have. Empty: a Unix socket, which counts for nobody.
std::string counted_address(const std::string& peer);

// From any thread.
class Peers {
 public:
  std::size_t add(const std::string& address);  // how many it has now
  void remove(const std::string& address);

 private:
  std::mutex mutex_{};
  std::unordered_map<std::string, std::size_t> connections_{};
};

}  // namespace pits
