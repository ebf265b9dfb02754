// Where a server listens, and who else speaks to it.
#include <curl/curl.h>

#include <filesystem>

#include "experiment/scratch.h"
#include "pits/core/error.h"
#include "serve/raw_client.h"

namespace pits::test {
namespace {

HttpServer peer_server(const HttpConfig& config) {
  return HttpServer(patient(config),
                    [](const HttpRequest& request, Answerer answer) { answer({.body = std::string(request.peer)}); });
}

std::string error_of(const HttpConfig& config) {
  try {
    peer_server(config);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Listen, OnAUnixSocket) {
  const Scratch scratch;
  for (const int threads : {1, 2}) {
    const HttpConfig config{.listen = "unix:" + (scratch / "socket").string(), .threads = threads};
    const HttpServer server = peer_server(config);
    EXPECT_EQ(server.address(), config.listen);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(RawClient(server.address()).ask(get("/x")).body, "unix");
    EXPECT_NE(error_of(config).find("Address already in use"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "socket"));
}

TEST(Listen, WhereADeadProcessHasLeftItsSocket) {
  const Scratch scratch;
  const std::string path = scratch / "socket";
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{.sun_family = AF_UNIX, .sun_path = ""};
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(left, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  ::close(left);
  const HttpServer server = peer_server({.listen = "unix:" + path});
  EXPECT_EQ(RawClient(server.address()).ask(get("/x")).body, "unix");
}

TEST(Listen, OnSocketsHandedOver) {
  std::vector<int> sockets;
  for (int i = 0; i < 2; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::bind(sockets[i], reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    ASSERT_EQ(::listen(sockets[i], 16), 0);
  }
  sockaddr_in name{};
  socklen_t size = sizeof name;
  ::getsockname(sockets[1], reinterpret_cast<sockaddr*>(&name), &size);
  const HttpServer server = peer_server({.listen = "nonsense", .sockets = sockets, .threads = 2});
  EXPECT_EQ(RawClient(server.address()).ask(get("/x")).body, "127.0.0.1");
  EXPECT_EQ(RawClient("127.0.0.1:" + std::to_string(ntohs(name.sin_port))).ask(get("/x")).body, "127.0.0.1");
}

TEST(Listen, AddressesThatAreWrongOrInUse) {
  for (const char* listen : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "here?:80", "unix:"}) {
    EXPECT_NE(error_of({.listen = listen}).find("cannot listen on '" + std::string(listen) + "'"), std::string::npos)
        << listen;
  }
  for (const int threads : {1, 2}) {
    const HttpServer server = peer_server({.listen = ":0", .threads = threads});
    EXPECT_TRUE(server.address().starts_with("127.0.0.1:"));
    for (const int others : {1, 2}) {
      EXPECT_NE(error_of({.listen = server.address(), .threads = others}).find("Address already in use"),
                std::string::npos);
    }
  }
  EXPECT_NE(error_of({.listen = ":0", .sockets = {0}}).find("descriptor 0"), std::string::npos);
  EXPECT_NE(error_of({.listen = ":0", .threads = 0}).find("threads"), std::string::npos);
}

// libcurl is another implementation of the protocol.
class Curl {
 public:
  Curl() : handle_(curl_easy_init()) {}
  ~Curl() {
    curl_slist_free_all(fields_);
    curl_easy_cleanup(handle_);
  }
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;

  template <class Value>
  void set(CURLoption option, Value value) {
    EXPECT_EQ(curl_easy_setopt(handle_, option, value), CURLE_OK);
  }
  void field(const char* line) { set(CURLOPT_HTTPHEADER, fields_ = curl_slist_append(fields_, line)); }
  std::string ask(const std::string& url) {
    std::string body;
    set(CURLOPT_URL, url.c_str());
    set(
        CURLOPT_WRITEFUNCTION, +[](char* data, std::size_t, std::size_t n, std::string* to) {
          to->append(data, n);
          return n;
        });
    set(CURLOPT_WRITEDATA, &body);
    EXPECT_EQ(curl_easy_perform(handle_), CURLE_OK);
    return body;
  }
  long info(CURLINFO what) {
    long value = 0;
    curl_easy_getinfo(handle_, what, &value);
    return value;
  }

 private:
  CURL* handle_;
  curl_slist* fields_ = nullptr;
};

TEST(Curl, SpeaksToTheServer) {
  EchoServer server;
  const std::string url = "http://" + server.server.address();
  Curl curl;
  EXPECT_EQ(curl.ask(url + "/a?b=c"), "GET /a ");
  EXPECT_EQ(curl.info(CURLINFO_RESPONSE_CODE), 200);
  EXPECT_EQ(curl.info(CURLINFO_NUM_CONNECTS), 1);
  const std::string body(300000, 'b');
  curl.set(CURLOPT_POSTFIELDS, body.c_str());
  EXPECT_EQ(curl.ask(url + "/a"), "POST /a " + body);
  EXPECT_EQ(curl.info(CURLINFO_NUM_CONNECTS), 0);  // the same connection
  const std::string too_long(2000000, 'b');
  curl.set(CURLOPT_POSTFIELDS, too_long.c_str());
  EXPECT_EQ(curl.ask(url + "/a"), "{\"error\":\"the body is too large\"}\n");
  EXPECT_EQ(curl.info(CURLINFO_RESPONSE_CODE), 413);
}

TEST(Curl, SendsChunksAndWaitsForContinue) {
  EchoServer server;
  Curl curl;
  std::string left(70000, 'b');
  const std::string sent = left;
  curl.field("Transfer-Encoding: chunked");
  curl.field("Expect: 100-continue");
  curl.set(CURLOPT_EXPECT_100_TIMEOUT_MS, 60000L);
  curl.set(CURLOPT_POST, 1L);
  curl.set(
      CURLOPT_READFUNCTION, +[](char* to, std::size_t, std::size_t n, std::string* from) {
        const std::size_t taken = from->copy(to, n);
        from->erase(0, taken);
        return taken;
      });
  curl.set(CURLOPT_READDATA, &left);
  EXPECT_EQ(curl.ask("http://" + server.server.address() + "/a"), "POST /a " + sent);
}

}  // namespace
}  // namespace pits::test
