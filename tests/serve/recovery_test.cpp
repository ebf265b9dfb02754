// A service whose bandits take long to open, and keys of tokens that cannot be read for a while.
#include <fstream>
#include <nlohmann/json.hpp>

#include "experiment/scratch.h"
#include "log/memory_store.h"
#include "pits/serve/service.h"
#include "serve/raw_client.h"

namespace pits::test {
namespace {

namespace fs = std::filesystem;

// Opening "slow" waits until it is stopped; the others are there at once.
struct SlowSource : BanditSource {
  explicit SlowSource(std::vector<std::string> all) : all_(std::move(all)) {}
  std::vector<std::string> names() override { return all_; }
  std::shared_ptr<ServedBandit> open(const std::string& name, const std::stop_token& stop) override {
    if (name.starts_with("slow")) {
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      throw failed("stopped");
    }
    auto store = std::make_unique<MemoryStore>();
    LiveBandit::create(*store, {.agent = "uniform", .actions = {"tea", "milk"}});
    return std::make_shared<ServedBandit>(name, std::make_shared<LiveBandit>(std::move(store)), false);
  }
  bool create(const std::string&, const LiveSetup&) override { return false; }
  TokenKeys tokens() override { throw failed("none"); }

 private:
  std::vector<std::string> all_;
};

TEST(Recovery, OneBanditDoesNotKeepTheOthersWaiting) {
  SlowSource source({"slow", "a", "b", "z"});
  Bandits bandits(source);
  std::jthread opening([&](const std::stop_token& stop) { bandits.open_all(stop); });
  for (const char* name : {"a", "b", "z"}) {
    wait_until([&] { return bandits.entries().at(name).bandit != nullptr; });
  }
  EXPECT_EQ(bandits.entries().at("slow").bandit, nullptr);
  opening.request_stop();
  opening.join();
  EXPECT_EQ(bandits.entries().at("slow").problem, "stopped");
}

// The log is made, and opening it fails as long as `full`.
struct FullSource : SlowSource {
  FullSource() : SlowSource({}) {}
  std::shared_ptr<ServedBandit> open(const std::string& name, const std::stop_token& stop) override {
    if (full) throw failed("database or disk is full");
    return SlowSource::open(name, stop);
  }
  bool create(const std::string&, const LiveSetup&) override {
    if (++made > 1) throw bad_input("the store holds a log already");
    return true;
  }
  bool full = true;
  int made = 0;
};

// 503 for as long as it cannot be opened, from PUT and from who decides; then it is there.
TEST(Recovery, ABanditThatWasMadeButNotOpenedIsOpenedLater) {
  FullSource source;
  Bandits bandits(source);
  const nlohmann::json shop{{"agent", "uniform"}, {"actions", {"tea", "milk"}}};
  const auto status = [](const auto& call) {
    try {
      call();
    } catch (const StatusError& e) {
      EXPECT_NE(std::string(e.what()).find("disk is full"), std::string::npos) << e.what();
      return e.status();
    }
    return 200;
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(status([&] { bandits.put("shop", shop); }), 503);
    EXPECT_EQ(status([&] { bandits.find("shop"); }), 503);
    bandits.open_all();
  }
  source.full = false;
  bandits.open_all();
  EXPECT_EQ(bandits.find("shop")->name(), "shop");
  EXPECT_FALSE(bandits.put("shop", shop));
  EXPECT_EQ(source.made, 1);
}

// A log that is there, of which the service has not heard.
TEST(Recovery, APutOfALogThatIsThereComparesThem) {
  const Scratch scratch;
  const auto source = directory_source(scratch / "store");
  Bandits bandits(*source);
  const nlohmann::json shop{{"agent", "uniform"}, {"actions", {"tea", "milk"}}};
  EXPECT_TRUE(source->create("shop", live_setup(shop)));
  EXPECT_FALSE(bandits.put("shop", shop));
  EXPECT_TRUE(source->create("news", live_setup(shop)));
  try {
    bandits.put("news", {{"agent", "uniform"}, {"actions", {"tea", "wine"}}});
    ADD_FAILURE() << "other actions";
  } catch (const StatusError& e) {
    EXPECT_EQ(e.status(), 409);
  }
}

// What was wrong with a file is over once the file is right: nobody has to tell the service.
TEST(Recovery, KeysOfTokensAreReadAgainSoonAfterTheyCouldNotBe) {
  const Scratch scratch;
  Service service({.store = scratch / "store", .token_turns = 1});
  wait_until([&] { return service.recovered(); });
  const fs::path file = scratch / "store" / "token-keys";
  EXPECT_TRUE(service.problems().empty());
  fs::permissions(file, fs::perms(0644));
  wait_until([&] { return !service.problems().empty(); });
  EXPECT_NE(service.problems().front().find("chmod 600"), std::string::npos);
  fs::permissions(file, fs::perms(0600));
  wait_until([&] { return service.problems().empty(); });
}

// The callers' keys change when somebody says so; until then a file that is being edited is nobody's problem.
TEST(Recovery, KeysOfCallersAreNotReadByTheClock) {
  const Scratch scratch;
  const fs::path keys = scratch / "keys";
  std::ofstream(keys) << new_key("web", {Scope::decide}, 0.0).line;
  Service service({.store = scratch / "store", .keys = keys, .token_turns = 1});
  wait_until([&] { return service.recovered(); });
  std::ofstream(keys) << "no key";
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // two looks at the tokens' keys
  EXPECT_TRUE(service.problems().empty());
  EXPECT_ANY_THROW(service.reload());
  EXPECT_TRUE(service.problems().empty());
}

}  // namespace
}  // namespace pits::test
