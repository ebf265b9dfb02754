#include "loader.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace pits::bench_serve {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_due = 1 << 20;  // arrivals that wait in the loader

Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
}

// The value of Content-Length; 0 where there is none.
std::size_t content_length(std::string_view headers) {
  static constexpr std::string_view name = "content-length:";
  for (std::size_t at = headers.find('\n'); at != std::string_view::npos; at = headers.find('\n', at + 1)) {
    if (headers.size() - at - 1 < name.size() ||
        ::strncasecmp(headers.data() + at + 1, name.data(), name.size()) != 0) {
      continue;
    }
    return std::strtoull(headers.data() + at + 1 + name.size(), nullptr, 10);
  }
  return 0;
}

}  // namespace

int connect_to(const std::string& address, int port, int flags) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | flags, 0);
  if (fd < 0) throw std::runtime_error("too few file descriptors for the connections: see ulimit -n");
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1)
    throw std::runtime_error("not an IPv4 address: " + address);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 && errno != EINPROGRESS) {
    throw std::runtime_error("cannot connect to " + address + ":" + std::to_string(port) + ": " + std::strerror(errno));
  }
  return fd;
}

std::size_t reply_length(std::string_view in) {
  const std::size_t end = in.find("\r\n\r\n");
  return end == std::string_view::npos ? 0 : end + 4 + content_length(in.substr(0, end));
}

void Measured::add(const Measured& other) {
  for (std::size_t k = 0; k < kinds; ++k) {
    nanoseconds[k].insert(nanoseconds[k].end(), other.nanoseconds[k].begin(), other.nanoseconds[k].end());
  }
  for (const auto& [status, count] : other.refused) refused[status] += count;
  late += other.late;
  broken += other.broken;
  unanswered += other.unanswered;
  turned_away += other.turned_away;
  seconds = std::max(seconds, other.seconds);
}

Loader::Loader(const LoadConfig& config, Traffic traffic, std::uint64_t seed)
    : config_(config),
      traffic_(std::move(traffic)),
      random_(seed),
      epoll_(::epoll_create1(0)),
      connections_(config.connections) {
  for (std::size_t i = 0; i < connections_.size(); ++i) open(i);
}

Loader::~Loader() {
  for (Connection& connection : connections_) {
    if (connection.fd >= 0) ::close(connection.fd);
  }
  ::close(epoll_);
}

Measured Loader::run(Time start) {
  start_ = next_arrival_ = start;
  measured_from_ = start + seconds(config_.warmup);
  end_ = measured_from_ + seconds(config_.seconds);
  std::array<epoll_event, 256> events{};
  while (Clock::now() < start_) {
  }
  if (config_.rate == 0.0) {
    for (std::size_t i = 0; i < connections_.size(); ++i) fill(i);
  }
  // The open loop never sleeps, so that requests leave when they are due.
  const int timeout = config_.rate > 0.0 ? 0 : 10;
  while (Clock::now() < end_) {
    if (config_.rate > 0.0) arrive();
    const int n = ::epoll_wait(epoll_, events.data(), events.size(), timeout);
    for (int i = 0; i < n; ++i)
      handle(events[static_cast<std::size_t>(i)].data.u64, events[static_cast<std::size_t>(i)].events);
    if (exhausted_ && std::ranges::all_of(connections_, [](const Connection& c) { return c.waiting.empty(); })) break;
  }
  measured_.seconds = std::chrono::duration<double>(std::min(Clock::now(), end_) - measured_from_).count();
  measured_.unanswered += due_.size();
  for (const Connection& connection : connections_) measured_.unanswered += connection.waiting.size();
  return std::move(measured_);
}

void Loader::open(std::size_t which) {
  Connection& connection = connections_[which];
  connection = {};
  connection.fd = connect_to(config_.address, config_.port, SOCK_NONBLOCK);
  epoll_event event{.events = EPOLLIN | EPOLLOUT, .data = {.u64 = which}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event);
  connection.writes = true;
}

void Loader::close(std::size_t which) {
  ::close(connections_[which].fd);
  if (Clock::now() >= measured_from_ && start_ != Time{}) ++measured_.broken;
  open(which);
}

void Loader::watch(std::size_t which, bool writes) {
  Connection& connection = connections_[which];
  if (connection.writes == writes) return;
  connection.writes = writes;
  epoll_event event{.events = writes ? EPOLLIN | EPOLLOUT : EPOLLIN, .data = {.u64 = which}};
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event);
}

void Loader::handle(std::size_t which, std::uint32_t events) {
  Connection& connection = connections_[which];
  if ((events & (EPOLLERR | EPOLLHUP)) != 0 && (events & EPOLLIN) == 0) return close(which);
  if ((events & EPOLLOUT) != 0 && !connection.connected) {
    connection.connected = true;
    for (std::size_t i = 0; i < config_.outstanding; ++i) free_.push_back(which);
    if (config_.rate == 0.0) fill(which);
  }
  if ((events & EPOLLIN) != 0) return read(which);
  flush(which);
}

void Loader::read(std::size_t which) {
  Connection& connection = connections_[which];
  std::array<char, 65536> buffer;
  const ssize_t n = ::recv(connection.fd, buffer.data(), buffer.size(), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return close(which);
  connection.in.append(buffer.data(), static_cast<std::size_t>(n));
  while (take_reply(connection)) {
    if (config_.rate > 0.0 && connection.waiting.size() < config_.outstanding) free_.push_back(which);
  }
  if (config_.rate == 0.0) return fill(which);
  flush(which);
}

// Takes one whole reply off the input, if there is one.
bool Loader::take_reply(Connection& connection) {
  const std::string_view in = connection.in;
  const std::size_t length = reply_length(in);
  if (length == 0 || in.size() < length || connection.waiting.empty()) return false;
  const std::size_t body = in.find("\r\n\r\n") + 4;
  answered(connection, std::atoi(connection.in.c_str() + 9), in.substr(body, length - body));
  connection.in.erase(0, length);
  return true;
}

void Loader::answered(Connection& connection, int status, std::string_view body) {
  const Waiting done = connection.waiting.front();
  connection.waiting.pop_front();
  const Time now = Clock::now();
  const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(now - done.due).count();
  const bool good = status >= 200 && status < 300;
  if (done.due >= measured_from_ && now < end_) {
    if (!good) {
      ++measured_.refused[status];
    } else if (config_.deadline > 0.0 && static_cast<double>(taken) > 1e9 * config_.deadline) {
      ++measured_.late;
    } else {
      measured_.nanoseconds[static_cast<std::size_t>(done.request.kind)].push_back(
          static_cast<std::uint32_t>(std::min<std::int64_t>(taken, UINT32_MAX)));
    }
  }
  if (!good) return;
  if (const auto next = traffic_.follow_up(done.request, body, connection.out))
    connection.waiting.push_back({now, *next});
}

void Loader::flush(std::size_t which) {
  Connection& connection = connections_[which];
  if (!connection.out.empty() && connection.connected) {
    const ssize_t n = ::send(connection.fd, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return close(which);
    if (n > 0) connection.out.erase(0, static_cast<std::size_t>(n));
  }
  watch(which, !connection.connected || !connection.out.empty());
}

// The closed loop: as many requests as may be outstanding.
void Loader::fill(std::size_t which) {
  Connection& connection = connections_[which];
  while (connection.connected && connection.waiting.size() < config_.outstanding) {
    const auto request = traffic_.next(connection.out);
    exhausted_ = !request;
    if (!request) break;
    connection.waiting.push_back({Clock::now(), *request});
  }
  flush(which);
}

// The open loop: every arrival up to now, each on a connection that has room. Latency counts from the arrival.
void Loader::arrive() {
  const Time now = Clock::now();
  std::exponential_distribution<double> gap(config_.rate);
  for (; next_arrival_ <= now; next_arrival_ += seconds(gap(random_))) {
    if (due_.size() < most_due) {
      due_.push_back(next_arrival_);
    } else {
      ++measured_.unanswered;
    }
  }
  while (!due_.empty() && send_due()) due_.pop_front();
  // Who has a deadline and finds no room goes at once. (If they waited in line, all would be late once one is.)
  for (; config_.deadline > 0.0 && !due_.empty(); due_.pop_front()) {
    if (due_.front() >= measured_from_) ++measured_.turned_away;
  }
  for (const std::size_t which : dirty_) flush(which);
  dirty_.clear();
}

bool Loader::send_due() {
  while (!free_.empty()) {
    const std::size_t which = free_.front();
    free_.pop_front();
    Connection& connection = connections_[which];
    if (!connection.connected || connection.waiting.size() >= config_.outstanding) continue;
    const auto request = traffic_.next(connection.out);
    exhausted_ = !request;
    if (!request) return false;
    connection.waiting.push_back({due_.front(), *request});
    dirty_.push_back(which);
    return true;
  }
  return false;
}

}  // namespace pits::bench_serve
