#include "forge/app_auth.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <nlohmann/json.hpp>

#include "tests/unit/forge/scripted_http.h"

namespace warpwright {
namespace {

using nlohmann::json;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

EVP_PKEY* RsaKey() {
  static const Key key(EVP_RSA_gen(2048));
  return key.get();
}
std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}
std::string Pkcs8(EVP_PKEY* key, const char* passphrase = nullptr) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PKCS8PrivateKey(bio, key, passphrase != nullptr ? EVP_aes_128_cbc() : nullptr, passphrase,
                                passphrase != nullptr ? 4 : 0, nullptr, nullptr);
  return Text(bio);
}
std::string Pkcs1(EVP_PKEY* key) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey_traditional(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  return Text(bio);
}
std::string Decoded(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const size_t padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string bytes(text.size(), '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  bytes.resize(size < 0 ? 0 : static_cast<size_t>(size) - padding);
  return bytes;
}
bool Verifies(const std::string& jwt) {
  const size_t dot = jwt.rfind('.');
  const std::string content = jwt.substr(0, dot), signature = Decoded(jwt.substr(dot + 1));
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const bool good =
      EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, RsaKey()) == 1 &&
      EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                       reinterpret_cast<const unsigned char*>(content.data()), content.size()) == 1;
  EVP_MD_CTX_free(context);
  return good;
}

TEST(AppJwt, IsSignedWithEitherFormOfTheKey) {
  const auto now = std::chrono::system_clock::from_time_t(1'800'000'000);
  for (const std::string& pem : {Pkcs1(RsaKey()), Pkcs8(RsaKey())}) {
    const auto jwt = forge::SignAppJwt(pem, "Iv23abc", now);
    ASSERT_TRUE(jwt) << jwt.error().Format();
    EXPECT_TRUE(Verifies(*jwt));
    EXPECT_EQ(jwt->find_first_of("+/="), std::string::npos);
    const size_t first = jwt->find('.'), second = jwt->find('.', first + 1);
    EXPECT_EQ(json::parse(Decoded(jwt->substr(0, first))), (json{{"alg", "RS256"}, {"typ", "JWT"}}));
    EXPECT_EQ(json::parse(Decoded(jwt->substr(first + 1, second - first - 1))),
              (json{{"iat", 1'800'000'000 - 60}, {"exp", 1'800'000'000 + 540}, {"iss", "Iv23abc"}}));
    std::string forged = *jwt;
    forged[first + 3] ^= 1;
    EXPECT_FALSE(Verifies(forged));
  }
}

TEST(AppJwt, WhatIsNoUsableKeyIsRefusedWithoutRepeatingIt) {
  const Key weak(EVP_RSA_gen(1024)), curve(EVP_EC_gen("P-256"));
  for (const std::string& pem : {std::string(), std::string("hunter2"), Pkcs8(weak.get()), Pkcs8(curve.get()),
                                 Pkcs8(RsaKey(), "pass"), Pkcs8(RsaKey()).substr(0, 400),
                                 std::string("-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n")}) {
    const auto jwt = forge::SignAppJwt(pem, "1", {});
    ASSERT_FALSE(jwt);
    EXPECT_EQ(jwt.error().code, ErrorCode::kEnvironment);
    EXPECT_FALSE(jwt.error().remedy.empty());
    EXPECT_EQ(jwt.error().Format().find("hunter2"), std::string::npos);
  }
}

class AppTokensTest : public testing::Test {
 protected:
  std::shared_ptr<forge::TokenSource> Make() {
    forge::AppOptions options;
    options.app_id = "Iv23abc";
    options.private_key = []() -> Result<std::string> { return Pkcs1(RsaKey()); };
    options.sleep = [this](std::chrono::milliseconds wait) { time.passed += wait; };
    auto tokens = forge::AppTokens(options, http, time);
    EXPECT_TRUE(tokens) << tokens.error().Format();
    return *tokens;
  }
  Result<http::ClientResponse> Token(const char* token,
                                     const char* expires = "2027-01-15T09:00:00Z") {  // an hour after FakeTime's start
    return Answer(201, json{{"token", token}, {"expires_at", expires}}.dump());
  }
  FakeTime time;
  ScriptedHttp http;
  const std::string find = "GET /repos/acme/kernels/installation", make = "POST /app/installations/12/access_tokens";
};

TEST_F(AppTokensTest, IsMadeForTheRepositoryAndWhatIsNeededAndKept) {
  http.On(find, {Answer(200, R"({"id":12})")});
  http.On(make, {Token("ghs_one"), Token("ghs_two", "2027-01-15T10:00:00Z")});
  const auto tokens = Make();
  EXPECT_EQ(*tokens->Token(kRepository), "ghs_one");
  EXPECT_EQ(json::parse(http.Body(make)), (json{{"repositories", {"kernels"}},
                                                {"permissions",
                                                 {{"contents", "write"},
                                                  {"pull_requests", "write"},
                                                  {"checks", "write"},
                                                  {"issues", "write"},
                                                  {"metadata", "read"}}}}));
  EXPECT_TRUE(Verifies(http.requests[0].bearer));
  EXPECT_TRUE(Verifies(http.requests[1].bearer));
  time.passed = std::chrono::minutes(54);
  EXPECT_EQ(*tokens->Token(kRepository), "ghs_one");
  time.passed = std::chrono::minutes(56);  // less than five minutes left
  EXPECT_EQ(*forge::TokenFor(tokens, kRepository)(), "ghs_two");
  EXPECT_EQ(http.log.size(), 3u) << "the installation was looked for again";
}

TEST_F(AppTokensTest, ARejectedTokenIsMadeAgainButOnlyThatOne) {
  http.On(find, {Answer(200, R"({"id":12})")});
  http.On(make, {Token("ghs_one"), Token("ghs_two")});
  const auto tokens = Make();
  ASSERT_EQ(*tokens->Token(kRepository), "ghs_one");
  tokens->Reject(kRepository, "ghs_older");
  EXPECT_EQ(*tokens->Token(kRepository), "ghs_one");
  tokens->Reject(kRepository, "ghs_one");
  EXPECT_EQ(*tokens->Token(kRepository), "ghs_two");
}

TEST_F(AppTokensTest, ANewInstallationIsFoundAndFailuresAreRepeated) {
  http.On(find, {Answer(200, R"({"id":11})"), Answer(503), Answer(200, R"({"id":12})")});
  http.On("POST /app/installations/11/access_tokens", {Answer(404)});
  http.On(make, {Answer(502), Token("ghs_one")});
  EXPECT_EQ(*Make()->Token(kRepository), "ghs_one");
}

TEST_F(AppTokensTest, WhatIsMissingIsSaid) {
  http.On(find, {Answer(404)});
  auto token = Make()->Token(kRepository);
  ASSERT_FALSE(token);
  EXPECT_NE(token.error().Format().find("not installed on acme/kernels"), std::string::npos);
  http = {};
  http.On(find, {Answer(200, R"({"id":12})")});
  http.On(make, {Answer(422, R"({"message":"The permissions requested are not granted to this installation."})")});
  token = Make()->Token(kRepository);
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(token.error().remedy.find("pull requests"), std::string::npos);
}

TEST_F(AppTokensTest, KnowsItsName) {
  http.On("GET /app", {Answer(200, R"({"slug":"warpwright"})")});
  const auto tokens = Make();
  EXPECT_EQ(*tokens->Login(), "warpwright[bot]");
  EXPECT_EQ(*tokens->Login(), "warpwright[bot]");
  EXPECT_EQ(http.log.size(), 1u);
}

TEST_F(AppTokensTest, ABadKeyIsSaidAtOnce) {
  forge::AppOptions options;
  options.app_id = "1";
  options.private_key = []() -> Result<std::string> { return "no key"; };
  EXPECT_FALSE(forge::AppTokens(options, http, time));
}

TEST(FixedToken, IsReadAnewEachTime) {
  std::string file = "one";
  const auto tokens = forge::FixedToken([&]() -> Result<std::string> { return file; });
  EXPECT_EQ(*tokens->Token(kRepository), "one");
  file = "two!";
  EXPECT_EQ(*tokens->Token(kRepository), "two!");
  file.clear();
  EXPECT_FALSE(tokens->Token(kRepository));
  EXPECT_EQ(*tokens->Login(), "");
}

}  // namespace
}  // namespace warpwright
