// Tokens: a decision on its way to the client and back, encrypted and authenticated. A decision that is answered before
// its record is durable travels with one; the reward brings it back, and what learning needs is there even where the
// record was lost. Text: base64url (RFC 4648, no padding) of version (u8), key id (u32), nonce (24 bytes), then the
// fields of a Restored, without its texts, by XChaCha20-Poly1305 (docs/decisions/libsodium.md). The bandit's name and
// seed are authenticated with them.
//
//   const pits::TokenKeys keys = pits::TokenKeys::load("shop/token-keys", now);
//   const std::string token = keys.seal(decided, now, "tea", seed);
//   const pits::Restored record = keys.open(token, "tea", seed);
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "pits/log/event.h"

namespace pits {

// The key of a token is none of those that were read.
class UnknownKey : public Error {
 public:
  UnknownKey() : Error(ErrorKind::input, "the key of the token is gone: it is too old, or of another service") {}
};

// The newest key seals, once every server of a fleet has read it; until then the one before it does. Every key opens
// the tokens that it sealed. From any thread.
class TokenKeys {
 public:
  static constexpr Microseconds known_after = 7'200'000'000;  // by all servers, which read the keys every hour
  // Of a file that only its owner may read. It is made where it is missing; where the newest key is older than 30 days,
  // a new one is added, and those that have not been the newest for 400 days are removed.
  static TokenKeys load(const std::filesystem::path& file, Microseconds now);
  // The same of a text, empty at first, which is changed where keys come or go.
  static TokenKeys renewed(std::string& text, std::string_view source, Microseconds now);
  // Adds a new newest key, durably.
  static void rotate(const std::filesystem::path& file, Microseconds now);
  // Of the text of such a file; an Error names the source and the line.
  static TokenKeys parse(std::string_view text, std::string_view source);

  std::string seal(const Decided& decided, Microseconds utc, std::string_view bandit, std::uint64_t seed) const;
  void append(std::string& text, const Decided& decided, Microseconds utc, std::string_view bandit,
              std::uint64_t seed) const;
  std::string seal(const Restored& record, std::string_view bandit, std::uint64_t seed) const {
    return seal(record, record.utc, bandit, seed);
  }
  // An Error: no token, damaged or of another bandit; UnknownKey: its key is gone, or too new.
  Restored open(std::string_view token, std::string_view bandit, std::uint64_t seed) const;
  // What open() reads behind the cipher.
  static Restored record_of(std::string fields);

 private:
  struct Key {
    std::uint32_t id = 0;  // random
    Microseconds created = 0;
    std::array<unsigned char, 32> secret{};
  };

  const Key& sealing_key(Microseconds now) const;
  void add_key(Microseconds now);
  void remove_old(Microseconds now);
  std::string text() const;

  std::vector<Key> keys_;  // the newest last
};

}  // namespace pits
