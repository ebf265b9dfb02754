// The file of the keys: a line that names the format, then "ID CREATED SECRET" for each key, the newest last.
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "pits/core/io/files.h"
#include "pits/serve/token.h"

namespace pits {
namespace {

using Path = std::filesystem::path;

constexpr std::string_view title = "pits token keys 1\n";
constexpr Microseconds day = 86'400'000'000;
constexpr Microseconds renewed_after = 30 * day, kept = 400 * day;
constexpr std::size_t most_bytes = 1 << 20;

void start_sodium() {
  if (sodium_init() < 0) throw failed("libsodium finds no source of random numbers");
}

// The text up to the separator, which is taken away with it.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Empty where there is none yet.
std::string read_keys(const Path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    throw bad_input("cannot read '{}': {}", file.string(), std::strerror(errno));
  }
  if ((found.st_mode & 077) != 0) {
    throw bad_input("'{0}' holds secrets and others may read it: chmod 600 '{0}'", file.string());
  }
  return read_file(file, most_bytes);
}

// Never readable by others, not even while it is written: the new file gets the permissions of the old one.
void write_keys(const Path& file, const std::string& text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) throw bad_input("cannot write '{}': {}", file.string(), std::strerror(errno));
  ::close(descriptor);
  write_file_atomically(file, text);
  sync_directory(std::filesystem::absolute(file).parent_path());
}

}  // namespace

TokenKeys TokenKeys::parse(std::string_view text, std::string_view source) {
  start_sodium();
  if (!text.starts_with(title)) throw bad_input("'{}' is no file of token keys of this pits", source);
  text.remove_prefix(title.size());
  TokenKeys keys;
  for (std::size_t line = 2; !text.empty(); ++line) {
    std::string_view rest = take(text, '\n');
    const std::string_view id = take(rest, ' '), created = take(rest, ' ');
    Key key;
    std::size_t size = 0;
    const bool hex =
        sodium_hex2bin(key.secret.data(), key.secret.size(), rest.data(), rest.size(), nullptr, &size, nullptr) == 0;
    if (!read_number(id, key.id) || !read_number(created, key.created) || !hex || size != key.secret.size()) {
      throw bad_input("'{}': line {} is no token key", source, line);  // which it does not show
    }
    keys.keys_.push_back(key);
  }
  if (keys.keys_.empty()) throw bad_input("'{}' holds no key", source);
  return keys;
}

std::string TokenKeys::text() const {
  std::string text(title);
  for (const Key& key : keys_) {
    std::array<char, 2 * sizeof key.secret + 1> hex{};
    sodium_bin2hex(hex.data(), hex.size(), key.secret.data(), key.secret.size());
    text += fmt::format("{} {} {}\n", key.id, key.created, hex.data());
  }
  return text;
}

// The first key seals at once.
const TokenKeys::Key& TokenKeys::sealing_key(Microseconds now) const {
  std::size_t newest = keys_.size() - 1;
  while (newest > 0 && now - keys_[newest].created <= known_after) --newest;
  return keys_[newest];
}

void TokenKeys::add_key(Microseconds now) {
  start_sodium();
  Key key{.created = now};
  do {
    randombytes_buf(&key.id, sizeof key.id);
  } while (std::ranges::find(keys_, key.id, &Key::id) != keys_.end());
  randombytes_buf(key.secret.data(), key.secret.size());
  keys_.push_back(key);
}

void TokenKeys::remove_old(Microseconds now) {
  std::size_t old = 0;
  while (old + 1 < keys_.size() && now - keys_[old + 1].created > kept) ++old;
  keys_.erase(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(old));
}

TokenKeys TokenKeys::renewed(std::string& text, std::string_view source, Microseconds now) {
  TokenKeys keys = text.empty() ? TokenKeys() : parse(text, source);
  if (keys.keys_.empty() || now - keys.keys_.back().created > renewed_after) keys.add_key(now);
  keys.remove_old(now);
  text = keys.text();
  return keys;
}

TokenKeys TokenKeys::load(const Path& file, Microseconds now) {
  const std::string old = read_keys(file);
  std::string text = old;
  TokenKeys keys = renewed(text, file.string(), now);
  if (text != old) write_keys(file, text);
  return keys;
}

void TokenKeys::rotate(const Path& file, Microseconds now) {
  const std::string text = read_keys(file);
  TokenKeys keys = text.empty() ? TokenKeys() : parse(text, file.string());
  keys.add_key(now);
  keys.remove_old(now);
  write_keys(file, keys.text());
}

}  // namespace pits
