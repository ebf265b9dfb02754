#include "pits/core/io/sha256.h"

#include <openssl/evp.h>

#include "pits/core/error.h"

namespace pits {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) throw failed("no SHA-256 here");
}

void Sha256::add(std::string_view piece) {
  if (EVP_DigestUpdate(context_.get(), piece.data(), piece.size()) != 1) throw failed("SHA-256 failed");
}

std::array<unsigned char, 32> Sha256::finish() {
  std::array<unsigned char, 32> digest{};
  if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1) throw failed("SHA-256 failed");
  return digest;
}

}  // namespace pits
