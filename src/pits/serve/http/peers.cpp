#include "pits/serve/http/peers.h"

#include <arpa/inet.h>

#include <algorithm>

namespace pits {

std::string counted_address(const std::string& peer) {
  if (peer == "unix") return {};
  in6_addr address{};
  if (::inet_pton(AF_INET6, peer.c_str(), &address) != 1 || IN6_IS_ADDR_V4MAPPED(&address)) return peer;
  std::fill(std::begin(address.s6_addr) + 8, std::end(address.s6_addr), std::uint8_t{0});
  char network[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, &address, network, sizeof network);
  return network;
}

std::size_t Peers::add(const std::string& address) {
  const std::lock_guard lock(mutex_);
  return ++connections_[address];
}

void Peers::remove(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(address);
  if (found != connections_.end() && --found->second == 0) connections_.erase(found);
}

}  // namespace pits
