#include "pits/serve/token.h"

#include <pthread.h>
#include <sodium.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace pits {
namespace {

constexpr unsigned char format = 1;
constexpr std::size_t nonce_size = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_size = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t head_size = 1 + sizeof(std::uint32_t) + nonce_size;
constexpr std::size_t block_size = 64;               // of ChaCha20
constexpr std::size_t fast_stream = 4 * block_size;  // what libsodium encrypts by vectors, and multiples of it
static_assert(head_size <= block_size - crypto_onetimeauth_poly1305_KEYBYTES);

using Bytes = std::vector<unsigned char>;

void append(Bytes& bytes, const void* data, std::size_t size) {
  const auto* from = static_cast<const unsigned char*>(data);
  bytes.insert(bytes.end(), from, from + size);
}

// The bytes that an Archive would write, to memory with room for them. Texts are left empty: learning needs none.
struct FieldWriter {
  unsigned char* to;

  void bytes(const void* from, std::size_t size) {
    if (size > 0) std::memcpy(to, from, size);
    to += size;
  }
  void operator()(std::string_view, const std::string&) { number(std::uint64_t{0}); }
  template <class T>
  void operator()(std::string_view, const std::vector<T>& values) {
    number(std::uint64_t{values.size()});
    bytes(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(std::string_view, const T& value) { number(value); }

 private:
  template <class T>
  void number(T value) {
    bytes(&value, sizeof value);
  }
};
// How many they are.
struct FieldCounter {
  std::size_t size = 0;

  void operator()(std::string_view, const std::string&) { size += sizeof(std::uint64_t); }
  template <class T>
  void operator()(std::string_view, const std::vector<T>& values) {
    size += sizeof(std::uint64_t) + values.size() * sizeof(T);
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void operator()(std::string_view, const T&) { size += sizeof(T); }
};
static_assert(sizeof(bool) == 1);

std::atomic<unsigned> forks{0};

// A nonce is 16 bytes that make a key of the secret one (HChaCha20) and 8 bytes for the cipher with that key (IETF
// ChaCha20): that is XChaCha20. A thread draws all of them, counts with the 8 for the next tokens, which need no new
// key, and then draws again. A forked process has a copy of them, and draws its own.
class Nonces {
 public:
  // Valid until the next one.
  const Nonces& next(const std::array<unsigned char, 32>& secret) {
    static const int watched = ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
    if (watched != 0) throw failed("cannot watch for forks: {}", std::strerror(watched));
    if (left_ == 0 || secret != secret_ || forks_ != forks.load(std::memory_order_relaxed)) draw(secret);
    --left_;
    ++count_;
    std::memcpy(nonce_.data() + first_size, &count_, sizeof count_);
    return *this;
  }
  const unsigned char* nonce() const { return nonce_.data(); }
  const unsigned char* key() const { return key_.data(); }
  std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> short_nonce() const {
    std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> last{};  // 4 zeros and the 8 bytes
    std::memcpy(last.data() + 4, nonce_.data() + first_size, sizeof count_);
    return last;
  }

 private:
  static constexpr std::size_t first_size = crypto_core_hchacha20_INPUTBYTES;
  static_assert(first_size + sizeof(std::uint64_t) == nonce_size);

  void draw(const std::array<unsigned char, 32>& secret) {
    forks_ = forks;
    secret_ = secret;
    randombytes_buf(nonce_.data(), nonce_.size());
    std::memcpy(&count_, nonce_.data() + first_size, sizeof count_);
    crypto_core_hchacha20(key_.data(), nonce_.data(), secret.data(), nullptr);
    left_ = tokens_per_draw;
  }

  static constexpr int tokens_per_draw = 256;
  std::array<unsigned char, 32> secret_{}, key_{};
  std::array<unsigned char, nonce_size> nonce_{};
  std::uint64_t count_ = 0;
  int left_ = 0;
  unsigned forks_ = 0;
};

// Bytes of the key stream for so many of text, with the block before them.
constexpr std::size_t stream_size(std::size_t text) {
  return (block_size + text + fast_stream - 1) / fast_stream * fast_stream;
}

// What is authenticated beside the fields: version, key and bandit.
void write_associated(Bytes& bytes, const unsigned char* head, std::string_view bandit, std::uint64_t seed) {
  bytes.assign(head, head + head_size - nonce_size);
  append(bytes, &seed, sizeof seed);
  append(bytes, bandit.data(), bandit.size());
}

// base64url: two letters for every number of 12 bits, and the number of every letter; 64: it is none.
constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr auto letters = [] {
  std::array<std::array<char, 2>, 4096> two{};
  for (std::size_t i = 0; i < two.size(); ++i) two[i] = {alphabet[i / 64], alphabet[i % 64]};
  return two;
}();
constexpr auto numbers = [] {
  std::array<unsigned char, 256> all{};
  all.fill(64);
  for (unsigned char i = 0; i < alphabet.size(); ++i) all[static_cast<unsigned char>(alphabet[i])] = i;
  return all;
}();

// As sodium_bin2base64 and sodium_base642bin do, which take longer than the encryption because their time tells nothing
// of the bytes; these are public.
void append_encoded(std::string& text, std::span<const unsigned char> bytes) {
  const std::size_t start = text.size(), size = (bytes.size() * 4 + 2) / 3;
  text.resize(start + size + 2);  // room for a whole last group
  char* to = text.data() + start;
  const auto put = [&to](std::uint64_t twelve_bits) {
    std::memcpy(to, letters[twelve_bits & 4095U].data(), 2);
    to += 2;
  };
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 6) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, &bytes[i], sizeof eight);
    eight = __builtin_bswap64(eight);
    for (const int shift : {52, 40, 28, 16}) put(eight >> shift);
  }
  for (; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t j) { return i + j < bytes.size() ? std::uint64_t{bytes[i + j]} : 0U; };
    put(at(0) << 4U | at(1) >> 4U);
    put(at(1) << 8U | at(2));
  }
  text.resize(start + size);
}

// False: a letter is none, or bits that belong to no byte are not 0.
bool decode(std::string_view text, Bytes& bytes) {
  const std::size_t size = text.size() * 3 / 4;
  bytes.resize(size + 3);  // room for a whole last group
  unsigned char wrong = text.size() % 4 == 1 ? 64 : 0;
  unsigned char* to = bytes.data();
  for (std::size_t i = 0; i < text.size(); i += 4, to += 3) {
    const auto at = [&](std::size_t j) -> unsigned {
      const unsigned char n = i + j < text.size() ? numbers[static_cast<unsigned char>(text[i + j])] : 0;
      wrong |= n;
      return n;
    };
    const unsigned four = at(0) << 18U | at(1) << 12U | at(2) << 6U | at(3);
    to[0] = static_cast<unsigned char>(four >> 16U);
    to[1] = static_cast<unsigned char>(four >> 8U);
    to[2] = static_cast<unsigned char>(four);
  }
  const bool left = bytes[size] != 0 || bytes[size + 1] != 0;
  bytes.resize(size);
  return (wrong & 64U) == 0 && !left;
}

Bytes decoded(std::string_view token) {
  Bytes bytes;
  if (!decode(token, bytes) || bytes.size() < head_size + tag_size) {
    throw bad_input("that is no token: a token is what came with the decision, unchanged");
  }
  if (bytes[0] != format) throw bad_input("the token has format {}; this pits reads format {}", bytes[0], format);
  return bytes;
}

// ChaCha20-Poly1305 as RFC 8439, 2.8 has it, of the `size` bytes behind the first block of `blocks`, which is 0; the
// tag goes behind them. The first block of the key stream is the key of the tag. libsodium's own call makes one or two
// blocks at a time; here all are one call, which makes four or eight at a time. `blocks` has stream_size(size) bytes.
void encrypt(unsigned char* blocks, std::size_t size, const Bytes& associated, const Nonces& with) {
  crypto_stream_chacha20_ietf_xor_ic(blocks, blocks, stream_size(size), with.short_nonce().data(), 0, with.key());
  crypto_onetimeauth_poly1305_state tag;
  crypto_onetimeauth_poly1305_init(&tag, blocks);
  const auto add = [&tag](const void* from, std::size_t n) {
    static constexpr unsigned char zeros[16] = {};
    crypto_onetimeauth_poly1305_update(&tag, static_cast<const unsigned char*>(from), n);
    crypto_onetimeauth_poly1305_update(&tag, zeros, -n % sizeof zeros);
  };
  unsigned char* text = blocks + block_size;
  add(associated.data(), associated.size());
  add(text, size);
  const std::array<std::uint64_t, 2> sizes{associated.size(), size};
  add(sizes.data(), sizeof sizes);
  crypto_onetimeauth_poly1305_final(&tag, text + size);
}

}  // namespace

void TokenKeys::append(std::string& text, const Decided& decided, Microseconds utc, std::string_view bandit,
                       std::uint64_t seed) const {
  thread_local Bytes bytes, associated;
  thread_local Nonces nonces;
  const Key& key = sealing_key(utc);
  const Nonces& with = nonces.next(key.secret);
  auto& from = const_cast<Decided&>(decided);  // which is only read
  FieldCounter count;
  from.visit(count);
  count("utc", utc);
  bytes.resize(stream_size(count.size) + tag_size);
  std::fill_n(bytes.data(), block_size, 0);
  FieldWriter fields{bytes.data() + block_size};
  from.visit(fields);
  fields("utc", utc);
  std::array<unsigned char, head_size> head;
  FieldWriter write{head.data()};
  write.bytes(&format, sizeof format);
  write.bytes(&key.id, sizeof key.id);
  write.bytes(with.nonce(), nonce_size);
  write_associated(associated, head.data(), bandit, seed);
  encrypt(bytes.data(), count.size, associated, with);
  // The end of the first block, which nobody needs any more.
  unsigned char* token = bytes.data() + block_size - head_size;
  std::ranges::copy(head, token);
  append_encoded(text, {token, head_size + count.size + tag_size});
}

std::string TokenKeys::seal(const Decided& decided, Microseconds utc, std::string_view bandit,
                            std::uint64_t seed) const {
  std::string text;
  append(text, decided, utc, bandit, seed);
  return text;
}

Restored TokenKeys::open(std::string_view token, std::string_view bandit, std::uint64_t seed) const {
  const Bytes bytes = decoded(token);
  std::uint32_t id = 0;
  std::memcpy(&id, bytes.data() + 1, sizeof id);
  const auto key = std::ranges::find(keys_, id, &Key::id);
  if (key == keys_.end()) throw UnknownKey();
  Bytes associated;
  write_associated(associated, bytes.data(), bandit, seed);
  const unsigned char* fields = bytes.data() + head_size;
  std::string plain(bytes.size() - head_size - tag_size, '\0');
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(reinterpret_cast<unsigned char*>(plain.data()), nullptr, nullptr,
                                                 fields, bytes.size() - head_size, associated.data(), associated.size(),
                                                 fields - nonce_size, key->secret.data()) != 0) {
    throw bad_input("the token is damaged, or not one of bandit '{}'", bandit);
  }
  return record_of(std::move(plain));
}

Restored TokenKeys::record_of(std::string fields) {
  Restored record;
  Archive archive(std::move(fields));
  record.visit([&](std::string_view, auto& field) { archive(field); });
  archive.finish();
  return record;
}

}  // namespace pits
