// A shop that learns which of its banners to show to whom. Visitors are simulated: each has a taste, a banner has a
// style, and a click comes some visitors later. Half way a new banner arrives, and the shop restarts from its file.
#include <pits/bandit/bandit.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <random>
#include <vector>

namespace {

struct Click {
  pits::DecisionId id;
  float clicked;  // 0 or 1
};

// Banner 3 pleases everybody; the others please those whose taste is their own.
double click_rate(const std::vector<float>& visitor, pits::Action banner) {
  if (banner == 3) return 0.6;
  return visitor[banner] > 0.5F ? 0.5 : 0.1;
}

}  // namespace

int main() {
  const auto file = std::filesystem::temp_directory_path() / "shop.pits";
  pits::Bandit shop("pi-ts,particles=10,hidden=16,noise_sd=0.4", {.context_size = 3, .actions = 3, .seed = 7},
                    {.floor = 0.05});
  std::mt19937 world(1);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  std::deque<Click> on_the_way;
  double clicks = 0.0;
  for (int t = 0; t < 3000; ++t) {
    if (t == 1500) {
      shop.add_actions();
      shop.save(file);
      shop = pits::Bandit::load(file);
    }
    const std::vector<float> visitor = {uniform(world), uniform(world), uniform(world)};
    const pits::Choice choice = shop.decide(visitor);
    const bool clicked = uniform(world) < click_rate(visitor, choice.action);
    on_the_way.push_back({choice.id, clicked ? 1.0F : 0.0F});
    if (t >= 2500) clicks += clicked ? 1.0 : 0.0;
    if (on_the_way.size() > 20) {
      shop.learn(on_the_way.front().id, on_the_way.front().clicked);
      on_the_way.pop_front();
    }
  }
  std::filesystem::remove(file);
  std::printf("%.0f of the last 500 visitors clicked; chance would have had about 188\n", clicks);
  return clicks > 250 ? 0 : 1;
}
