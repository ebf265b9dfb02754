// A token, or the fields that one holds. Changed tokens are refused by their tag; fields are read behind it.
#include "pits/serve/token.h"

#include "fuzz/target.h"

namespace pits::fuzz {
namespace {

constexpr const char* bandit = "shop";
constexpr std::uint64_t seed = 42;

const TokenKeys& keys() {
  static const TokenKeys keys = TokenKeys::parse(
      "pits token keys 1\n7 1000000 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n", "the keys");
  return keys;
}

std::string bytes_of(Restored record) {
  Archive archive;
  record.visit([&](std::string_view, auto& field) { archive(field); });
  return archive.bytes();
}

void check_way_and_back(Restored record) {
  record.key.clear();
  record.context.clear();
  if (bytes_of(keys().open(keys().seal(record, bandit, seed), bandit, seed)) != bytes_of(record)) {
    throw std::logic_error("a decision comes back as another one");
  }
}

}  // namespace

bool reads(std::string_view bytes) {
  const Outcome token = outcome_of([&] { return bytes_of(keys().open(bytes, bandit, seed)); });
  const Outcome fields = outcome_of([&] {
    const std::string text = token.read ? token.text : std::string(bytes);
    const Restored record = TokenKeys::record_of(text);
    check_way_and_back(record);
    return bytes_of(record);
  });
  if (token.read && fields.text != token.text) throw std::logic_error("fields are read in two ways");
  return fields.read;
}

}  // namespace pits::fuzz
