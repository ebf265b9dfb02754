#include "pits/serve/api_keys.h"

#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "pits/core/fields.h"
#include "pits/core/io/files.h"
#include "pits/core/io/sha256.h"
#include "pits/serve/status_error.h"

namespace pits {
namespace {

constexpr std::string_view bearer = "Bearer ", prefix = "pits_";

std::array<unsigned char, 32> hash_of(std::string_view key) {
  Sha256 sha;
  sha.add(key);
  return sha.finish();
}

std::vector<Scope> scopes_of(const std::string& text) {
  std::vector<Scope> scopes;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    Scope scope{};
    parse_value(word, scope);
    if (scope == Scope::none) throw bad_input("'none' is not a scope of keys");
    scopes.push_back(scope);
  }
  return scopes;
}

// A name that fits into a line of the file.
void check_name(const std::string& name) {
  const auto plain = [](char c) { return std::isgraph(static_cast<unsigned char>(c)) != 0; };
  if (name.empty() || name.starts_with('#') || !std::ranges::all_of(name, plain)) {
    throw bad_input("the name of a key is one word, not '{}'", name);
  }
}

ApiKey parse_line(const std::string& line) {
  std::istringstream words(line);
  ApiKey key;
  std::string hash, scopes, rate, more;
  words >> key.name >> hash >> scopes >> rate >> more;
  std::size_t size = 0;
  const bool hex =
      sodium_hex2bin(key.hash.data(), key.hash.size(), hash.data(), hash.size(), nullptr, &size, nullptr) == 0 &&
      size == key.hash.size() && hash.size() == 2 * size;
  if (!hex || scopes.empty() || !more.empty()) throw bad_input("a key is: NAME HASH SCOPE[,SCOPE...] [rate=NUMBER]");
  key.scopes = scopes_of(scopes);
  if (rate.empty()) return key;
  constexpr std::string_view mark = "rate=";
  if (!rate.starts_with(mark)) throw bad_input("after the scopes comes rate=NUMBER or nothing, not '{}'", rate);
  parse_value(rate.substr(mark.size()), key.rate);
  check_value(key.rate, between(0.001, 1e9));
  key.limit = std::make_shared<RateLimit>(key.rate);
  return key;
}

}  // namespace

int RateLimit::wait(Microseconds now) {
  constexpr Microseconds burst = 1'000'000;
  const auto step = static_cast<Microseconds>(std::max(1.0, interval_));
  for (Microseconds full = full_at_.load();;) {
    const Microseconds next = std::max(full, now) + step;
    const Microseconds early = next - now - std::max(burst, step);
    if (early > 0) return static_cast<int>(early / burst) + 1;
    if (full_at_.compare_exchange_weak(full, next)) return 0;
  }
}

bool ApiKey::may(Scope scope) const { return std::ranges::find(scopes, scope) != scopes.end(); }

ApiKeys ApiKeys::read(const std::filesystem::path& file) {
  constexpr std::size_t most = 1 << 20;
  return parse(read_file(file, most), file.string());
}

ApiKeys ApiKeys::parse(std::string_view text, const std::string& source) {
  ApiKeys all;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with('#')) continue;
    try {
      all.keys_.push_back(parse_line(line));
    } catch (const Error& e) {
      throw bad_input("'{}', line {}: {}", source, number, e.what());
    }
  }
  if (all.keys_.empty()) throw bad_input("'{}' has no keys; `pits key` makes one", source);
  return all;
}

// Every key is compared, each in constant time.
const ApiKey* ApiKeys::find(std::string_view key) const {
  const auto hash = hash_of(key);
  const ApiKey* found = nullptr;
  for (const ApiKey& candidate : keys_) {
    if (sodium_memcmp(hash.data(), candidate.hash.data(), hash.size()) == 0) found = &candidate;
  }
  return found;
}

void ApiKeys::check(std::string_view authorization, Scope scope, Microseconds now) const {
  if (keys_.empty() || scope == Scope::none) return;
  if (!authorization.starts_with(bearer)) throw status_error(401, "a key is needed: Authorization: Bearer KEY");
  const ApiKey* key = find(authorization.substr(bearer.size()));
  if (key == nullptr) throw status_error(401, "the key is not known");
  if (!key->may(scope)) {
    throw status_error(403, "the key '{}' may not do this: it needs the scope '{}'", key->name, format_value(scope));
  }
  if (const int wait = key->limit ? key->limit->wait(now) : 0; wait > 0) {
    throw StatusError(429, fmt::format("the key '{}' may make {} requests per second", key->name, key->rate), wait);
  }
}

bool ApiKeys::allow(std::string_view authorization, Scope scope) const {
  if (keys_.empty()) return true;
  if (!authorization.starts_with(bearer)) return false;
  const ApiKey* key = find(authorization.substr(bearer.size()));
  return key != nullptr && key->may(scope);
}

NewKey new_key(const std::string& name, const std::vector<Scope>& scopes, double rate) {
  check_name(name);
  if (scopes.empty()) throw bad_input("a key needs a scope: decide, reward, read or admin");
  if (sodium_init() < 0) throw failed("there is no source of random numbers");
  std::array<unsigned char, 32> secret{};
  randombytes_buf(secret.data(), secret.size());
  std::array<char, 64> text{};
  sodium_bin2base64(text.data(), text.size(), secret.data(), secret.size(), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  const std::string key = std::string(prefix) + text.data();
  const auto hash = hash_of(key);
  std::array<char, 65> hex{};
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  std::string words;
  for (const Scope scope : scopes) words += (words.empty() ? "" : ",") + format_value(scope);
  return {
      .key = key,
      .line = fmt::format("{} {} {}{}\n", name, hex.data(), words, rate > 0.0 ? fmt::format(" rate={}", rate) : "")};
}

}  // namespace pits
