#include "forge/app_auth.h"

#include <fmt/format.h>

#include <ctime>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/redaction.h"
#include "forge/github_responses.h"
#include "forge/github_transport.h"

namespace warpwright::forge {
namespace {

using nlohmann::json;
using Time = std::chrono::system_clock::time_point;

constexpr std::chrono::minutes kRenewBefore{5}, kAssumedLifetime{55};

class Fixed final : public TokenSource {
 public:
  explicit Fixed(std::function<Result<std::string>()> read) : read_(std::move(read)) {}
  Result<std::string> Token(const RepositoryName&) override {
    WW_ASSIGN(std::string token, read_());
    if (token.empty())
      return Fail(ErrorCode::kEnvironment, "the forge's token is empty", "check the file or variable that holds it");
    base::RegisterSecret(token);
    return token;
  }
  void Reject(const RepositoryName&, const std::string&) override {}  // the next Token reads a replaced file anyway
  Result<std::string> Login() override { return std::string(); }

 private:
  const std::function<Result<std::string>()> read_;
};

// "2026-11-21T10:30:00Z"; if it is anything else, a little less than GitHub's hour.
Time ExpiryOf(const std::string& text, Time now) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || *end != 'Z') return now + kAssumedLifetime;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

class App final : public TokenSource {
 public:
  App(AppOptions options, const base::Clock& clock) : options_(std::move(options)), clock_(clock) {}
  Status Start(http::Client& http);
  Result<std::string> Token(const RepositoryName& repository) override;
  void Reject(const RepositoryName& repository, const std::string& token) override;
  Result<std::string> Login() override;

 private:
  struct Held {
    std::string token;
    Time expires;
  };
  Result<std::string> Jwt() const;
  Result<int64_t> Installation(const RepositoryName& repository, RetryBudget& patience);
  Result<Held> Make(const RepositoryName& repository);

  const AppOptions options_;
  const base::Clock& clock_;
  std::unique_ptr<GithubTransport> transport_;
  std::mutex mutex_;                              // held while a token is created too: waiting threads share it
  std::map<std::string, int64_t> installations_;  // by "owner/name"
  std::map<std::string, Held> held_;
  std::string login_;
};

Result<std::string> App::Jwt() const {
  WW_ASSIGN(const std::string key, options_.private_key());
  base::RegisterSecret(key);
  WW_ASSIGN(std::string jwt, SignAppJwt(key, options_.app_id, clock_.Now()));
  base::RegisterSecret(jwt);
  return jwt;
}

Status App::Start(http::Client& http) {
  GithubOptions options;
  options.api = options_.api;
  options.token = [this](const RepositoryName&) { return Jwt(); };
  options.retry = options_.retry;
  options.sleep = options_.sleep;
  options.stopping = options_.stopping;
  WW_ASSIGN(transport_, GithubTransport::Create(options, http, clock_));
  if (options_.app_id.empty()) return Fail(ErrorCode::kConfig, "no id of the GitHub App", "configure github.app.id");
  if (const auto jwt = Jwt(); !jwt) return Fail(jwt.error());
  return {};
}

Result<int64_t> App::Installation(const RepositoryName& repository, RetryBudget& patience) {
  if (const auto known = installations_.find(repository.Full()); known != installations_.end()) return known->second;
  const std::string path =
      fmt::format("/repos/{}/{}/installation", PercentEncoded(repository.owner), PercentEncoded(repository.name));
  WW_ASSIGN(const GithubResponse answer, transport_->Get(repository, path, patience));
  if (answer.status == 404)
    return Fail(ErrorCode::kEnvironment, fmt::format("the GitHub App is not installed on {}", repository.Full()),
                "install it there: settings of the App on the forge, 'Install App'");
  if (answer.status != 200)
    return Fail(transport_->Refusal(answer, fmt::format("find the App's installation on {}", repository.Full())));
  WW_ASSIGN(const int64_t id, DecodeInstallation(answer.body));
  installations_[repository.Full()] = id;
  return id;
}

Result<App::Held> App::Make(const RepositoryName& repository) {
  const json wanted = {{"repositories", json::array({repository.name})},
                       {"permissions",
                        {{"contents", "write"},
                         {"pull_requests", "write"},
                         {"checks", "write"},
                         {"issues", "write"},
                         {"metadata", "read"}}}};
  RetryBudget patience = transport_->Begin();
  bool installed_again = false;
  while (true) {
    WW_ASSIGN(const int64_t installation, Installation(repository, patience));
    WW_ASSIGN(const GithubWrite written,
              transport_->Write(repository, "POST", fmt::format("/app/installations/{}/access_tokens", installation),
                                wanted, patience));
    if (written.lost) continue;  // a token whose response was lost simply expires
    if (written.answer.status == 201) {
      WW_ASSIGN(GithubInstallationToken made, DecodeInstallationToken(written.answer.body));
      base::RegisterSecret(made.token);
      return Held{std::move(made.token), ExpiryOf(made.expires_at, clock_.Now())};
    }
    installations_.erase(repository.Full());
    if (written.answer.status == 404 && !installed_again) {  // the App was removed and installed again since
      installed_again = true;
      continue;
    }
    Error refusal = transport_->Refusal(written.answer, fmt::format("make a token for {}", repository.Full()));
    if (written.answer.status == 422) {
      refusal.code = ErrorCode::kEnvironment;
      refusal.remedy =
          "the App needs these permissions: contents, pull requests, checks and issues (read and write), metadata "
          "(read); after a change its "
          "owner must accept them";
    }
    return Fail(std::move(refusal));
  }
}

Result<std::string> App::Token(const RepositoryName& repository) {
  const std::lock_guard lock(mutex_);
  if (const auto found = held_.find(repository.Full());
      found != held_.end() && clock_.Now() + kRenewBefore < found->second.expires)
    return found->second.token;
  WW_ASSIGN(Held made, Make(repository));
  return (held_[repository.Full()] = std::move(made)).token;
}

void App::Reject(const RepositoryName& repository, const std::string& token) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(repository.Full());
  if (found != held_.end() && found->second.token == token) held_.erase(found);
}

Result<std::string> App::Login() {
  const std::lock_guard lock(mutex_);
  if (!login_.empty()) return login_;
  RetryBudget patience = transport_->Begin();
  WW_ASSIGN(const GithubResponse answer, transport_->Get({}, "/app", patience));
  if (answer.status != 200) return Fail(transport_->Refusal(answer, "ask for the App's name"));
  WW_ASSIGN(const std::string slug, DecodeAppSlug(answer.body));
  return login_ = slug + "[bot]";
}

}  // namespace

std::shared_ptr<TokenSource> FixedToken(std::function<Result<std::string>()> read) {
  return std::make_shared<Fixed>(std::move(read));
}

Result<std::shared_ptr<TokenSource>> AppTokens(AppOptions options, http::Client& http, const base::Clock& clock) {
  auto app = std::make_shared<App>(std::move(options), clock);
  WW_TRY(app->Start(http));
  return app;
}

void UseTokens(std::shared_ptr<TokenSource> tokens, GithubOptions& options) {
  options.token = [tokens](const RepositoryName& repository) { return tokens->Token(repository); };
  options.token_rejected = [tokens](const RepositoryName& repository, const std::string& token) {
    tokens->Reject(repository, token);
  };
  options.login = [tokens] { return tokens->Login(); };
}

std::function<Result<std::string>()> TokenFor(std::shared_ptr<TokenSource> tokens, RepositoryName repository) {
  return [tokens = std::move(tokens), repository = std::move(repository)] { return tokens->Token(repository); };
}

}  // namespace warpwright::forge
