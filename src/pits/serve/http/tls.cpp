#include "pits/serve/http/tls.h"

#include <openssl/err.h>

#include <string_view>

#include "pits/core/error.h"

namespace pits {
namespace {

std::string reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const text = ERR_reason_error_string(code);
  return text == nullptr ? "unknown reason" : text;
}

// We speak HTTP/1.1 and nothing else.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned in_size,
                    void*) {
  static constexpr unsigned char ours[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, size, ours, sizeof ours, in, in_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsContext::TlsContext(const std::string& certificate, const std::string& private_key)
    : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free) {
  if (!context_) throw failed("TLS cannot be started: {}", reason());
  SSL_CTX* const context = context_.get();
  ERR_clear_error();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);  // a record by one read, not two
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    throw bad_input("cannot read the TLS certificate '{}' ({}); it must be a PEM file", certificate, reason());
  }
  if (SSL_CTX_use_PrivateKey_file(context, private_key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    throw bad_input("cannot use the TLS key '{}' ({}); it must be the PEM file that belongs to the certificate '{}'",
                    private_key, reason(), certificate);
  }
}

TlsSession TlsContext::accept(int descriptor) const {
  TlsSession session(SSL_new(context_.get()), SSL_free);
  if (!session || SSL_set_fd(session.get(), descriptor) != 1) {
    ERR_clear_error();
    return {nullptr, SSL_free};
  }
  SSL_set_accept_state(session.get());
  return session;
}

}  // namespace pits
