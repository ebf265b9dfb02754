// SHA-256 of bytes that come piece by piece.
#pragma once

#include <array>
#include <memory>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's, kept out of this header

namespace pits {

class Sha256 {
 public:
  Sha256();

  void add(std::string_view piece);
  std::array<unsigned char, 32> finish();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

}  // namespace pits
