// What the load generator sends: the requests of one thread, one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace pits::bench_serve {

enum class Kind { other, decide, reward };
inline constexpr std::size_t kinds = 3;
inline constexpr const char* kind_names[kinds] = {"other", "decide", "reward"};

struct TrafficConfig {
  std::string host = "127.0.0.1";   // of the Host header
  std::string requests = "decide";  // decide, decide+reward, rewards, or fixed
  std::string bandit = "load";
  std::string decide_path{}, reward_path{};         // empty: those of pits serve
  std::string method = "POST", path = "/", body{};  // of fixed
  std::string key{};                                // Authorization: Bearer
  std::size_t numbers = 20;                         // of a context
  std::size_t batch = 1;                            // rewards, or decisions, per request
  bool tokens = true;                               // rewards bring the token of their decision
};

struct Decision {
  std::uint64_t id;
  std::string token;
};

// A request that waits for its reply.
struct Request {
  Kind kind;
  std::uint32_t context;  // of a decide: which of the prepared ones
};

class Traffic {
 public:
  Traffic(const TrafficConfig& config, std::uint64_t seed);

  // Appends the next request; none: nothing is left to send.
  std::optional<Request> next(std::string& out);
  // Appends the request that the reply to another one asks for: the reward of a decision.
  std::optional<Request> follow_up(const Request& answered, std::string_view reply, std::string& out);
  // Decisions whose rewards next() will send (requests = rewards), batch by batch.
  void keep(std::vector<Decision> decisions) { decisions_ = std::move(decisions); }
  // A request for n decisions.
  std::string decide_many(std::size_t n);
  // The decisions of a reply to a decide.
  static std::vector<Decision> decisions_in(std::string_view reply);

 private:
  struct Context {
    std::vector<float> x;
    std::string request;  // whole
  };
  void add_request(std::string& out, std::string_view path, std::string_view body) const;
  void add_reward(std::string& body, const Decision& decision, float value);
  std::string context_text(const std::vector<float>& x) const;
  float reward_of(const std::vector<float>& x, std::size_t action);

  TrafficConfig config_;
  std::mt19937_64 random_;
  std::normal_distribution<float> normal_;
  std::vector<Context> contexts_;
  std::vector<Decision> decisions_;
  std::size_t sent_ = 0, rewarded_ = 0;
};

}  // namespace pits::bench_serve
