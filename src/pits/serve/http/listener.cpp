#include "pits/serve/http/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "pits/core/error.h"

namespace pits {
namespace {

// Any address of a socket.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

std::string host_of(const Address& address) {
  char host[INET6_ADDRSTRLEN] = "";
  if (address.storage.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address.get())->sin_addr, host, sizeof host);
  } else if (address.storage.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address.get())->sin6_addr, host, sizeof host);
  } else {
    return "unix";
  }
  return host;
}

std::uint16_t& port_of(Address& address) {
  return address.storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(address.get())->sin6_port
                                               : reinterpret_cast<sockaddr_in*>(address.get())->sin_port;
}

Error cannot_listen(const std::string& listen) {
  return bad_input("cannot listen on '{}': {}", listen, std::strerror(errno));
}

// "ADDRESS:PORT", "[ADDRESS6]:PORT" or ":PORT".
Address tcp_address(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  std::string host = listen.substr(0, colon == listen.npos ? 0 : colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "127.0.0.1";
  const std::string port = colon == listen.npos ? "" : listen.substr(colon + 1);
  const auto wrong = [&](const char* why) {
    return bad_input("cannot listen on '{}': {}; it must be ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH", listen, why);
  };
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != port.npos || std::stoi(port) > 65535) {
    throw wrong("no port");
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); code != 0)
    throw wrong(::gai_strerror(code));
  Address address;
  address.size = found->ai_addrlen;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return address;
}

// `shared`: among several sockets of this process; others of the same user could join, so that an address in use is
// found by a first socket that does not share.
int bound_socket(const Address& address, const std::string& listen, bool shared) {
  const int family = address.get()->sa_family;
  const int s = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (s < 0) throw cannot_listen(listen);
  const int on = 1;
  if (family != AF_UNIX) ::setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (shared) ::setsockopt(s, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (::bind(s, address.get(), address.size) != 0 || ::listen(s, SOMAXCONN) != 0) {
    const Error error = cannot_listen(listen);
    ::close(s);
    throw error;
  }
  return s;
}

std::vector<Listeners> tcp_listeners(const HttpConfig& config) {
  Address address = tcp_address(config.listen);
  const auto n = static_cast<std::size_t>(config.threads);
  const auto listener = [&](bool shared) {
    return std::make_shared<Listener>(bound_socket(address, config.listen, shared), false, "");
  };
  std::vector<Listeners> all(n);
  if (n == 1) {
    all[0].push_back(listener(false));
    return all;
  }
  {
    const auto first = listener(false);
    Address taken;
    ::getsockname(first->descriptor(), taken.get(), &taken.size);
    port_of(address) = port_of(taken);
  }
  for (Listeners& own : all) own.push_back(listener(true));
  return all;
}

std::shared_ptr<Listener> unix_listener(const std::string& listen) {
  const std::string path = listen.substr(5);
  Address address;
  auto* const name = reinterpret_cast<sockaddr_un*>(address.get());
  if (path.empty() || path.size() >= sizeof name->sun_path) {
    throw bad_input("cannot listen on '{}': the path must have 1 to {} bytes", listen, sizeof name->sun_path - 1);
  }
  name->sun_family = AF_UNIX;
  path.copy(name->sun_path, path.size());
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) {  // left by a process that is gone?
    const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool gone = ::connect(s, address.get(), address.size) != 0 && errno == ECONNREFUSED;
    ::close(s);
    if (gone) ::unlink(path.c_str());
  }
  return std::make_shared<Listener>(bound_socket(address, listen, false), false, path);
}

void check_handed_over(int s) {
  int listening = 0;
  socklen_t size = sizeof listening;
  if (::getsockopt(s, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || listening == 0) {
    throw bad_input("descriptor {} is not a listening socket", s);
  }
  ::fcntl(s, F_SETFL, ::fcntl(s, F_GETFL) | O_NONBLOCK);
  ::fcntl(s, F_SETFD, FD_CLOEXEC);
}

}  // namespace

Listener::Listener(int descriptor, bool handed_over, std::string path)
    : descriptor_(descriptor), handed_over_(handed_over), path_(std::move(path)) {}

Listener::~Listener() {
  ::close(descriptor_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

Listener::Accepted Listener::accept() {
  Address peer;
  const int s = ::accept4(descriptor_, peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (s < 0) return {};
  const int on = 1;
  if (peer.storage.ss_family != AF_UNIX) ::setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return {s, host_of(peer)};
}

std::string Listener::address() const {
  Address own;
  ::getsockname(descriptor_, own.get(), &own.size);
  if (own.storage.ss_family == AF_UNIX)
    return fmt::format("unix:{}", reinterpret_cast<sockaddr_un*>(own.get())->sun_path);
  const bool six = own.storage.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", six ? "[" : "", host_of(own), six ? "]" : "", ntohs(port_of(own)));
}

std::vector<Listeners> make_listeners(const HttpConfig& config) {
  if (config.threads < 1) throw bad_input("threads must be at least 1, not {}", config.threads);
  Listeners shared;
  for (const int s : config.sockets) {
    check_handed_over(s);
    shared.push_back(std::make_shared<Listener>(s, true, ""));
  }
  if (shared.empty() && !config.listen.starts_with("unix:")) return tcp_listeners(config);
  if (shared.empty()) shared.push_back(unix_listener(config.listen));
  return {static_cast<std::size_t>(config.threads), shared};
}

}  // namespace pits
