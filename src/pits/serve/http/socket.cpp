#include "pits/serve/http/socket.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pits {
namespace {

Socket::Result plain_result(ssize_t n) {
  if (n >= 0) return {Socket::State::done, static_cast<std::size_t>(n)};
  const bool again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {again ? Socket::State::again : Socket::State::broken};
}

int size_for_tls(std::size_t size) { return static_cast<int>(size < 1U << 30 ? size : 1U << 30); }

}  // namespace

Socket::Socket(Socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), tls_(std::move(other.tls_)) {}

Socket::Result Socket::tls_result(int n) {
  wants_write_ = false;
  if (n > 0) return {State::done, static_cast<std::size_t>(n)};
  const int error = SSL_get_error(tls_.get(), n);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_WANT_WRITE: wants_write_ = true; return {State::again};
    case SSL_ERROR_WANT_READ: return {State::again};
    case SSL_ERROR_ZERO_RETURN: return {State::end};
    default: return {State::broken};
  }
}

Socket::Result Socket::read(char* to, std::size_t most) {
  if (tls_) return tls_result(SSL_read(tls_.get(), to, size_for_tls(most)));
  const Result result = plain_result(::recv(descriptor_, to, most, 0));
  return result.state == State::done && result.bytes == 0 ? Result{State::end} : result;
}

Socket::Result Socket::write(std::string_view bytes) {
  if (tls_) return tls_result(SSL_write(tls_.get(), bytes.data(), size_for_tls(bytes.size())));
  return plain_result(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

bool Socket::handshaking() const { return tls_ && !SSL_is_init_finished(tls_.get()); }

bool Socket::holds_input() const { return tls_ && SSL_has_pending(tls_.get()) == 1; }

void Socket::end_output() {
  if (tls_ && SSL_is_init_finished(tls_.get())) {
    SSL_shutdown(tls_.get());
    ERR_clear_error();
  }
  ::shutdown(descriptor_, SHUT_WR);
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

}  // namespace pits
