// One thread of the load generator: keep-alive connections on one epoll.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <memory>

#include "traffic.h"

namespace pits::bench_serve {

using Time = std::chrono::steady_clock::time_point;

struct LoadConfig {
  std::string address = "127.0.0.1";
  int port = 8080;
  std::size_t connections = 64;
  std::size_t outstanding = 1;  // requests per connection
  double rate = 0.0;            // requests per second, by Poisson arrivals; 0: closed loop
  double seconds = 5.0, warmup = 1.0;
  double deadline = 0.0;  // seconds; a later answer is no success. 0: none
};

struct Measured {
  std::array<std::vector<std::uint32_t>, kinds> nanoseconds;  // of answers with a 2xx; 4.2 s and more are 4.2 s
  std::map<int, std::uint64_t> refused;                       // answers with another status
  std::uint64_t late = 0, broken = 0, unanswered = 0;         // answers; connections; arrivals
  std::uint64_t turned_away = 0;  // arrivals with a deadline that found no connection with room
  double seconds = 0.0;

  void add(const Measured& other);
};

// A new socket that connects; flags as of socket().
int connect_to(const std::string& address, int port, int flags);
// Bytes of the reply that begins here, once its headers are whole; 0 before.
std::size_t reply_length(std::string_view in);

class Loader {
 public:
  Loader(const LoadConfig& config, Traffic traffic, std::uint64_t seed);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // From start on; measures what is due between the end of the warm-up and the end.
  Measured run(Time start);

 private:
  struct Waiting {
    Time due;
    Request request;
  };
  struct Connection {
    int fd = -1;
    bool connected = false, writes = false;  // writes: epoll watches for room
    std::string in, out;
    std::deque<Waiting> waiting;
  };

  void open(std::size_t which);
  void close(std::size_t which);
  void handle(std::size_t which, std::uint32_t events);
  void read(std::size_t which);
  bool take_reply(Connection& connection);
  void answered(Connection& connection, int status, std::string_view body);
  void flush(std::size_t which);
  void fill(std::size_t which);
  void arrive();
  bool send_due();
  void watch(std::size_t which, bool writes);

  LoadConfig config_;
  Traffic traffic_;
  std::mt19937_64 random_;
  int epoll_;
  std::vector<Connection> connections_;
  std::deque<std::size_t> free_;  // connections with room, of the open loop; may name one twice
  std::vector<std::size_t> dirty_;
  std::deque<Time> due_;  // arrivals that wait for a connection
  Time start_{}, measured_from_{}, end_{}, next_arrival_{};
  bool exhausted_ = false;
  Measured measured_;
};

}  // namespace pits::bench_serve
