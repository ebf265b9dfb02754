// The decision service: HTTP requests in, replies out. handle() waits for no disk: what does, or takes long, runs in
// the background, and rewards are answered by the thread that made them durable.
#pragma once

#include <set>

#include "pits/serve/background.h"
#include "pits/serve/bandits.h"
#include "pits/serve/reply.h"
#include "pits/serve/requests.h"
#include "pits/serve/routes.h"
#include "pits/serve/token.h"

namespace pits {

struct ServiceConfig {
  std::filesystem::path store{};
  std::optional<FleetConfig> fleet{};                // a database instead of the store
  double oldest_model = 60.0;                        // seconds; a bandit of a fleet with an older one is not ready
  bool durable_decisions = false;                    // written before they are answered; else they travel with a token
  std::filesystem::path keys{};                      // empty: everybody may do everything
  std::vector<std::string> pages{};                  // origins whose scripts may call: "https://shop.example"
  std::function<void(const std::string&)> report{};  // of problems that come and go, a line each
  int threads = 1;                                   // that decide large batches
  int token_turns = 3600;  // seconds between two looks whether the keys of tokens are to be rotated
};

class Service {
 public:
  explicit Service(const ServiceConfig& config);
  Service(const ServiceConfig& config, std::unique_ptr<BanditSource> source);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void handle(const HttpRequest& request, Answerer answerer);
  // Answers what this thread has put off (HttpRequest::may_wait). False: nothing.
  bool end_turn();
  // Whose counters the metrics show.
  void watch(const HttpServer& server) { http_ = &server; }
  void begin_drain() { draining_ = true; }
  // Before the server that it watches is destroyed.
  void stop_watching();
  // Bandits that are being recovered are given up. The next start goes on from there.
  void stop_recovery() { recovery_.request_stop(); }
  // Reads the keys of callers and of tokens again. Throws, and keeps the old ones, where a file is not right.
  void reload();
  // Empty: every bandit decides and every store takes rewards.
  std::vector<std::string> problems() const;
  // What will be lost when the service ends now: a line per bandit whose store does not take what waits.
  std::vector<std::string> unwritten() const;
  bool recovered() const { return recovered_; }

 private:
  struct Exchange {
    const HttpRequest& request;
    std::string_view name;  // of the bandit
    Reply reply;
  };
  struct Credentials {
    ApiKeys callers;
    TokenKeys tokens;
  };
  struct Latencies {  // of all requests so far
    LatencyHistogram::Counts counts{};
    RequestMetrics::Time at = RequestMetrics::now();
  };

  // A request for decisions.
  struct Asked {
    std::shared_ptr<ServedBandit> bandit;
    OneOrMany<DecideRequest> all;
    bool rank;
    Reply reply;
  };

  const std::string* allowed_page(const HttpRequest& request) const;
  void dispatch(RouteId route, Exchange& exchange);
  void decide(Exchange& exchange, bool rank);
  void decide(Asked& asked);
  void decide_all(std::span<Asked> all);  // of one bandit
  static std::vector<Asked>& put_off();   // by this thread
  static void make_all(Asked& asked, std::vector<std::vector<Action>>& rankings, std::vector<Decided>& made);
  static void decide_durably(Asked& asked, std::vector<Decided> made, std::vector<std::vector<Action>> rankings);
  void reward(Exchange& exchange);
  void settle(Exchange& exchange, bool cancel);
  void put(Exchange& exchange);
  void actions(Exchange& exchange);
  // compute() by that thread; its result is the reply.
  static void later(Background& thread, Exchange& exchange, std::function<HttpReply()> compute);
  std::shared_ptr<const Restored> record_in(const std::string& token, const ServedBandit& bandit, bool named);
  Reward reward_of(const ServedBandit& bandit, const RewardRequest& request);
  // run(reply) now, or in the background where a decision must be found by its key: a disk may take long to say it.
  void find_then(Exchange& exchange, bool by_key, std::function<void(const std::shared_ptr<Reply>&)> run);

  std::string metrics() const;
  nlohmann::json server() const;
  HttpReply ready(const HttpRequest& request) const;
  LatencyHistogram::Counts all_latencies() const;
  void housekeeping();
  void recover(const std::stop_token& stop);
  void report_problems();
  bool tokens_fail() const {
    const std::scoped_lock lock(mutex_);
    return !token_problem_.empty();
  }
  void remember_latencies();
  void publish_credentials(ApiKeys callers);
  void rotate_tokens();

  static constexpr std::size_t as_many_as_wait = 65'536;  // for an answer, of all requests (HttpConfig::most_waiting)

  ServiceConfig config_;
  RequestMetrics requests_;
  std::unique_ptr<BanditSource> source_;
  LeftRight<Credentials> credentials_;
  std::mutex reloading_;
  std::atomic<Microseconds> reloaded_at_{0};  // steady
  std::atomic<bool> reload_asked_{false};     // a token's key may be new
  Bandits bandits_;
  std::atomic<const HttpServer*> http_{nullptr};
  std::atomic<bool> draining_{false}, recovered_{false};
  RequestMetrics::Time start_ = RequestMetrics::now();

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  bool stopping_ = false;
  Latencies earlier_, later_;  // at the start of the last two intervals
  std::string token_problem_;  // why their keys could not be rotated; empty: none
  // What takes long. None waits for what another one waits for.
  Background changes_{256};              // of bandits and their settings: wait for a disk that writes
  Background statistics_{256};           // wait for a disk that reads, and read much
  Background reports_{256};              // states and metrics: wait for nothing
  Background lookups_{as_many_as_wait};  // of decisions by their keys: wait for a disk that reads
  Background batches_;                   // of many decisions
  std::set<std::string> reported_;       // problems; of the housekeeper
  std::jthread recovery_;                // opens the bandits
  std::thread housekeeper_;              // follows the logs for the statistics
};

// The state of a bandit, and the list of all, as JSON.
nlohmann::json state_of(ServedBandit& bandit);
nlohmann::json list_of(const Bandits::Entries& entries);

}  // namespace pits
