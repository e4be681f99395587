// Tokens for the forge's API and for git over https: a fixed one, or those of a GitHub App, which live for an hour and
// are created for one repository and the required permissions. Every token is registered for redaction before it is
// returned. The JWT is signed with OpenSSL directly: libcpp-jwt also reads and verifies tokens, and we only ever write
// one kind.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "forge/forge.h"
#include "forge/github_client.h"
#include "http/client.h"

namespace warpwright::forge {

// Thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual Result<std::string> Token(const RepositoryName& repository) = 0;
  // The server refused this token (401): it is not returned again if another can be obtained.
  virtual void Reject(const RepositoryName& repository, const std::string& token) = 0;
  // The account that these tokens write as ("warpwright[bot]"); empty: the token does not identify one, use GET /user.
  virtual Result<std::string> Login() = 0;
};

// `read` is called every time, so that a file may be replaced while the daemon runs: [source] { return
// ReadSecret(source); }
std::shared_ptr<TokenSource> FixedToken(std::function<Result<std::string>()> read);

struct AppOptions {
  std::string api = "https://api.github.com";
  std::string app_id;  // the client id ("Iv23...") or the numeric id
  std::function<Result<std::string>()>
      private_key;  // PEM, PKCS#1 as GitHub gives it or PKCS#8; read for each signature
  RetryRules retry = {};
  std::function<void(std::chrono::milliseconds)> sleep = {};
  std::function<bool()> stopping = {};
};
// Finds the installation of a repository and creates tokens limited to it and to contents, pull requests, checks and
// issues (write) and metadata (read). Tokens are cached until five minutes before they expire. The key is read and
// tried immediately: kEnvironment if it is not a key.
Result<std::shared_ptr<TokenSource>> AppTokens(AppOptions options, http::Client& http, const base::Clock& clock);

// Makes a client take its tokens from `tokens`.
void UseTokens(std::shared_ptr<TokenSource> tokens, GithubOptions& options);
// For git over https (repo/remote.h, Credential::token).
std::function<Result<std::string>()> TokenFor(std::shared_ptr<TokenSource> tokens, RepositoryName repository);

// A JSON Web Token, RS256: issued a minute ago (clocks differ), valid for nine minutes. kEnvironment: not an RSA
// private key of 2,048 bits or more in PEM without a passphrase.
Result<std::string> SignAppJwt(std::string_view private_key_pem, std::string_view issuer,
                               std::chrono::system_clock::time_point now);

}  // namespace warpwright::forge
