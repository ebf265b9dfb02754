// Who may do what. A file of keys has one per line: NAME SHA-256-OF-THE-KEY SCOPE[,SCOPE...]
// [rate=REQUESTS-PER-SECOND]. The keys themselves are nowhere stored. Lines that start with # are comments.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pits/core/enum_names.h"
#include "pits/log/clock.h"

namespace pits {

// `none`: what needs no key.
enum class Scope { none, decide, reward, read, admin };
template <>
inline constexpr auto enum_names<Scope> = std::array{"none", "decide", "reward", "read", "admin"};

// So many requests per second, with bursts of up to a second's worth; a bucket of tokens, kept as the time at which the
// bucket is full again (GCRA). Any number of threads.
class RateLimit {
 public:
  explicit RateLimit(double per_second) : interval_(1e6 / per_second) {}
  // 0: admitted. Else the seconds to wait, rounded up.
  int wait(Microseconds now);

 private:
  double interval_;  // µs
  std::atomic<Microseconds> full_at_{0};
};

struct ApiKey {
  std::string name;
  std::array<unsigned char, 32> hash{};
  std::vector<Scope> scopes;
  double rate = 0.0;  // 0: no limit
  std::shared_ptr<RateLimit> limit{};

  bool may(Scope scope) const;
};

class ApiKeys {
 public:
  ApiKeys() = default;  // none: everybody may do everything
  // An Error names the file and the line.
  static ApiKeys read(const std::filesystem::path& file);
  static ApiKeys parse(std::string_view text, const std::string& source);

  bool empty() const { return keys_.empty(); }
  // Throws 401, 403 or 429 unless the value of an Authorization header admits the request.
  void check(std::string_view authorization, Scope scope, Microseconds now) const;
  // Whether its key has the scope, however often it asks.
  bool allow(std::string_view authorization, Scope scope) const;

 private:
  const ApiKey* find(std::string_view key) const;

  std::vector<ApiKey> keys_;
};

struct NewKey {
  std::string key;   // to be given to its user; not stored
  std::string line;  // for the file
};
NewKey new_key(const std::string& name, const std::vector<Scope>& scopes, double rate);

}  // namespace pits
