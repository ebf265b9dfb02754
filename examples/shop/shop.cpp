// A shop that learns which of its banners to show to whom. Visitors are simulated: each comes from a country, at an
// hour of the day, and a click comes some visitors later, or never. Half way a new banner arrives and the shop is
// restarted, as after a crash: it goes on where its log ends.
#include <pits/log/live_bandit.h>
#include <pits/log/sqlite_store.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <memory>
#include <random>
#include <string>

namespace {

const char* const schema = R"({"features": [
  {"name": "country", "kind": "category", "levels": ["de", "fr", "it"], "unknown": "level"},
  {"name": "age", "kind": "number", "missing": "level"},
  {"name": "now", "kind": "time_of_day", "zone": "Europe/Berlin"}]})";

std::unique_ptr<pits::LiveBandit> open_shop(const std::filesystem::path& directory) {
  auto store = std::make_unique<pits::SqliteStore>(directory);
  if (store->last() == 0) {
    pits::LiveBandit::create(*store, {.agent = "pi-ts:fast",
                                      .actions = {"tea", "milk", "cake"},
                                      .seed = 7,
                                      // first: every visitor gets a reward, also one of 0, so none waits for its window;
                                      // in line: so that every run is the same; a service leaves it out
                                      .config = {.floor = 0.05,
                                                 .rewards = pits::RewardRule::first,
                                                 .training = pits::TrainingPlace::in_line},
                                      .schema = schema});
  }
  return std::make_unique<pits::LiveBandit>(std::move(store));
}

struct Visitor {
  std::string country;
  int age;
  long now;

  std::string json() const {
    return "{\"country\": \"" + country + "\", \"age\": " + (age == 0 ? "null" : std::to_string(age)) +
           ", \"now\": " + std::to_string(now) + "}";
  }
  // Wine pleases most; the others please one country each.
  double click_rate(const std::string& banner) const {
    if (banner == "wine") return 0.6;
    const bool liked = (country == "de" && banner == "tea") || (country == "fr" && banner == "milk") ||
                       (country == "it" && banner == "cake");
    return liked ? 0.5 : 0.1;
  }
};

}  // namespace

int main() {
  const auto directory = std::filesystem::temp_directory_path() / "shop-example";
  std::filesystem::remove_all(directory);
  auto shop = open_shop(directory);
  std::mt19937 world(1);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::deque<pits::Reward> on_the_way;
  int clicks = 0;
  for (int t = 0; t < 3000; ++t) {
    if (t == 1500) {
      shop->add_actions({"wine"});
      shop.reset();
      shop = open_shop(directory);
    }
    const char* const countries[] = {"de", "fr", "it"};
    const Visitor visitor{countries[world() % 3], static_cast<int>(world() % 80), 1'800'000'000 + 60L * t};
    const pits::Choice choice = shop->decide(visitor.json());
    const bool clicked = uniform(world) < visitor.click_rate(shop->name(choice.action));
    if (t >= 2500) clicks += clicked ? 1 : 0;
    on_the_way.push_back({choice.id, clicked ? 1.0F : 0.0F, "click"});
    if (on_the_way.size() > 20) {
      shop->reward(on_the_way.front());
      shop->catch_up();  // a service does not wait; here it makes every run the same
      on_the_way.pop_front();
    }
  }
  shop.reset();
  std::filesystem::remove_all(directory);
  std::printf("%d of the last 500 visitors clicked; chance would have had about 163\n", clicks);
  return clicks > 220 ? 0 : 1;
}
