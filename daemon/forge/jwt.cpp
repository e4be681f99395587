// RS256 (RFC 7518, 3.3) with OpenSSL. Kept apart from app_auth.cpp, which does not need OpenSSL.
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json.h"
#include "forge/app_auth.h"
#include "forge/json_text.h"

namespace warpwright::forge {
namespace {

constexpr int kMinimumKeyBits = 2048;
constexpr std::chrono::seconds kIssuedBefore{60}, kLifetime{9 * 60};
constexpr const char* kRemedy =
    "download a private key from the App's settings on the forge, and give that file as it is";

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

std::string Base64Url(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  uint32_t pending = 0;
  int bits = 0;
  for (const unsigned char byte : bytes) {
    pending = (pending << 8) | byte;
    for (bits += 8; bits >= 6; bits -= 6) text += kDigits[(pending >> (bits - 6)) & 63];
  }
  if (bits > 0) text += kDigits[(pending << (6 - bits)) & 63];
  return text;
}

// OpenSSL would prompt for a passphrase on the terminal.
int NoPassphrase(char*, int, int, void*) { return 0; }

Result<std::unique_ptr<EVP_PKEY, FreeKey>> ReadKey(std::string_view pem) {
  const std::unique_ptr<BIO, FreeBio> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(std::min<size_t>(pem.size(), 64u << 10))));
  std::unique_ptr<EVP_PKEY, FreeKey> key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr)
                                             : nullptr);
  ERR_clear_error();  // its messages may contain parts of the key
  if (!key) return Fail(ErrorCode::kEnvironment, "the App's private key is no PEM without passphrase", kRemedy);
  if (EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA || EVP_PKEY_bits(key.get()) < kMinimumKeyBits)
    return Fail(ErrorCode::kEnvironment,
                fmt::format("the App's private key is not RSA of at least {} bits", kMinimumKeyBits), kRemedy);
  return key;
}

Result<std::string> Sign(EVP_PKEY* key, std::string_view text) {
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
  size_t size = 0;
  std::string signature;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  bool done = context && EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) == 1;
  if (done) {
    signature.resize(size);
    done = EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                          text.size()) == 1;
    signature.resize(size);
  }
  ERR_clear_error();
  if (!done) return Fail(ErrorCode::kEnvironment, "OpenSSL does not sign with the App's private key", kRemedy);
  return signature;
}

}  // namespace

Result<std::string> SignAppJwt(std::string_view private_key_pem, std::string_view issuer,
                               std::chrono::system_clock::time_point now) {
  WW_ASSIGN(const auto key, ReadKey(private_key_pem));
  const auto seconds = [](std::chrono::system_clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  };
  const nlohmann::json header = {{"alg", "RS256"}, {"typ", "JWT"}};
  const nlohmann::json claims = {
      {"iat", seconds(now - kIssuedBefore)}, {"exp", seconds(now + kLifetime)}, {"iss", std::string(issuer)}};
  const std::string content = Base64Url(base::DumpJson(header)) + "." + Base64Url(base::DumpJson(claims));
  WW_ASSIGN(const std::string signature, Sign(key.get(), content));
  return content + "." + Base64Url(signature);
}

}  // namespace warpwright::forge
