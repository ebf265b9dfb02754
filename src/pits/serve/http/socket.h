// One connected, non-blocking socket, with or without TLS.
#pragma once

#include <cstddef>
#include <string_view>

#include "pits/serve/http/tls.h"

namespace pits {

class Socket {
 public:
  enum class State { done, again, end, broken };
  struct Result {
    State state;
    std::size_t bytes = 0;
  };

  // Owns the descriptor. `tls` may be null.
  Socket(int descriptor, TlsSession tls) : descriptor_(descriptor), tls_(std::move(tls)) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&&) = delete;

  // Both go on with the handshake where it is not complete.
  Result read(char* to, std::size_t most);
  Result write(std::string_view bytes);

  bool handshaking() const;
  bool holds_input() const;  // bytes that were received but not read: no event will tell of them
  bool wants_write() const { return wants_write_; }  // a read that waits until something can be sent
  void end_output();                                 // nothing more will be written
  void close();
  int descriptor() const { return descriptor_; }

 private:
  Result tls_result(int n);

  int descriptor_;
  TlsSession tls_;
  bool wants_write_ = false;
};

}  // namespace pits
