// Saved bandits whose contents were changed and sealed again, so that the checksum is right: each is refused with an
// Error, or gives a bandit that decides and learns. Under sanitizers it runs on request:
// PITS_FORGE=1 build/asan/test_bandit --gtest_filter=*Forged*
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <limits>

#include "bandit/exercise.h"
#include "bandit/small_bandit.h"

namespace pits::test {
namespace {

constexpr std::uint32_t forgeries = 250;

// A size that is taken as it stands must not fill the machine's memory. The sanitizers' shadow needs all addresses.
class MemoryLimit {
 public:
  MemoryLimit() {
#ifndef PITS_SANITIZED
    getrlimit(RLIMIT_AS, &before_);
    const rlimit limited{.rlim_cur = rlim_t{4} << 30, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_AS, &limited);
#endif
  }
  ~MemoryLimit() {
#ifndef PITS_SANITIZED
    setrlimit(RLIMIT_AS, &before_);
#endif
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

template <class T>
void overwrite(std::string& bytes, std::size_t at, T value) {
  if (at + sizeof value <= bytes.size()) std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Numbers that sizes, indices, counters, probabilities and coefficients are not.
template <class T>
T odd_number(std::uint32_t which) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const T values[] = {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), Limits::max(), T{0}, T{-1}};
    return values[which % 6];
  } else {
    const T values[] = {0, 1, Limits::max(), Limits::max() / 2 + 1, Limits::max() / 2, T{1} << (Limits::digits / 2)};
    return values[which % 6];
  }
}

// Under sanitizers memory has no limit, and an allocation that fails ends the program: sizes of the setup and fields of
// the configs, which are in front of what was learned, stay as they are.
std::size_t first_forged(const std::string& bytes) {
#ifdef PITS_SANITIZED
  return bytes.find("default_reward");  // the last field
#else
  static_cast<void>(bytes);
  return 0;
#endif
}

std::string forged(std::string bytes, Stream& random) {
  const std::size_t first = first_forged(bytes);
  const auto below = [&](std::size_t n) { return random.index(static_cast<std::uint32_t>(n)); };
  for (std::uint32_t changes = 1 + below(3); changes > 0; --changes) {
    const std::size_t at = first + below(bytes.size() - first);
    switch (below(7)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); break;
      case 1: bytes[at] = static_cast<char>(below(256)); break;
      case 2: overwrite(bytes, at, odd_number<std::uint64_t>(below(6))); break;
      case 3: overwrite(bytes, at, odd_number<std::uint32_t>(below(6))); break;
      case 4: overwrite(bytes, at, odd_number<double>(below(6))); break;
      case 5: overwrite(bytes, at, odd_number<float>(below(6))); break;
      default: bytes[at] = static_cast<char>(bytes[at] + (below(2) == 0 ? 1 : -1)); break;
    }
  }
  return bytes;
}

class ForgedFile : public testing::TestWithParam<std::string> {};

TEST_P(ForgedFile, IsRefusedOrDecidesAndLearns) {
#ifdef PITS_SANITIZED
  if (std::getenv("PITS_FORGE") == nullptr) GTEST_SKIP() << "minutes under sanitizers: PITS_FORGE=1 runs it";
#endif
  Bandit bandit(small_spec(GetParam()), small_setup());
  play(bandit, 0, 16);
  const std::string bytes = unsealed("bandit", bandit.saved(), "it");
  const MemoryLimit limit;
  for (std::uint32_t i = 0; i < forgeries; ++i) {
    Stream random({.seed = 16, .purpose = Purpose::target_sample, .step = i});
    const std::string file = sealed("bandit", forged(bytes, random));
    SCOPED_TRACE("forgery " + std::to_string(i));
    std::optional<Bandit> loaded;
    try {
      loaded = Bandit::from_saved(file, "it");
    } catch (const Error&) {
      continue;
    } catch (const std::exception& e) {
      ADD_FAILURE() << "from_saved: " << e.what();
      continue;
    }
    EXPECT_NO_THROW(exercise(*loaded));
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ForgedFile, testing::ValuesIn(every_agent()),
                         [](const auto& agent) { return plain_name(agent.param); });
INSTANTIATE_TEST_SUITE_P(Variants, ForgedFile,
                         testing::Values("pi-ts,capacity=9", "pi-ts:exact,discount=0.9", "pi-ts,flow=dgf-sinkhorn",
                                         "pi-ts,noise=learned-per-action", "lin-ts,discount=0.9", "lin-ts,capacity=9",
                                         "bernoulli-ts,capacity=9", "ucb1,discount=0.9", "neural-linear,discount=0.9",
                                         "neural-ucb,design=full", "vi-ts,capacity=9", "logistic-ts,diagonal=true"),
                         [](const auto& agent) { return plain_name(agent.param); });

}  // namespace
}  // namespace pits::test
