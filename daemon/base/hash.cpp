#include "base/hash.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <stdexcept>

namespace warpwright::base {
namespace {
std::string Hex(const unsigned char* bytes, unsigned size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(2 * size, '0');
  for (unsigned i = 0; i < size; ++i) {
    text[2 * i] = kDigits[bytes[i] >> 4];
    text[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  return text;
}
}  // namespace

struct Hasher::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  if (EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL has no SHA-256");
}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::Add(std::string_view field) { return Add(std::as_bytes(std::span(field.data(), field.size()))); }
Hasher& Hasher::Add(std::span<const std::byte> field) {
  const uint64_t size = field.size();
  EVP_DigestUpdate(state_->context, &size, sizeof size);
  EVP_DigestUpdate(state_->context, field.data(), field.size());
  return *this;
}
std::string Hasher::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  return Hex(digest.data(), size);
}

std::string Sha256(std::string_view bytes) { return Sha256(std::as_bytes(std::span(bytes.data(), bytes.size()))); }
std::string Sha256(std::span<const std::byte> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return Hex(digest.data(), size);
}

}  // namespace warpwright::base
