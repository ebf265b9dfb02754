// Listening sockets: made for an address, or handed over by the process that started us.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pits/serve/http/http.h"

namespace pits {

class Listener {
 public:
  // Owns the descriptor. `path`: of a Unix socket that is removed at the end.
  Listener(int descriptor, bool handed_over, std::string path);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  struct Accepted {
    int descriptor = -1;  // non-blocking; -1: there is none, see errno
    std::string peer{};
  };
  Accepted accept();

  std::string address() const;  // "127.0.0.1:8080", "[::1]:8080" or "unix:/run/pits.sock"
  int descriptor() const { return descriptor_; }
  bool handed_over() const { return handed_over_; }  // the next process accepts what we leave

 private:
  const int descriptor_;
  const bool handed_over_;
  const std::string path_;
};

using Listeners = std::vector<std::shared_ptr<Listener>>;

// For each thread its listeners. Threads have sockets of their own where the kernel can share out connections among
// them (TCP); others are shared.
std::vector<Listeners> make_listeners(const HttpConfig& config);

}  // namespace pits
