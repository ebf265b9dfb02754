#include "pits/serve/http/http.h"

#include <atomic>
#include <optional>
#include <random>

#include "serve/raw_client.h"

namespace pits::test {
namespace {

using namespace std::chrono_literals;

std::string numbered(const std::string& path, std::size_t n) { return path + "/" + std::to_string(n); }

TEST(Http, AnswersWithWhatTheHandlerSays) {
  HttpServer server(patient(), [](const HttpRequest& request, Answerer answer) {
    EXPECT_EQ(request.method, "PUT");
    EXPECT_EQ(request.path, "/v1/bandits/tea%20shop");
    EXPECT_EQ(request.host, "here:80");
    EXPECT_EQ(request.authorization, "Bearer secret");
    EXPECT_EQ(request.body, "{}");
    EXPECT_EQ(request.peer, "127.0.0.1");
    answer({.status = 405, .body = "no", .type = "text/plain", .retry_after = 3, .headers = "Allow: GET, HEAD\r\n"});
  });
  RawClient client(server.address());
  const Reply reply = client.ask(
      "PUT /v1/bandits/tea%20shop?a=b&c=? HTTP/1.1\r\nhOST: here:80\r\nauthorization:  Bearer secret \r\n"
      "X-Other: \xe4\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_TRUE(reply.has("HTTP/1.1 405 Method Not Allowed\r\n"));
  for (const char* line : {"\r\nContent-Type: text/plain\r\n", "\r\nContent-Length: 2\r\n", "\r\nRetry-After: 3\r\n",
                           "\r\nAllow: GET, HEAD\r\n", "\r\nDate: "}) {
    EXPECT_TRUE(reply.has(line)) << reply.head;
  }
  EXPECT_FALSE(reply.has("Connection"));
  EXPECT_EQ(reply.body, "no");
}

TEST(Http, TargetsOfAllForms) {
  EchoServer server;
  RawClient client = server.client();
  EXPECT_EQ(client.ask("GET http://here:80/x?y HTTP/1.1\r\nHost: here\r\n\r\n").body, "GET /x ");
  EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: here\r\n\r\n").body, "OPTIONS * ");
  EXPECT_EQ(client.ask("\r\n" + get("/?")).body, "GET / ");  // one empty line before is allowed
}

TEST(Http, AHundredRequestsInOneWriteComeBackInOrder) {
  EchoServer server;
  RawClient client = server.client();
  std::string all;
  for (std::size_t i = 0; i < 100; ++i) all += post(numbered("/x", i), std::string(i, 'b'));
  client.send(all);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(client.reply().body, "POST " + numbered("/x", i) + " " + std::string(i, 'b'));
  }
}

TEST(Http, AnswersOutOfOrderFromManyThreadsGoOutInOrder) {
  EchoServer server({.most_pipelined = 200});
  RawClient client = server.client();
  std::string all;
  for (std::size_t i = 0; i < 100; ++i) all += get(numbered(i % 3 == 0 ? "/now" : "/held", i));
  client.send(all);
  wait_until([&] { return server.held() == 66; });
  EXPECT_EQ(server.server.counters().waiting, 66U);
  std::vector<std::size_t> places(66);
  std::mt19937 random(7);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = random() % (66 - i);
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (;;) {
        const std::lock_guard lock(mutex);
        if (places.empty()) return;
        server.answer_held(places[places.size() - server.held()]);
        if (server.held() == 0) places.clear();
      }
    });
  }
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(client.reply().body, "GET " + numbered(i % 3 == 0 ? "/now" : "/held", i) + " ");
  }
  for (std::thread& thread : threads) thread.join();
  wait_until([&] { return server.server.counters().waiting == 0; });
}

TEST(Http, ARequestByteByByte) {
  EchoServer server;
  RawClient client = server.client();
  for (const char c : post("/x", "hello") + get("/y")) client.send({&c, 1});
  EXPECT_EQ(client.reply().body, "POST /x hello");
  EXPECT_EQ(client.reply().body, "GET /y ");
}

TEST(Http, ALargeReplyIsReadInSmallPieces) {
  EchoServer server;
  RawClient client = server.client();
  const std::string body(1000000, 'b');
  std::thread sender([&] { client.send(post("/x", body) + post("/y", body)); });
  EXPECT_EQ(client.reply(999).body, "POST /x " + body);
  EXPECT_EQ(client.reply(999).body, "POST /y " + body);
  sender.join();
}

TEST(Http, ABodyInChunks) {
  EchoServer server;
  RawClient client = server.client();
  const std::string head = "POST /x HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: Chunked\r\n\r\n";
  const std::string body = "5;name=\"value\"\r\nhello\r\n00A ; x\r\n, and more\r\n0\r\nContent-Length: 3\r\n\r\n";
  EXPECT_EQ(client.ask(head + body).body, "POST /x hello, and more");
  EXPECT_EQ(client.ask(head + "0\r\n\r\n").body, "POST /x ");
}

TEST(Http, ClosesWhenAsked) {
  EchoServer server;
  for (const std::string version : {"1.1\r\nHost: here\r\nConnection: close\r\n\r\n", "1.0\r\n\r\n"}) {
    RawClient client = server.client();
    const Reply reply = client.ask("GET /x HTTP/" + version + get("/later"));
    EXPECT_EQ(reply.body, "GET /x ");
    EXPECT_TRUE(reply.has("\r\nConnection: close\r\n"));
    EXPECT_EQ(client.rest(), "");
  }
  EXPECT_EQ(server.seen().size(), 2U);
}

TEST(Http, KeepsAnOldConnectionAliveWhenAsked) {
  EchoServer server;
  RawClient client = server.client();
  for (int i = 0; i < 2; ++i) {
    const Reply reply = client.ask("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(reply.body, "GET /x ");
    EXPECT_TRUE(reply.has("\r\nConnection: keep-alive\r\n"));
  }
}

TEST(Http, AReplyMayCloseTheConnection) {
  HttpServer server(patient(), [](const HttpRequest&, Answerer answer) { answer({.body = "bye", .close = true}); });
  RawClient client(server.address());
  EXPECT_EQ(client.ask(get("/x") + get("/y")).body, "bye");
  EXPECT_EQ(client.rest(), "");
}

TEST(Http, HeadHasTheHeadOfGet) {
  EchoServer server;
  RawClient client = server.client();
  client.send("HEAD /x HTTP/1.1\r\nHost: here\r\n\r\n" + get("/y"));
  const Reply reply = client.reply(65536, true);
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.has("\r\nContent-Length: 8\r\n")) << reply.head;
  EXPECT_EQ(client.reply().body, "GET /y ");
}

TEST(Http, NoContentHasNoLength) {
  HttpServer server(patient(), [](const HttpRequest&, Answerer answer) { answer({.status = 204, .body = "dropped"}); });
  RawClient client(server.address());
  const Reply reply = client.ask(get("/x") + get("/y"));
  EXPECT_EQ(reply.status, 204);
  EXPECT_FALSE(reply.has("Content-"));
  EXPECT_EQ(client.reply().status, 204);
}

TEST(Http, SaysContinueBeforeTheBody) {
  EchoServer server;
  RawClient client = server.client();
  const Reply first = client.ask("POST /x HTTP/1.1\r\nHost: here\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(first.head, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.ask("hello").body, "POST /x hello");
  // Not before the reply to an earlier request, and not if the body is there already.
  client.send(get("/held") + "POST /x HTTP/1.1\r\nHost: here\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  wait_until([&] { return server.held() == 1; });
  server.answer_held(0);
  EXPECT_EQ(client.reply().body, "GET /held ");
  EXPECT_EQ(client.reply().status, 100);
  EXPECT_EQ(client.ask("hello").body, "POST /x hello");
  EXPECT_EQ(client.ask("POST /x HTTP/1.1\r\nHost: here\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi").body,
            "POST /x hi");
}

TEST(Http, RepliesReachAClientThatHasEndedItsOutput) {
  EchoServer server;
  RawClient client = server.client();
  client.send(get("/held") + get("/x") + "GET /half");
  client.end_output();
  wait_until([&] { return server.held() == 1; });
  server.answer_held(0);
  EXPECT_EQ(client.reply().body, "GET /held ");
  EXPECT_EQ(client.reply().body, "GET /x ");
  EXPECT_EQ(client.rest(), "");
}

TEST(Http, ADroppedAnswererOrAnExceptionSendsAnError) {
  EchoServer server;
  RawClient client = server.client();
  client.send(get("/held"));
  wait_until([&] { return server.held() == 1; });
  server.drop_held(0);
  EXPECT_EQ(client.reply().status, 500);
  HttpServer throwing(patient(), [](const HttpRequest&, Answerer) { throw std::runtime_error("oh"); });
  EXPECT_EQ(RawClient(throwing.address()).ask(get("/x")).status, 500);
}

TEST(Http, AnswersMayComeAfterTheClientOrTheServerIsGone) {
  auto server = std::make_unique<EchoServer>();
  {
    RawClient client = server->client();
    client.send(get("/held/1"));
    wait_until([&] { return server->held() == 1; });
  }
  server->answer_held(0);
  wait_until([&] { return server->server.counters().open == 0; });
  std::optional<Answerer> kept;
  std::atomic<bool> have = false;
  auto keeping = std::make_unique<HttpServer>(patient(), [&](const HttpRequest&, Answerer a) {
    kept.emplace(std::move(a));
    have = true;
  });
  RawClient client(keeping->address());
  client.send(get("/x"));
  wait_until([&] { return have.load(); });
  keeping.reset();
  (*kept)({.body = "too late"});
  EXPECT_EQ(client.rest(), "");
}

TEST(Http, ManyClientsOfTwoThreads) {
  EchoServer server({.threads = 2});
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      RawClient client = server.client();
      for (std::size_t i = 0; i < 200; ++i) {
        const std::string path = numbered(numbered("/x", c), i);
        EXPECT_EQ(client.ask(post(path, "hi")).body, "POST " + path + " hi");
      }
    });
  }
  for (std::thread& client : clients) client.join();
  const HttpCounters counters = server.server.counters();
  EXPECT_EQ(counters.requests, 1600U);
  EXPECT_EQ(counters.accepted, 8U);
  EXPECT_EQ(counters.malformed + counters.timeouts + counters.refused, 0U);
}

TEST(Http, TheBodyIsFollowedByReadableBytes) {
  std::atomic<int> sum = 0;
  HttpServer server(patient(), [&](const HttpRequest& request, Answerer answer) {
    for (std::size_t i = 0; i < 64; ++i) sum += request.body.data()[request.body.size() + i];  // the sanitizers look
    answer({.body = "ok"});
  });
  RawClient client(server.address());
  for (const std::size_t size : {0UL, 1UL, 100UL, 65000UL, 65536UL, 100000UL}) {
    EXPECT_EQ(client.ask(post("/x", std::string(size, 'b'))).body, "ok");
  }
}

}  // namespace
}  // namespace pits::test
