#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "experiment/scratch.h"
#include "pits/core/error.h"
#include "serve/raw_client.h"

namespace pits::test {
namespace {

using namespace std::chrono_literals;

// A key and a certificate for it, signed by itself, in DIRECTORY/cert.pem and key.pem.
void write_certificate(const Scratch& directory, long serial) {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* const name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("here"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  EXPECT_GT(X509_sign(certificate, key, EVP_sha256()), 0);
  FILE* file = std::fopen((directory / "cert.pem").c_str(), "w");
  PEM_write_X509(file, certificate);
  std::fclose(file);
  file = std::fopen((directory / "key.pem").c_str(), "w");
  PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

HttpConfig with_tls(const Scratch& directory) {
  return {.listen = "127.0.0.1:0", .certificate = directory / "cert.pem", .private_key = directory / "key.pem"};
}

// A client of OpenSSL's that trusts DIRECTORY/cert.pem alone.
class TlsClient {
 public:
  TlsClient(const std::string& address, const Scratch& trusted, int newest = TLS1_3_VERSION)
      : raw_(address), context_(SSL_CTX_new(TLS_client_method())), tls_(nullptr) {
    SSL_CTX_load_verify_locations(context_, (trusted / "cert.pem").c_str(), nullptr);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_min_proto_version(context_, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_, newest);
    SSL_CTX_set_security_level(context_, 0);
    tls_ = SSL_new(context_);
    SSL_set_fd(tls_, raw_.descriptor());
  }
  ~TlsClient() {
    SSL_free(tls_);
    SSL_CTX_free(context_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool connect() { return SSL_connect(tls_) == 1; }
  SSL* get() { return tls_; }
  bool send(std::string_view bytes) { return SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size())) > 0; }
  // All until the server ends the session.
  std::string rest() {
    std::string all, piece(4096, '\0');
    for (int n = 0; (n = SSL_read(tls_, piece.data(), 4096)) > 0;) all.append(piece, 0, static_cast<std::size_t>(n));
    EXPECT_EQ(SSL_get_shutdown(tls_) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN) << "cut off";
    return all;
  }

 private:
  RawClient raw_;
  SSL_CTX* context_;
  SSL* tls_;
};

const std::string last = "GET /last HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";

TEST(Tls, ServesVersions12And13) {
  const Scratch scratch;
  write_certificate(scratch, 1);
  EchoServer server(with_tls(scratch));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(server.server.address(), scratch, version);
    ASSERT_TRUE(client.connect());
    EXPECT_EQ(SSL_version(client.get()), version);
    ASSERT_TRUE(client.send(post("/x", "hello") + last));
    const std::string all = client.rest();
    EXPECT_LT(all.find("POST /x hello"), all.find("GET /last ")) << all;
  }
  TlsClient old(server.server.address(), scratch, TLS1_1_VERSION);
  EXPECT_FALSE(old.connect());
}

TEST(Tls, LargeBodiesAndReplies) {
  const Scratch scratch;
  write_certificate(scratch, 1);
  EchoServer server(with_tls(scratch));
  TlsClient client(server.server.address(), scratch);
  ASSERT_TRUE(client.connect());
  const std::string body(1'000'000, 'b');
  ASSERT_TRUE(client.send(post("/x", body)));
  ASSERT_TRUE(client.send(last));
  const std::string all = client.rest();
  EXPECT_NE(all.find("POST /x " + body), std::string::npos);
  EXPECT_NE(all.find("GET /last "), std::string::npos);
}

// While the connection is not read, requests wait inside OpenSSL, and no event tells of them.
TEST(Tls, PipelinedRequestsBeyondTheLimit) {
  const Scratch scratch;
  write_certificate(scratch, 1);
  HttpConfig config = with_tls(scratch);
  config.most_pipelined = 2;
  EchoServer server(config);
  TlsClient client(server.server.address(), scratch);
  ASSERT_TRUE(client.connect());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(client.send(get("/held/" + std::to_string(i))));
  ASSERT_TRUE(client.send(last));
  for (int i = 0; i < 20; ++i) {
    wait_until([&] { return server.held() > 0; });
    server.answer_held(0);
  }
  const std::string all = client.rest();
  std::size_t at = 0;
  for (int i = 0; i < 20; ++i) {
    at = all.find("GET /held/" + std::to_string(i) + " ", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
}

TEST(Tls, SlowAndPlainClientsAreClosed) {
  const Scratch scratch;
  write_certificate(scratch, 1);
  HttpConfig config = with_tls(scratch);
  config.header_timeout = 30ms;
  EchoServer server(config);
  RawClient silent = server.client();
  EXPECT_EQ(silent.rest(), "");
  RawClient plain = server.client();
  plain.send(get("/x"));
  EXPECT_EQ(plain.reply().status, 0);
  EXPECT_TRUE(server.seen().empty());
}

TEST(Tls, TellsTooManyClientsSo) {
  const Scratch scratch;
  write_certificate(scratch, 1);
  HttpConfig config = with_tls(scratch);
  config.most_connections = 0;
  EchoServer server(config);
  TlsClient client(server.server.address(), scratch);
  ASSERT_TRUE(client.connect());
  EXPECT_TRUE(client.rest().starts_with("HTTP/1.1 503 "));
}

TEST(Tls, OffersHttp11) {
  const Scratch scratch;
  write_certificate(scratch, 1);
  EchoServer server(with_tls(scratch));
  TlsClient client(server.server.address(), scratch);
  SSL_set_alpn_protos(client.get(), reinterpret_cast<const unsigned char*>("\x02h2\x08http/1.1"), 12);
  ASSERT_TRUE(client.connect());
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(client.get(), &chosen, &size);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), size), "http/1.1");
}

TEST(Tls, CertificatesAreLoadedAgain) {
  const Scratch scratch;
  write_certificate(scratch, 1);
  EchoServer server(with_tls(scratch));
  write_certificate(scratch, 2);
  server.server.reload_certificates();
  const auto serial = [&] {
    TlsClient client(server.server.address(), scratch);
    EXPECT_TRUE(client.connect());
    X509* const certificate = SSL_get1_peer_certificate(client.get());
    const long number = ASN1_INTEGER_get(X509_get0_serialNumber(certificate));
    X509_free(certificate);
    return number;
  };
  EXPECT_EQ(serial(), 2);
  const std::string good = bytes_of(scratch / "key.pem");
  write_bytes(scratch / "key.pem", "nonsense");
  EXPECT_THROW(server.server.reload_certificates(), Error);
  EXPECT_EQ(serial(), 2);
}

TEST(Tls, WrongFilesAreNamed) {
  const Scratch scratch, other;
  write_certificate(scratch, 1);
  write_certificate(other, 2);
  const auto error_of = [](const HttpConfig& config) -> std::string {
    try {
      EchoServer server(config);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  HttpConfig config = with_tls(scratch);
  config.private_key = other / "key.pem";
  EXPECT_NE(error_of(config).find("cannot use the TLS key '" + config.private_key), std::string::npos);
  config.certificate = scratch / "none.pem";
  EXPECT_NE(error_of(config).find("cannot read the TLS certificate '" + config.certificate), std::string::npos);
  config.certificate = "";
  EXPECT_EQ(error_of(config), "TLS needs both a certificate and its key");
}

}  // namespace
}  // namespace pits::test
