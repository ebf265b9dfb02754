#include "pits/core/random.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace pits {
namespace {

using Words = std::array<std::uint32_t, 4>;

Address address_of(const Words& counter, std::uint32_t key_low, std::uint32_t key_high) {
  return {.seed = static_cast<std::uint64_t>(key_high) << 32 | key_low,
          .realization = counter[2],
          .purpose = static_cast<Purpose>(counter[3]),
          .step = counter[1]};
}

Words first_words(const Address& address) {
  Stream stream(address);
  return {stream.word(), stream.word(), stream.word(), stream.word()};
}

// philox4x32 with 10 rounds in tests/kat_vectors of Random123 (Salmon et al. 2011).
TEST(Philox, GivesTheAuthorsKnownAnswers) {
  struct KnownAnswer {
    Words counter;
    std::array<std::uint32_t, 2> key;
    Words words;
  };
  const std::vector<KnownAnswer> answers = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const KnownAnswer& known : answers) {
    EXPECT_EQ(philox_block(address_of(known.counter, known.key[0], known.key[1]), known.counter[0]), known.words);
  }
}

TEST(Stream, StartsAtBlockZeroOfItsAddress) {
  EXPECT_EQ(first_words(address_of({0, 0, 0, 0}, 0, 0)), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Stream, RunsThroughTheBlocksInOrder) {
  const Address address{.seed = 11, .realization = 2, .purpose = Purpose::minibatch, .step = 3};
  Stream stream(address);
  for (std::uint32_t block = 0; block < 5; ++block) {
    for (const std::uint32_t word : philox_block(address, block)) EXPECT_EQ(stream.word(), word);
  }
}

const Address base{.seed = 7, .realization = 5, .purpose = Purpose::decision, .step = 9};

std::vector<Address> addresses_with_one_component_changed() {
  std::vector<Address> changed(8, base);
  changed[0].seed = 8;
  changed[1].seed = 7 | std::uint64_t{1} << 32;  // only the key's high word
  changed[2].realization = 6;
  changed[3].realization = 5 | std::uint32_t{1} << 31;
  changed[4].purpose = Purpose::minibatch;
  changed[5].step = 10;
  changed[6].step = 9 | std::uint32_t{1} << 31;
  std::swap(changed[7].realization, changed[7].step);
  return changed;
}

TEST(Stream, ChangesWithEveryComponentOfTheAddress) {
  for (const Address& other : addresses_with_one_component_changed()) {
    EXPECT_NE(first_words(other), first_words(base));
  }
}

// The correlation of n independent pairs has standard error 1/√n; uniforms have variance 1/12.
TEST(Stream, NeighbouringAddressesAreUncorrelated) {
  constexpr int n = 40000;
  for (const Address& other : addresses_with_one_component_changed()) {
    Stream a(base);
    Stream b(other);
    double product = 0.0;
    for (int i = 0; i < n; ++i) product += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    EXPECT_LT(std::abs(12.0 * product / n), 4.0 / std::sqrt(n));
  }
}

// As agents use them: one draw at each of many consecutive steps.
TEST(Stream, FirstDrawsOfConsecutiveStepsAreUncorrelated) {
  constexpr int n = 40000;
  double product = 0.0;
  double previous = Stream(base).uniform();
  for (std::uint32_t i = 1; i <= n; ++i) {
    Address address = base;
    address.step += i;
    const double next = Stream(address).uniform();
    product += (previous - 0.5) * (next - 0.5);
    previous = next;
  }
  EXPECT_LT(std::abs(12.0 * product / n), 4.0 / std::sqrt(n));
}

void draw_something(Stream& stream, int kind) {
  switch (kind) {
    case 0: stream.word(); break;
    case 1: stream.uniform(); break;
    case 2: stream.normal(); break;
    case 3: stream.gamma(0.7); break;
    default: stream.index(10);
  }
}

RC_GTEST_PROP(Stream, DrawsDoNotDependOnWhatWasDrawnElsewhereBefore,
              (std::uint64_t seed, std::uint32_t realization, std::uint32_t step)) {
  const Address address{.seed = seed, .realization = realization, .purpose = Purpose::decision, .step = step};
  std::vector<double> alone;
  Stream undisturbed(address);
  for (int i = 0; i < 5; ++i) alone.push_back(undisturbed.normal());

  const auto kinds = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5));
  Stream other({.seed = seed, .realization = realization, .purpose = Purpose::diffusion, .step = step});
  for (const int kind : kinds) draw_something(other, kind);
  Stream again(address);
  for (int i = 0; i < 5; ++i) {
    RC_ASSERT(again.normal() == alone[static_cast<std::size_t>(i)]);
    draw_something(other, 2);
  }
}

template <class Draw>
std::uint32_t word_after(Draw draw) {
  Stream stream(base);
  draw(stream);
  return stream.word();
}

TEST(Stream, TakesTheDocumentedNumberOfWords) {
  const Words words = philox_block(base, 0);
  EXPECT_EQ(word_after([](Stream& s) { s.word(); }), words[1]);
  EXPECT_EQ(word_after([](Stream& s) { s.uniform_float(); }), words[1]);
  EXPECT_EQ(word_after([](Stream& s) { s.index(3); }), words[1]);
  EXPECT_EQ(word_after([](Stream& s) { s.uniform(); }), words[2]);
  EXPECT_EQ(word_after([](Stream& s) { s.normal(), s.normal(); }), philox_block(base, 1)[0]);
  EXPECT_EQ(word_after([](Stream& s) { s.normal(), s.normal(), s.normal(); }), philox_block(base, 2)[0]);
}

// Philox is a bijection: these counters, found by running it backwards under key 0, give the extreme words.
const Address lowest = address_of({0, 0x22f9a7d8, 0x9a74b3e1, 0x893f3c70}, 0, 0);
const Address highest = address_of({0, 0x89d99663, 0xbd9a2893, 0x12c00fc2}, 0, 0);

TEST(Stream, ExtremeWordsStayInsideTheOpenUnitInterval) {
  ASSERT_EQ(philox_block(lowest, 0)[0], 0U);
  ASSERT_EQ(philox_block(lowest, 0)[1], 0U);
  ASSERT_EQ(philox_block(highest, 0)[0], 0xffffffffU);
  ASSERT_EQ(philox_block(highest, 0)[1], 0xffffffffU);

  EXPECT_EQ(Stream(lowest).uniform(), 0x1p-53);
  EXPECT_EQ(Stream(highest).uniform(), 1.0 - 0x1p-53);
  EXPECT_EQ(Stream(lowest).uniform_float(), 0x1p-24F);
  EXPECT_EQ(Stream(highest).uniform_float(), 1.0F - 0x1p-24F);
}

TEST(Stream, ExtremeWordsStayInsideTheIndexRange) {
  for (const std::uint32_t n : {1U, 2U, 3U, 1000U, 0xffffffffU}) {
    EXPECT_EQ(Stream(lowest).index(n), 0U);
    EXPECT_EQ(Stream(highest).index(n), n - 1);
  }
}

// Rounding can leave a rest after the last weight is taken off; it must not fall on the zero behind.
TEST(Stream, TheHighestWordsDrawTheLastPositiveWeight) {
  for (std::size_t n = 1; n <= 200; ++n) {
    std::vector<double> weights(n + 1);
    for (std::size_t k = 0; k < n; ++k) weights[k] = 1.0 / static_cast<double>(k + 1);
    EXPECT_EQ(Stream(highest).categorical(weights), n - 1);
  }
}

TEST(Stream, ExtremeWordsGiveFiniteNormals) {
  for (const Address& address : {lowest, highest}) {
    Stream stream(address);
    EXPECT_TRUE(std::isfinite(stream.normal()));
    EXPECT_TRUE(std::isfinite(stream.normal()));
  }
}

}  // namespace
}  // namespace pits
