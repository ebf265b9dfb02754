// Clients that send, cut, reset and leave at random, and answers from other threads: nothing is lost or left behind.
#include <condition_variable>
#include <deque>
#include <random>

#include "serve/raw_client.h"

namespace pits::test {
namespace {

// Answers by threads of its own, in any order.
class Workers {
 public:
  explicit Workers(int threads) {
    for (int t = 0; t < threads; ++t) threads_.emplace_back([this] { work(); });
  }
  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void take(std::string text, Answerer answerer) {
    {
      const std::lock_guard lock(mutex_);
      queue_.emplace_back(std::move(text), std::move(answerer));
    }
    changed_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ended_ || !queue_.empty(); });
      if (queue_.empty()) return;
      auto [text, answerer] = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      if (!text.ends_with("dropped")) answerer({.body = std::move(text)});
      lock.lock();
    }
  }

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<std::pair<std::string, Answerer>> queue_{};
  bool ended_ = false;
  std::vector<std::thread> threads_{};
};

// Some requests at once; then all replies in order, or an end at any byte.
void visit(const std::string& address, std::mt19937& random) {
  RawClient client(address);
  const auto below = [&](std::size_t n) { return random() % n; };
  std::string all;
  std::vector<std::string> expected;
  for (std::size_t n = 1 + below(20); n > 0; --n) {
    const bool dropped = below(10) == 0;
    const std::string body = std::string(below(3000), 'b') + (dropped ? "dropped" : "");
    const std::string path = below(2) == 0 ? "/later" : "/now";
    all += post(path, body);
    expected.push_back(dropped && path == "/later" ? "{\"error\":\"the request could not be answered\"}\n"
                                                   : path + body);
  }
  const std::size_t end = below(3);
  if (end != 0) all.resize(below(all.size()));
  for (std::string_view rest = all; !rest.empty();) {
    const std::size_t piece = std::min(rest.size(), 1 + below(4000));
    if (!client.send(rest.substr(0, piece))) return;
    rest.remove_prefix(piece);
  }
  if (end == 1) return;  // closing with unread replies is a reset
  if (end == 2) {
    client.end_output();
    client.rest();
    return;
  }
  for (const std::string& body : expected) EXPECT_EQ(client.reply().body, body);
}

TEST(Chaos, NothingIsLostOrLeftBehind) {
  for (const int threads : {1, 2}) {
    Workers workers(2);
    HttpServer server(patient({.threads = threads, .most_pipelined = 5}),
                      [&](const HttpRequest& request, Answerer answerer) {
                        std::string text = std::string(request.path) + std::string(request.body);
                        if (request.path == "/later") return workers.take(std::move(text), std::move(answerer));
                        answerer({.body = std::move(text)});
                      });
    std::vector<std::thread> clients;
    for (unsigned c = 0; c < 4; ++c) {
      clients.emplace_back([&, c] {
        std::mt19937 random(c);
        for (int i = 0; i < 50; ++i) visit(server.address(), random);
      });
    }
    for (std::thread& client : clients) client.join();
    wait_until([&] { return server.counters().waiting == 0 && server.counters().open == 0; });
    EXPECT_EQ(server.counters().accepted, 200U);
    EXPECT_EQ(server.counters().malformed + server.counters().timeouts, 0U);
  }
}

}  // namespace
}  // namespace pits::test
