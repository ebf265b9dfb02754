// Slow clients, too many clients, too many requests, and the end of a server.
#include <atomic>
#include <optional>

#include "pits/serve/http/peers.h"
#include "serve/raw_client.h"

namespace pits::test {
namespace {

using namespace std::chrono_literals;

TEST(Limits, ASlowHeadIsTimedOut) {
  EchoServer server({.header_timeout = 30ms});
  RawClient client = server.client();
  const Reply reply = client.ask("GET /x HTTP/1.1\r\nHost: he");
  EXPECT_EQ(reply.status, 408);
  EXPECT_TRUE(reply.has("\r\nConnection: close\r\n"));
  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(server.seen().empty());
  EXPECT_EQ(server.server.counters().timeouts, 1U);
}

TEST(Limits, ASlowBodyIsTimedOut) {
  EchoServer server({.body_timeout = 100ms});
  const std::string head = "POST /x HTTP/1.1\r\nHost: here\r\n";
  for (const std::string start :
       {"Content-Length: 100\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
    RawClient client = server.client();
    EXPECT_EQ(client.ask(head + start).status, 408);
    EXPECT_EQ(client.rest(), "");
  }
  EXPECT_TRUE(server.seen().empty());
}

// Each byte comes soon after the one before, but they are too few.
TEST(Limits, ABodyByDropsIsTimedOut) {
  EchoServer server({.body_timeout = 100ms});
  RawClient client = server.client();
  client.send("POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 1000000\r\n\r\n");
  std::atomic<bool> ended = false;
  std::thread drops([&] {
    while (!ended) {
      if (!client.send("b")) return;
      std::this_thread::sleep_for(10ms);
    }
  });
  EXPECT_EQ(client.reply().status, 408);
  ended = true;
  drops.join();
}

TEST(Limits, AnIdleConnectionIsClosed) {
  EchoServer server({.idle_timeout = 30ms});
  RawClient client = server.client();
  EXPECT_EQ(client.rest(), "");
  std::optional<RawClient> other;
  while (server.held() == 0) {  // it may be closed before it sends
    other.emplace(server.client());
    other->send(get("/held"));
    wait_until([&] { return server.held() == 1 || other->ended(); });
  }
  std::this_thread::sleep_for(100ms);
  server.answer_held(0);  // one that waits for its answer is not idle
  EXPECT_EQ(other->reply().body, "GET /held ");
  EXPECT_EQ(other->rest(), "");
}

TEST(Limits, AClientThatDoesNotReadIsClosed) {
  HttpServer server(patient({.write_timeout = 30ms}),
                    [](const HttpRequest&, Answerer answer) { answer({.body = std::string(50'000'000, 'b')}); });
  RawClient client(server.address());
  client.send(get("/x"));
  wait_until([&] { return server.counters().timeouts == 1 && server.counters().open == 0; });
}

// Replies that the client does not read are not collected without bound.
TEST(Limits, RequestsAreNotTakenWhileRepliesCannotBeSent) {
  const std::string body(100000, 'b');
  std::atomic<int> taken = 0;
  HttpServer server(patient(), [&](const HttpRequest&, Answerer answer) {
    ++taken;
    answer({.body = body});
  });
  RawClient client(server.address());
  constexpr int all = 1000;  // 100 MB
  std::thread sender([&] {
    for (int i = 0; i < all; ++i) client.send(get("/x"));
  });
  wait_until([&] { return taken > 0; });
  std::this_thread::sleep_for(50ms);
  EXPECT_LT(taken, all);  // what the sockets hold is far less
  for (int i = 0; i < all; ++i) ASSERT_EQ(client.reply().body.size(), body.size());
  sender.join();
}

// Nor those that are ready behind one that is not.
TEST(Limits, RequestsAreNotTakenWhileRepliesWaitForTheOneBefore) {
  const std::string body(100000, 'b');
  std::atomic<int> taken = 0;
  std::optional<Answerer> first;
  HttpServer server(patient(), [&](const HttpRequest&, Answerer answer) {
    if (taken++ == 0) {
      first.emplace(std::move(answer));
    } else {
      answer({.body = body});
    }
  });
  RawClient client(server.address());
  std::string all;
  for (int i = 0; i < 20; ++i) all += get("/x");
  client.send(all);
  wait_until([&] { return taken == 2; });
  wait_until([&] { return server.counters().buffered >= body.size(); });
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(taken, 2);  // the second reply is more than may wait
  (*first)({.body = "first"});
  EXPECT_EQ(client.reply().body, "first");
  for (int i = 1; i < 20; ++i) ASSERT_EQ(client.reply().body.size(), body.size());
  wait_until([&] { return server.counters().buffered < body.size(); });
}

TEST(Limits, OnlySoManyRequestsOfAConnectionWait) {
  EchoServer server({.most_pipelined = 4});
  RawClient client = server.client();
  std::string all;
  for (int i = 0; i < 20; ++i) all += get("/held/" + std::to_string(i));
  client.send(all);
  for (std::size_t i = 0; i < 20; ++i) {
    const std::size_t expected = std::min<std::size_t>(4, 20 - i);
    wait_until([&] { return server.held() == expected; });
    EXPECT_EQ(server.seen().size(), std::min<std::size_t>(20, i + 4));
    server.answer_held(0);
    EXPECT_EQ(client.reply().body, "GET /held/" + std::to_string(i) + " ");
  }
}

TEST(Limits, OnlySoManyRequestsOfAllConnectionsWait) {
  EchoServer server({.threads = 2, .most_waiting = 2});
  RawClient first = server.client(), second = server.client(), third = server.client();
  first.send(get("/held/1"));
  wait_until([&] { return server.server.counters().waiting == 1; });
  second.send(get("/held/2"));
  wait_until([&] { return server.server.counters().waiting == 2; });
  const Reply refused = third.ask(get("/x"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("\r\nRetry-After: 1\r\n"));
  first.close();  // its request still waits
  EXPECT_EQ(third.ask(get("/x")).status, 503);
  server.answer_held(0);
  wait_until([&] { return server.server.counters().waiting == 1; });
  EXPECT_EQ(third.ask(get("/x")).status, 200);
  server.answer_held(0);
  EXPECT_EQ(second.reply().body, "GET /held/2 ");
}

// Of three connections the last is refused, until another one is closed.
void expect_two_connections(const HttpConfig& config, int status) {
  EchoServer server(config);
  RawClient first = server.client(), second = server.client();
  EXPECT_EQ(first.ask(get("/x")).status, 200);
  EXPECT_EQ(second.ask(get("/x")).status, 200);
  RawClient third = server.client();
  const Reply refused = third.reply();
  EXPECT_EQ(refused.status, status);
  EXPECT_TRUE(refused.has("\r\nRetry-After: 1\r\n"));
  EXPECT_EQ(third.rest(), "");
  third.close();
  first.close();
  wait_until([&] { return server.server.counters().open == 1; });
  EXPECT_EQ(server.client().ask(get("/x")).status, 200);
  EXPECT_EQ(server.server.counters().refused, 1U);
}

TEST(Limits, OnlySoManyConnections) { expect_two_connections({.most_connections = 2}, 503); }

TEST(Limits, OnlySoManyConnectionsOfAnAddress) { expect_two_connections({.threads = 2, .most_per_address = 2}, 429); }

// Many above the limit are closed without a word, and count no more once they are closed.
TEST(Limits, AnAddressThatGoesOnIsJustClosed) {
  EchoServer server({.most_per_address = 1});
  RawClient first = server.client();
  EXPECT_EQ(first.ask(get("/x")).status, 200);
  std::vector<RawClient> others;
  for (int i = 0; i < 30; ++i) others.push_back(server.client());
  wait_until([&] { return server.server.counters().refused == 30; });
  EXPECT_LT(server.server.counters().open, 30U);
  others.clear();
  wait_until([&] { return server.server.counters().open == 1; });
  EXPECT_EQ(first.ask(get("/x")).status, 200);
}

TEST(Limits, ANetworkOfIpv6CountsAsOneAddress) {
  EXPECT_EQ(counted_address("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(counted_address("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(counted_address("2001:db8:1:2::9"), "2001:db8:1:2::");
  EXPECT_EQ(counted_address("::ffff:192.0.2.7"), "::ffff:192.0.2.7");  // is an IPv4 address
  EXPECT_EQ(counted_address("unix"), "");
}

TEST(Limits, BodiesThatComeTakeOnlySoMuchMemory) {
  constexpr std::size_t most = 2 << 20, size = 900'000;
  EchoServer server({.most_buffered = most});
  const std::string head = "POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
  std::vector<RawClient> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(server.client());
    clients.back().send(head + std::string(size - 1, 'b'));
  }
  std::size_t refused = 0, answered = 0;
  for (RawClient& client : clients) {
    client.send("b");
    const Reply reply = client.reply();
    answered += reply.status == 200 ? 1 : 0;
    refused += reply.status == 503 && reply.has("\r\nRetry-After: 1\r\n") ? 1 : 0;
  }
  EXPECT_EQ(answered + refused, clients.size());
  EXPECT_GE(refused, 2U);  // each of the others keeps at least its bytes
  EXPECT_GE(answered, 1U);
  clients.clear();
  wait_until([&] { return server.server.counters().open == 0; });
  wait_until([&] { return server.server.counters().buffered == 0; });
}

TEST(Limits, BodiesOfRequestsThatWaitTakeOnlySoMuchMemory) {
  EchoServer server({.most_buffered = 40'000});
  const std::string body(30'000, 'b');
  RawClient first = server.client(), second = server.client(), third = server.client();
  first.send(post("/held/1", body));
  second.send(post("/held/2", body));
  wait_until([&] { return server.server.counters().waiting == 2; });
  EXPECT_EQ(third.ask(get("/x")).status, 503);
  first.close();  // its request still waits
  EXPECT_EQ(third.ask(get("/x")).status, 503);
  server.answer_held(0);
  wait_until([&] { return server.server.counters().waiting == 1; });
  EXPECT_EQ(third.ask(get("/x")).status, 200);
  server.answer_held(0);
  EXPECT_EQ(second.reply().status, 200);
  third.close();
  second.close();
  wait_until([&] { return server.server.counters().open == 0; });
  wait_until([&] { return server.server.counters().buffered == 0; });
}

TEST(Drain, LetsAnswersFinish) {
  for (const int threads : {1, 2}) {
    EchoServer server({.threads = threads});
    const std::string address = server.server.address();
    RawClient waiting = server.client(), idle = server.client();
    EXPECT_EQ(idle.ask(get("/x")).status, 200);
    waiting.send(get("/held"));
    wait_until([&] { return server.held() == 1; });
    std::thread drain([&] { server.server.drain(60s); });
    wait_until([&] {
      const int s = connect_to(address);
      if (s >= 0) ::close(s);
      return s < 0;
    });
    EXPECT_EQ(idle.rest(), "");
    server.answer_held(0);
    const Reply reply = waiting.reply();
    EXPECT_EQ(reply.body, "GET /held ");
    EXPECT_TRUE(reply.has("\r\nConnection: close\r\n"));
    EXPECT_EQ(waiting.rest(), "");
    waiting.close();
    drain.join();
    EXPECT_EQ(server.server.counters().open, 0U);
  }
}

TEST(Drain, EndsWhenTheTimeIsOver) {
  EchoServer server;
  RawClient client = server.client();
  client.send(get("/held"));
  wait_until([&] { return server.held() == 1; });
  server.server.drain(20ms);
  EXPECT_EQ(server.server.counters().open, 1U);
}

}  // namespace
}  // namespace pits::test
