// TLS on non-blocking sockets, by OpenSSL.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace pits {

using TlsSession = std::unique_ptr<SSL, decltype(&SSL_free)>;

// A certificate and its key. Copies share them.
class TlsContext {
 public:
  // PEM files. An Error says which one is wrong.
  TlsContext(const std::string& certificate, const std::string& private_key);

  TlsSession accept(int descriptor) const;

 private:
  std::shared_ptr<SSL_CTX> context_;
};

}  // namespace pits
