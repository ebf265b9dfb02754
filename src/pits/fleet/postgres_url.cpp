// What a URL of PostgreSQL says.
#include <libpq-fe.h>

#include <algorithm>

#include "pits/fleet/postgres.h"

namespace pits {
namespace {

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t comma = 0; comma != list.npos; list.remove_prefix(comma == list.npos ? list.size() : comma + 1)) {
    comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
  }
  return parts;
}

}  // namespace

// Those that libpq would try itself, if it did not leave the time to its caller.
std::vector<PostgresHost> hosts_of(const std::string& url) {
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(PQconninfoParse(url.c_str(), nullptr),
                                                                               PQconninfoFree);
  std::map<std::string, std::vector<std::string>> lists;
  std::size_t size = 1;
  for (const PQconninfoOption* one = options.get(); one != nullptr && one->keyword != nullptr; ++one) {
    const std::string_view word = one->keyword;
    if (one->val == nullptr || (word != "host" && word != "hostaddr" && word != "port")) continue;
    lists[one->keyword] = parts_of(one->val);
    size = std::max(size, lists[one->keyword].size());
  }
  std::vector<PostgresHost> hosts(size);
  if (size == 1) return hosts;
  for (const auto& [word, list] : lists) {
    for (std::size_t i = 0; i < size; ++i) hosts[i].emplace(word, list[std::min(i, list.size() - 1)]);
  }
  return hosts;
}

bool is_postgres_url(std::string_view text) {
  return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

std::string without_password(std::string_view url) {
  std::string text(url);
  const std::size_t start = text.find("://") + 3, at = text.find('@', start), colon = text.find(':', start);
  if (at != text.npos && colon < at) text.erase(colon, at - colon);
  for (std::size_t word = text.find("password="); word != text.npos; word = text.find("password=")) {
    text.erase(word, std::min(text.find('&', word), text.size()) - word);
  }
  return text;
}

}  // namespace pits
