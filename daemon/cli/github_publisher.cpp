#include "cli/github_publisher.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "cli/serve.h"
#include "cli/version.h"
#include "config/remote_text.h"

namespace warpwright::cli {
namespace {

// The git URL on the host whose API is at `api`.
std::string RemoteOf(const std::string& api, const forge::RepositoryName& repository) {
  if (HostOf(api) == "api.github.com") return fmt::format("https://github.com/{}.git", repository.Full());
  return fmt::format("{}/{}.git", api.substr(0, api.find('/', api.find("://") + 3)), repository.Full());
}

// Passes each new token to the runner, which masks it, before it is used.
class MaskingTokens final : public forge::TokenSource {
 public:
  MaskingTokens(std::shared_ptr<forge::TokenSource> tokens, WorkflowCommands& commands)
      : tokens_(std::move(tokens)), commands_(commands) {}
  Result<std::string> Token(const forge::RepositoryName& repository) override {
    auto token = tokens_->Token(repository);
    if (token && masked_.insert(base::Sha256(*token)).second) commands_.Mask(*token);
    return token;
  }
  void Reject(const forge::RepositoryName& repository, const std::string& token) override {
    tokens_->Reject(repository, token);
  }
  Result<std::string> Login() override { return tokens_->Login(); }

 private:
  const std::shared_ptr<forge::TokenSource> tokens_;
  WorkflowCommands& commands_;
  std::set<std::string> masked_;
};

}  // namespace

Result<std::unique_ptr<app::ResultPublisher>> GithubPublisher::Connect(config::PublishTo to,
                                                                       const repo::Signature& author) {
  ::prctl(PR_SET_DUMPABLE, 0);  // the token is in this process's memory
  app::PublicationSettings settings;
  settings.to = to;
  settings.draft = options_.draft;
  if (!options_.labels.empty()) settings.labels = SplitList(options_.labels);
  if (!options_.reviewers.empty()) settings.reviewers = SplitList(options_.reviewers);
  if (options_.max_open >= 0) settings.max_open = options_.max_open;
  settings.asked_for = options_.asked_for;
  repo::RemoteAddress address;
  address.url = options_.remote;
  if (!options_.repository.empty()) {
    WW_ASSIGN(settings.repository, forge::RepositoryName::Parse(options_.repository));
    if (address.url.empty()) address.url = RemoteOf(options_.api, *settings.repository);
    WW_TRY(ConnectForge());
    const std::string host = HostOf(address.url), api_host = HostOf(options_.api);
    const auto kind = config::CheckRemoteUrl(address.url);
    if (kind && *kind == config::RemoteKind::kHttp && (host == api_host || "api." + host == api_host))
      address.credential.token = forge::TokenFor(tokens_, *settings.repository);
  }
  settings.author = author;
  if (settings.repository && !options_.app_id.empty() && author.email == repo::Signature().email) {
    WW_ASSIGN(const forge::GithubClient::Author own, forge_->OwnAuthor(*settings.repository));
    settings.author = {own.name, own.email};
  }
  WW_ASSIGN(repo::Mirror mirror, app::OpenBorrowingMirror(workspace_, address, settings.author));
  settings.base_branch = options_.base_branch;
  if (to == config::PublishTo::kPullRequest && options_.base_branch.empty()) {
    WW_ASSIGN(const std::string main, repo::DefaultBranch(address));
    settings.base_branch = main.substr(std::min(main.size(), std::string_view("refs/heads/").size()));
  }
  return std::make_unique<app::ResultPublisher>(std::move(settings), std::move(mirror), forge_.get(), forge_.get());
}

Status GithubPublisher::ConnectForge() {
  http::ClientOptions http;
  http.user_agent = std::string("warpwright/") + kVersion;
  WW_ASSIGN(http_, http::CurlClient::Create(http));
  WW_ASSIGN(std::string secret,
            TakeFromEnvironment(options_.app_id.empty() ? options_.token_env : options_.app_key_env));
  commands_.Mask(secret);
  const auto read = [secret]() -> Result<std::string> { return secret; };
  if (options_.app_id.empty()) {
    tokens_ = forge::FixedToken(read);
  } else {
    forge::AppOptions app;
    app.api = options_.api;
    app.app_id = options_.app_id;
    app.private_key = read;
    WW_ASSIGN(auto tokens, forge::AppTokens(app, *http_, clock_));
    tokens_ = std::make_shared<MaskingTokens>(std::move(tokens), commands_);
  }
  forge::GithubOptions options;
  options.api = options_.api;
  options.cache = workspace_.state() / "etags";
  options.warn = [](const std::string& text) { fmt::print(stderr, "warpwright: {}\n", text); };
  forge::UseTokens(tokens_, options);
  WW_ASSIGN(forge_, forge::GithubClient::Create(options, *http_, clock_));
  return {};
}

}  // namespace warpwright::cli
