#include "cli/publish_pull_request.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "cli/serve.h"
#include "cli/session.h"
#include "cli/shards.h"
#include "cli/version.h"
#include "config/remote_text.h"
#include "forge/app_auth.h"
#include "forge/github_client.h"
#include "repo/remote.h"
#include "service/publisher.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

struct Shard {
  int index = 0, count = 0;
};
std::optional<Shard> ParseShard(const std::string& text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.index);
  if (first != std::errc() || slash == end || *slash != '/') return std::nullopt;
  const auto [stop, second] = std::from_chars(slash + 1, end, shard.count);
  if (second != std::errc() || stop != end || shard.count < 1 || shard.count > 1000 || shard.index < 1 || shard.index > shard.count) return std::nullopt;
  return shard;
}

// Where git is spoken on the host whose interface is at `api`.
std::string RemoteOf(const std::string& api, const RepositoryName& repository) {
  if (HostOf(api) == "api.github.com") return fmt::format("https://github.com/{}.git", repository.Full());
  return fmt::format("{}/{}.git", api.substr(0, api.find('/', api.find("://") + 3)), repository.Full());
}

// Tells the runner about each new token before it is used.
class MaskingTokens final : public TokenSource {
 public:
  MaskingTokens(std::shared_ptr<TokenSource> tokens, WorkflowCommands& commands) : tokens_(std::move(tokens)), commands_(commands) {}
  Result<std::string> Token(const RepositoryName& repository) override {
    auto token = tokens_->Token(repository);
    if (token && masked_.insert(Sha256(*token)).second) commands_.Mask(*token);
    return token;
  }
  void Reject(const RepositoryName& repository, const std::string& token) override { tokens_->Reject(repository, token); }
  Result<std::string> Login() override { return tokens_->Login(); }

 private:
  const std::shared_ptr<TokenSource> tokens_;
  WorkflowCommands& commands_;
  std::set<std::string> masked_;
};

class GithubPublisher final : public ResultPublisher {
 public:
  GithubPublisher(const PublicationOptions& options, PublishTo to) : options_(options), to_(to) {}

  Status Connect(Session& session, const Signature& author, WorkflowCommands& commands) {
    RemoteAddress address;
    address.url = options_.remote;
    if (!options_.repository.empty()) {
      WW_ASSIGN(repository_, RepositoryName::Parse(options_.repository));
      if (address.url.empty()) address.url = RemoteOf(options_.api, *repository_);
    }
    if (repository_) {
      WW_TRY(ConnectGithub(session, commands));
      const std::string host = HostOf(address.url), api_host = HostOf(options_.api);
      const auto kind = CheckRemoteUrl(address.url);
      if (kind && *kind == RemoteKind::kHttp && (host == api_host || "api." + host == api_host)) address.credential.token = TokenFor(tokens_, *repository_);
    }
    WW_TRY(OpenMirror(session, address, author));
    if (to_ == PublishTo::kPullRequest && options_.base_branch.empty()) {
      WW_ASSIGN(const std::string main, DefaultBranch(address));
      base_branch_ = main.substr(std::min(main.size(), std::string_view("refs/heads/").size()));
    } else {
      base_branch_ = options_.base_branch;
    }
    return {};
  }

  Status Publish(SaidResult& result) override {
    PublishRequest request;
    request.external_id = fmt::format("warpwright-{}-{}", result.kernel, result.base_commit.substr(0, 12));
    request.repository = repository_;
    request.to = to_;
    request.kernel = result.kernel;
    request.file = result.file;
    request.base_branch = base_branch_;
    request.base_commit = result.base_commit;
    request.branch = "warpwright/" + result.kernel;
    request.commit = result.commit;
    request.explanation = result.summary.explanation;
    request.provenance = result.summary.provenance;
    request.policy = Wanted(result.policy);
    request.asked_for = options_.asked_for;
    request.opened_today = opened_;
    if (forge_ && !result.commit.empty()) {
      WW_ASSIGN(const Refs refs, mirror_->Known());
      WW_ASSIGN(request.open_pull_requests, CountOpenPullRequests(refs, request.branch, *repository_, *forge_));
    }
    WW_ASSIGN(const Publication done, ::warpwright::Publish(request, *mirror_, to_ == PublishTo::kPullRequest ? forge_.get() : nullptr));
    result.disposition = Name(done.disposition);
    result.message = done.message;
    if (!done.pull_request) return {};
    const PublishedPullRequest& opened = *done.pull_request;
    result.pull_request = opened.view.number;
    result.head_sha = done.pushed;
    result.summary.pull_request_url = opened.view.url;
    result.summary.pull_request_operation = Name(opened.operation);
    if (opened.operation == Operation::kCreated) ++opened_;
    return {};
  }

 private:
  PullRequestPolicy Wanted(PullRequestPolicy policy) const {
    policy.draft |= options_.draft;
    if (!options_.labels.empty()) policy.labels = SplitList(options_.labels);
    if (!options_.reviewers.empty()) policy.reviewers = SplitList(options_.reviewers);
    if (options_.max_open >= 0) policy.max_open = std::min(policy.max_open, options_.max_open);
    return policy;
  }

  Status ConnectGithub(Session& session, WorkflowCommands& commands) {
    HttpOptions http;
    http.user_agent = std::string("warpwright/") + kVersion;
    WW_ASSIGN(http_, CurlHttp::Create(http));
    WW_ASSIGN(std::string secret, TakeFromEnvironment(options_.app_id.empty() ? options_.token_env : options_.app_key_env));
    commands.Mask(secret);
    const auto read = [secret]() -> Result<std::string> { return secret; };
    if (options_.app_id.empty()) {
      tokens_ = FixedToken(read);
    } else {
      AppOptions app;
      app.api = options_.api;
      app.app_id = options_.app_id;
      app.private_key = read;
      WW_ASSIGN(auto tokens, AppTokens(app, *http_, clock_));
      tokens_ = std::make_shared<MaskingTokens>(std::move(tokens), commands);
    }
    GithubOptions options;
    options.api = options_.api;
    options.cache = session.state() / "etags";
    options.notice = [](const std::string& text) { fmt::print(stderr, "warpwright: {}\n", text); };
    UseTokens(tokens_, options);
    WW_ASSIGN(forge_, GithubClient::Create(options, *http_, clock_));
    return {};
  }

  // A mirror that borrows the objects of the session's repository, so that only what is missing there is fetched.
  Status OpenMirror(Session& session, const RemoteAddress& address, const Signature& author) {
    if (session.repository().shallow())
      return Fail(ErrorCode::kEnvironment, "the history of this clone is cut off, and what is built on it cannot be pushed", "check out with fetch-depth: 0");
    const fs::path path = session.state() / "mirror.git";
    WW_TRY(Mirror::Open(path, address, author));
    WW_TRY(WriteFileAtomically(path / "objects/info/alternates", fs::absolute(session.repository().common_directory() / "objects").string() + "\n"));
    WW_ASSIGN(Mirror mirror, Mirror::Open(path, address, author));
    mirror_.emplace(std::move(mirror));
    WW_TRY(mirror_->Fetch());
    return {};
  }

  const PublicationOptions& options_;
  const PublishTo to_;
  const SystemClock clock_;
  std::optional<RepositoryName> repository_;
  std::string base_branch_;
  std::unique_ptr<CurlHttp> http_;
  std::shared_ptr<TokenSource> tokens_;
  std::unique_ptr<GithubClient> forge_;
  std::optional<Mirror> mirror_;
  int opened_ = 0;
};

}  // namespace

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    item.erase(0, item.find_first_not_of(" \t\r\n"));
    item.erase(item.find_last_not_of(" \t\r\n") + 1);
    if (!item.empty()) items.push_back(std::move(item));
    begin = end + 1;
  }
  return items;
}

std::vector<std::string> KernelsOfShard(const std::string& shard, const std::vector<std::string>& kernels) {
  const auto parsed = ParseShard(shard);
  if (!parsed) return kernels;
  return DealOut(kernels, parsed->count)[static_cast<size_t>(parsed->index - 1)];
}

Status CheckPublication(const PublicationOptions& options, const std::string& publish) {
  const auto usage = [](std::string message, std::string remedy) { return Fail(ErrorCode::kUsage, std::move(message), std::move(remedy)); };
  if (!options.shard.empty() && !ParseShard(options.shard)) return usage("'" + options.shard.substr(0, 40) + "' is no shard", "write --shard 2/8 for the second of eight");
  if (!options.repository.empty()) WW_TRY(RepositoryName::Parse(options.repository));
  if (Status good = CheckApiUrl(options.api); !good) return usage("--github-api: " + good.error().message, good.error().remedy);
  if (!options.remote.empty())
    if (const auto good = CheckRemoteUrl(options.remote); !good) return usage("--remote: " + good.error().message, good.error().remedy);
  if (!options.base_branch.empty())
    if (Status good = CheckBranchName(options.base_branch); !good) return usage("--base-branch: " + good.error().message, good.error().remedy);
  if (publish == "pull-request" && options.repository.empty()) return usage("--publish pull-request needs --github-repository", "write --github-repository owner/name");
  if (options.app_id.empty() != options.app_key_env.empty()) return usage("--app-id and --app-key-env belong together", "give both, or a token by --token-env");
  return {};
}

Result<std::unique_ptr<ResultPublisher>> ResultPublisher::Open(const PublicationOptions& options, PublishTo to, Session& session, const Signature& author,
                                                               WorkflowCommands& commands) {
  ::prctl(PR_SET_DUMPABLE, 0);  // the token stands in this process's memory
  auto publisher = std::make_unique<GithubPublisher>(options, to);
  WW_TRY(publisher->Connect(session, author, commands));
  return publisher;
}

}  // namespace warpwright
