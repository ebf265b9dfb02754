// Tokens: sealed and opened, and refused in every other case.
#include "pits/serve/token.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sodium.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>

#include "experiment/expect_error.h"
#include "experiment/scratch.h"

namespace pits::test {
namespace {

constexpr Microseconds day = 86'400'000'000;
constexpr const char* fixed_keys =
    "pits token keys 1\n"
    "7 1000000 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

Restored record() {
  Restored r;
  r.id = 77;
  r.model = 5;
  r.action = 1;
  r.active = false;
  r.floor = 0.02F;
  r.propensity_error = 0.125F;
  r.propensities = {0.25F, 0.75F};
  r.allowed = {1, 1};
  r.x = {1.0F, -2.5F, 0.0F};
  r.features = {3.0F, 4.0F};
  r.utc = 1'800'000'000'000'123;
  return r;
}

// Every field, by the list that the log uses.
std::string bytes_of_fields(Restored r) {
  Archive archive;
  r.visit([&](std::string_view, auto& field) { archive(field); });
  return archive.bytes();
}

std::string refusal(const TokenKeys& keys, const std::string& token) {
  return message_of([&] { keys.open(token, "shop", 42); });
}

// draft-irtf-cfrg-xchacha-03, A.3.1, by the calls that tokens use.
TEST(Token, CipherIsThatOfTheDraft) {
  const auto bytes = [](const std::string& hex) {
    std::vector<unsigned char> out(hex.size() / 2);
    EXPECT_EQ(sodium_hex2bin(out.data(), out.size(), hex.data(), hex.size(), nullptr, nullptr, nullptr), 0);
    return out;
  };
  const std::string plain =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be "
      "it.";
  const auto associated = bytes("50515253c0c1c2c3c4c5c6c7");
  const auto key = bytes("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
  const auto nonce = bytes("404142434445464748494a4b4c4d4e4f5051525354555657");
  const auto expected = bytes(
      "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216"
      "cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13"
      "b52ec0875924c1c7987947deafd8780acf49");
  std::vector<unsigned char> found(plain.begin(), plain.end());
  found.resize(plain.size() + crypto_aead_xchacha20poly1305_ietf_ABYTES);
  crypto_aead_xchacha20poly1305_ietf_encrypt(found.data(), nullptr, found.data(), plain.size(), associated.data(),
                                             associated.size(), nullptr, nonce.data(), key.data());
  EXPECT_EQ(found, expected);
}

// A token that was made by another implementation from the stated layout (see fixtures/token.py).
TEST(Token, OfTheFirstFormatIsOpened) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  std::string token = bytes_of(std::string(PITS_TEST_DIR) + "/serve/fixtures/token-1.txt");
  while (token.ends_with('\n')) token.pop_back();
  EXPECT_EQ(bytes_of_fields(keys.open(token, "shop", 42)), bytes_of_fields(record()));
}

TEST(Token, BringsTheDecisionBackWithoutItsTexts) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  Restored sent = record();
  sent.key = "visit-9";
  sent.context = "{\"age\":30}";
  const std::string token = keys.seal(sent, "shop", 42);
  EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
            std::string::npos);
  EXPECT_EQ(bytes_of_fields(keys.open(token, "shop", 42)), bytes_of_fields(record()));
  EXPECT_EQ(keys.seal(static_cast<const Decided&>(sent), sent.utc, "shop", 42).size(), token.size());
}

RC_GTEST_PROP(Token, GivesEveryDecisionBack,
              (DecisionId id, Action action, bool active, std::vector<float> x, std::vector<float> features,
               std::vector<float> propensities, std::vector<std::uint8_t> allowed, Microseconds utc, std::string bandit,
               std::uint64_t seed)) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  Restored r;
  r.id = id, r.action = action, r.active = active, r.x = x, r.features = features, r.propensities = propensities;
  r.allowed = allowed, r.utc = utc;
  const std::string token = keys.seal(r, bandit, seed);
  RC_ASSERT(bytes_of_fields(keys.open(token, bandit, seed)) == bytes_of_fields(r));
  RC_ASSERT_THROWS_AS(keys.open(token, bandit + "x", seed), Error);
  RC_ASSERT_THROWS_AS(keys.open(token, bandit, seed + 1), Error);
}

// Sealed by our own calls, opened by libsodium's: around every end of a block, of its vectors and of a base64 group.
TEST(Token, OfEveryLengthIsOpened) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  for (std::size_t n = 0; n < 600; ++n) {
    Restored r = record();
    r.allowed.resize(n);
    for (std::size_t i = 0; i < n; ++i) r.allowed[i] = static_cast<std::uint8_t>(7 * i + n);
    const std::string bandit(n % 40, 'b');
    const std::string token = keys.seal(r, bandit, 42);
    ASSERT_EQ(bytes_of_fields(keys.open(token, bandit, 42)), bytes_of_fields(r)) << n;
  }
}

// Whichever letter becomes whichever other one.
TEST(Token, EveryChangedLetterIsRefused) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  const std::string token = keys.seal(record(), "shop", 42);
  for (std::size_t i = 0; i < token.size(); ++i) {
    for (const char letter : {'A', 'B', 'Q', 'g', 'w', '_', '=', '+', ' ', '\0'}) {
      if (token[i] == letter) continue;
      std::string other = token;
      other[i] = letter;
      EXPECT_FALSE(refusal(keys, other).empty()) << i;
    }
  }
  for (std::size_t size = 0; size < token.size(); ++size) EXPECT_FALSE(refusal(keys, token.substr(0, size)).empty());
  for (const char* more : {"A", "=", "AAAA", "\n"}) EXPECT_FALSE(refusal(keys, token + more).empty());
}

TEST(Token, EveryFlippedBitIsRefused) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  const std::string token = keys.seal(record(), "shop", 42);
  std::vector<unsigned char> bytes(token.size());
  std::size_t size = 0;
  ASSERT_EQ(sodium_base642bin(bytes.data(), bytes.size(), token.data(), token.size(), nullptr, &size, nullptr,
                              sodium_base64_VARIANT_URLSAFE_NO_PADDING),
            0);
  for (std::size_t bit = 0; bit < 8 * size; ++bit) {
    bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    std::string text(sodium_base64_encoded_len(size, sodium_base64_VARIANT_URLSAFE_NO_PADDING), '\0');
    sodium_bin2base64(text.data(), text.size(), bytes.data(), size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    text.pop_back();
    EXPECT_FALSE(refusal(keys, text).empty()) << bit;
    bytes[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
  }
}

TEST(Token, ErrorsSayWhatIsWrong) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  const std::string token = keys.seal(record(), "shop", 42);
  expect_mentions(refusal(keys, "hello"), {"no token"});
  expect_mentions(message_of([&] { keys.open(token, "other", 42); }), {"damaged", "'other'"});
  expect_mentions(message_of([&] { keys.open(token, "shop", 43); }), {"damaged", "'shop'"});
  const TokenKeys others = TokenKeys::parse(std::string(fixed_keys).replace(18, 1, "8"), "fixed");
  expect_mentions(refusal(others, token), {"key", "gone"});
  expect_mentions(refusal(keys, "B" + token.substr(1)), {"format"});
}

TEST(Token, NoNonceIsUsedTwice) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  std::set<std::string> seen;
  for (int i = 0; i < 2000; ++i) seen.insert(keys.seal(record(), "shop", 42).substr(7, 32));
  EXPECT_EQ(seen.size(), 2000U);
}

// Tokens share the random part of their nonces for a while, and each is one of XChaCha20 as libsodium opens it.
TEST(Token, NoncesAreDrawnAnewAfter256Tokens) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  std::map<std::string, int> drawn;
  for (int i = 0; i < 2000; ++i) {
    const std::string token = keys.seal(record(), "shop", 42);
    ++drawn[token.substr(7, 20)];  // bytes 5.25 to 20.25; the 16 are 5 to 21
    ASSERT_EQ(keys.open(token, "shop", 42).id, 77U);
  }
  for (const auto& [start, tokens] : drawn) EXPECT_LE(tokens, 256);
  EXPECT_LE(drawn.size(), 9U);
}

// A key that is not the newest any more must not seal by what was made of it.
TEST(Token, AnotherKeyHasNoncesOfItsOwn) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  std::string text(fixed_keys);
  text[text.size() - 2] = text[text.size() - 2] == '0' ? '1' : '0';  // of the secret
  const TokenKeys others = TokenKeys::parse(text, "others");
  for (int i = 0; i < 3; ++i) {
    const std::string one = keys.seal(record(), "shop", 42), other = others.seal(record(), "shop", 42);
    EXPECT_NE(one.substr(7, 20), other.substr(7, 20));
    EXPECT_EQ(keys.open(one, "shop", 42).id, 77U);
    EXPECT_EQ(others.open(other, "shop", 42).id, 77U);
    EXPECT_NE(refusal(keys, other), "");
  }
}

// A child has a copy of the random bytes that its parent has fetched, and must not use them.
TEST(Token, NonceOfAForkedProcessIsItsOwn) {
  const TokenKeys keys = TokenKeys::parse(fixed_keys, "fixed");
  keys.seal(record(), "shop", 42);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string token = keys.seal(record(), "shop", 42);
    ::_exit(::write(ends[1], token.data(), token.size()) == static_cast<ssize_t>(token.size()) ? 0 : 1);
  }
  const std::string token = keys.seal(record(), "shop", 42);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  std::string other(token.size(), '\0');
  EXPECT_EQ(::read(ends[0], other.data(), other.size()), static_cast<ssize_t>(other.size()));
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_NE(token.substr(7, 32), other.substr(7, 32));
  EXPECT_EQ(keys.open(other, "shop", 42).id, 77U);
}

class KeyFile : public testing::Test {
 protected:
  std::size_t keys_in_file() const {
    std::ifstream in(file_);
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    return lines - 1;
  }
  void write(const std::string& text, mode_t mode = 0600) const {
    std::ofstream(file_) << text;
    ::chmod(file_.c_str(), mode);
  }
  Scratch scratch_;
  std::filesystem::path file_ = scratch_ / "token-keys";
};

TEST_F(KeyFile, IsMadeForItsOwnerAlone) {
  const std::string token = TokenKeys::load(file_, day).seal(record(), "shop", 42);
  struct stat found {};
  ASSERT_EQ(::stat(file_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  const std::string before = bytes_of(file_.string());
  EXPECT_EQ(TokenKeys::load(file_, day).open(token, "shop", 42).id, 77U);
  EXPECT_EQ(bytes_of(file_.string()), before);
  ::chmod(file_.c_str(), 0640);
  expect_mentions(message_of([&] { TokenKeys::load(file_, day); }), {"token-keys", "chmod 600"});
}

TEST_F(KeyFile, OldKeysOpenOldTokens) {
  const std::string first = TokenKeys::load(file_, 0).seal(record(), "shop", 42);
  TokenKeys::rotate(file_, day);
  EXPECT_EQ(keys_in_file(), 2U);
  struct stat found {};
  ASSERT_EQ(::stat(file_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  const TokenKeys both = TokenKeys::load(file_, day);
  const std::string second = both.seal(record(), "shop", 42);
  EXPECT_EQ(both.open(first, "shop", 42).id, 77U);
  EXPECT_EQ(both.open(second, "shop", 42).id, 77U);
  // The second key was made after a day, and renewed more than 30 days later; the first goes after 400 days.
  EXPECT_EQ((TokenKeys::load(file_, 31 * day), keys_in_file()), 2U);
  EXPECT_EQ((TokenKeys::load(file_, 31 * day + 1), keys_in_file()), 3U);
  const TokenKeys kept = TokenKeys::load(file_, 401 * day);
  EXPECT_EQ(kept.open(first, "shop", 42).id, 77U);
  const TokenKeys later = TokenKeys::load(file_, 401 * day + 1);
  expect_mentions(refusal(later, first), {"gone"});
  EXPECT_EQ(later.open(second, "shop", 42).id, 77U);
}

// Servers read the keys every hour: each knows a key before another one seals with it.
TEST_F(KeyFile, ANewKeySealsWhenAllServersKnowIt) {
  constexpr Microseconds hour = day / 24;
  const TokenKeys before = TokenKeys::load(file_, day);  // the first key seals at once
  const auto sealed = [&](const TokenKeys& keys, Microseconds utc) {
    Restored r = record();
    r.utc = utc;
    return keys.seal(r, "shop", 42);
  };
  EXPECT_EQ(before.open(sealed(before, day), "shop", 42).id, 77U);
  TokenKeys::rotate(file_, 5 * day);
  const TokenKeys after = TokenKeys::load(file_, 5 * day);
  EXPECT_EQ(before.open(sealed(after, 5 * day + 2 * hour), "shop", 42).id, 77U);
  expect_mentions(refusal(before, sealed(after, 5 * day + 2 * hour + 1)), {"gone"});
  // Two new ones in a short time: the newest that all know.
  TokenKeys::rotate(file_, 5 * day + hour);
  const TokenKeys third = TokenKeys::load(file_, 5 * day + hour);
  EXPECT_EQ(before.open(sealed(third, 5 * day + hour), "shop", 42).id, 77U);
  EXPECT_EQ(after.open(sealed(third, 5 * day + 3 * hour), "shop", 42).id, 77U);
  expect_mentions(refusal(after, sealed(third, 5 * day + 3 * hour + 1)), {"gone"});
}

TEST_F(KeyFile, WithoutItsKeyATokenIsRefused) {
  const std::string token = TokenKeys::load(file_, 0).seal(record(), "shop", 42);
  std::filesystem::remove(file_);
  expect_mentions(refusal(TokenKeys::load(file_, 0), token), {"gone"});
}

TEST_F(KeyFile, ThatIsNoneIsNamed) {
  const auto said = [&](const std::string& text) {
    write(text);
    return message_of([&] { TokenKeys::load(file_, 0); });
  };
  expect_mentions(said("hello\n"), {"token-keys", "no file of token keys"});
  expect_mentions(said("pits token keys 1\n"), {"no key"});
  const std::string good = fixed_keys;
  expect_mentions(said(good + "8 0 00ff\n"), {"line 3"});
  expect_mentions(said(good + "8 x " + good.substr(28)), {"line 3"});
  EXPECT_EQ(said(good + "8 0 00ff\n").find("00ff"), std::string::npos);  // secrets are not shown
  write("");                                                             // as a crash may leave it
  EXPECT_EQ(TokenKeys::load(file_, 0).seal(record(), "shop", 42).empty(), false);
}

}  // namespace
}  // namespace pits::test
