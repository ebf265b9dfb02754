#include "pits/serve/systemd.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "pits/core/fields.h"

namespace pits {
namespace {

constexpr int first_handed = 3;

std::int64_t number_of(const char* variable) {
  const char* text = std::getenv(variable);
  std::int64_t number = 0;
  if (text != nullptr) parse_value(text, number);
  return number;
}

}  // namespace

std::vector<int> handed_sockets() {
  std::vector<int> sockets;
  if (number_of("LISTEN_PID") != getpid()) return sockets;
  for (int i = 0; i < number_of("LISTEN_FDS"); ++i) {
    const int descriptor = first_handed + i;
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) {
      throw bad_input("descriptor {} of LISTEN_FDS is not a listening socket", descriptor);
    }
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    sockets.push_back(descriptor);
  }
  return sockets;
}

void notify_supervisor(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (path == nullptr || std::strlen(path) == 0 || std::strlen(path) >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, std::strlen(path));
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract name
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  close(descriptor);
}

std::chrono::microseconds watchdog_interval() {
  const std::int64_t of = number_of("WATCHDOG_PID");
  if (of != 0 && of != getpid()) return {};
  return std::chrono::microseconds(number_of("WATCHDOG_USEC"));
}

bool is_local_socket(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  if (address.ss_family == AF_UNIX) return true;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return (ntohl(v4.sin_addr.s_addr) >> 24U) == 127;
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0;
  }
  return false;
}

}  // namespace pits
