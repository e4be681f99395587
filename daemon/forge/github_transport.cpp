#include "forge/github_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/json.h"
#include "base/random.h"
#include "base/redaction.h"
#include "base/utf8.h"
#include "forge/json_text.h"

namespace warpwright::forge {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMaxMessageCharacters = 300, kMaxErrorBytes = 1u << 20;

std::string PathAndQueryOf(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t slash = url.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  return slash == std::string_view::npos ? "/" : std::string(url.substr(slash, url.find('?') - slash));
}

std::string HostOf(std::string_view url) {
  const size_t start = url.find("://") + 3;
  return std::string(url.substr(start, url.find('/', start) - start));
}

std::string Header(const http::ClientResponse& answer, const char* name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? std::string() : found->second;
}

int64_t NumberOr(const std::string& text, int64_t fallback) {
  if (text.empty() || text.size() > 15 || text.find_first_not_of("0123456789") != std::string::npos) return fallback;
  return std::stoll(text);
}

// The URL with rel="next" in a Link header (RFC 8288, as GitHub writes it).
std::string NextOf(std::string_view link) {
  while (!link.empty()) {
    const size_t open = link.find('<'), close = link.find('>');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
    const std::string_view url = link.substr(open + 1, close - open - 1);
    link.remove_prefix(close + 1);
    const std::string_view parameters = link.substr(0, link.find('<'));
    if (parameters.find("rel=\"next\"") != std::string_view::npos) return std::string(url);
    link.remove_prefix(parameters.size());
  }
  return {};
}

std::string OneLine(std::string_view text) {
  return base::Redact(base::Clip(base::CleanText(text, 4 * kMaxMessageCharacters), kMaxMessageCharacters));
}

// "Validation Failed: No commits between main and warpwright/softmax".
std::string MessageOf(const std::string& body) {
  const auto answer = ParseForeignJson(body, kMaxErrorBytes);
  if (!answer) return "no reason given";
  std::string message = TextAt(*answer, {"message"});
  for (const auto& error : ItemsAt(*answer, {"errors"})) {
    std::string detail = error.is_string() ? error.get<std::string>() : TextAt(error, {"message"});
    if (detail.empty()) detail = TextAt(error, {"field"}) + " " + TextAt(error, {"code"});
    message += (message.empty() ? "" : ": ") + detail;
    if (message.size() > kMaxMessageCharacters) break;
  }
  return message.empty() ? "no reason given" : OneLine(message);
}

Error Stopped() { return Error{.code = ErrorCode::kTimeout, .message = "broken off, since the program ends"}; }

}  // namespace

std::string PercentEncoded(std::string_view text) {
  std::string encoded;
  for (const unsigned char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) encoded += static_cast<char>(c);
    else encoded += fmt::format("%{:02X}", c);
  }
  // A segment of nothing but dots would be a step upwards.
  return encoded == "." || encoded == ".." ? "%2E" + encoded.substr(1) : encoded;
}

GithubTransport::GithubTransport(GithubOptions options, http::Client& http, const base::Clock& clock)
    : options_(std::move(options)),
      http_(http),
      clock_(clock),
      host_(HostOf(options_.api)),
      limits_(options_.retry, clock, base::SecretSeed()) {}

Result<std::unique_ptr<GithubTransport>> GithubTransport::Create(const GithubOptions& options, http::Client& http,
                                                                 const base::Clock& clock) {
  GithubOptions copy = options;
  while (copy.api.ends_with('/')) copy.api.pop_back();
  const bool known = copy.api.starts_with("https://") || copy.api.starts_with("http://");
  if (!known || HostOf(copy.api).empty() || copy.api.find_first_of("?#@ \r\n") != std::string::npos)
    return Fail(ErrorCode::kConfig, "the address of the forge's interface is no http(s) URL",
                "use https://api.github.com or https://HOST/api/v3");
  if (!copy.token) return Fail(ErrorCode::kConfig, "no token for the forge", "configure github.token or github.app");
  std::unique_ptr<GithubTransport> transport(new GithubTransport(std::move(copy), http, clock));
  if (!options.cache.empty()) {
    WW_ASSIGN(transport->cache_, EtagCache::Open(options.cache, options.cache_bytes));
  }
  return transport;
}

RetryBudget GithubTransport::Begin() const {
  return {options_.retry.attempts, 0, clock_.Steady() + options_.retry.total};
}

Status GithubTransport::Wait(milliseconds time, const RetryBudget& patience, const Error& cause) {
  if (options_.stopping && options_.stopping()) return Fail(Stopped());
  if (time <= milliseconds{0}) return {};
  if (clock_.Steady() + time > patience.until) {
    Error error = cause;
    if (error.remedy.empty())
      error.remedy = fmt::format("try again in {} s", std::chrono::ceil<std::chrono::seconds>(time).count());
    return Fail(std::move(error));
  }
  if (options_.sleep) {
    options_.sleep(time);
  } else {
    const auto end = std::chrono::steady_clock::now() + time;
    for (auto now = std::chrono::steady_clock::now(); now < end && !(options_.stopping && options_.stopping());
         now = std::chrono::steady_clock::now())
      std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(end - now, milliseconds(100)));
  }
  if (options_.stopping && options_.stopping()) return Fail(Stopped());
  return {};
}

Status GithubTransport::WaitAfterFailure(RetryBudget& patience, const Error& cause) {
  if (--patience.attempts_left <= 0) return Fail(cause);
  return Wait(limits_.Backoff(++patience.failures), patience, cause);
}

http::ClientRequest GithubTransport::MakeRequest(const std::string& method, const std::string& url) const {
  http::ClientRequest request;
  request.method = method;
  request.url = url.starts_with('/') ? options_.api + url : url;
  request.headers = {{"Accept", "application/vnd.github+json"}, {"X-GitHub-Api-Version", "2022-11-28"}};
  return request;
}

Result<http::ClientResponse> GithubTransport::SendAuthorized(const RepositoryName& repository,
                                                             http::ClientRequest& request) {
  WW_ASSIGN(request.bearer, options_.token(repository));
  auto answer = http_.Send(request);
  if (!answer || answer->status != 401 || !options_.token_rejected) return answer;
  options_.token_rejected(repository, request.bearer);
  WW_ASSIGN(const std::string renewed, options_.token(repository));
  if (renewed == request.bearer) return answer;
  request.bearer = renewed;
  return http_.Send(request);
}

void GithubTransport::Report(const http::ClientRequest& request, const http::ClientResponse* answer,
                             bool limited) const {
  if (!options_.observe) return;
  GithubCall call;
  call.method = request.method;
  call.limited = limited;
  if (answer != nullptr) {
    call.status = answer->status;
    call.from_cache = answer->status == 304;
    call.remaining = NumberOr(Header(*answer, "x-ratelimit-remaining"), -1);
    call.limit = NumberOr(Header(*answer, "x-ratelimit-limit"), -1);
  }
  options_.observe(call);
}

Result<std::optional<http::ClientResponse>> GithubTransport::Exchange(const RepositoryName& repository,
                                                                      http::ClientRequest request,
                                                                      RetryBudget& patience) {
  const bool write = request.method != "GET";
  const std::string what = fmt::format("{} {}", request.method, PathAndQueryOf(request.url));
  Error limit{.code = ErrorCode::kIo, .message = what + ": GitHub's rate limit"};
  while (true) {
    WW_TRY(Wait(limits_.Reserve(host_, repository.owner, write), patience, limit));
    auto answer = SendAuthorized(repository, request);
    if (write) limits_.WriteEnded(host_);
    const auto limited = answer ? limits_.Observe(host_, repository.owner, *answer) : std::nullopt;
    Report(request, answer ? &*answer : nullptr, limited.has_value());
    if (!answer) {
      const bool passing = answer.error().code == ErrorCode::kTimeout || answer.error().code == ErrorCode::kIo;
      if (!passing) return Fail(answer.error());
      WW_TRY(WaitAfterFailure(patience, answer.error()));
      return std::nullopt;
    }
    if (limited) {  // nothing was done; the next Reserve returns the wait
      if (--patience.attempts_left <= 0) return Fail(limit);
      continue;
    }
    if (answer->status < 500 && answer->status != 408) return std::optional<http::ClientResponse>(std::move(*answer));
    const GithubResponse taken = Take(std::move(*answer));
    WW_TRY(WaitAfterFailure(patience, Refusal(taken, what)));
    return std::nullopt;
  }
}

GithubResponse GithubTransport::Take(http::ClientResponse answer) const {
  GithubResponse taken;
  taken.status = answer.status;
  taken.next = NextOf(Header(answer, "link"));
  taken.request_id = OneLine(Header(answer, "x-github-request-id"));
  taken.body = std::move(answer.body);
  return taken;
}

Result<GithubResponse> GithubTransport::Get(const RepositoryName& repository, const std::string& path,
                                            RetryBudget& patience) {
  http::ClientRequest request = MakeRequest("GET", path);
  auto kept = cache_ ? cache_->Find(request.url) : std::nullopt;
  if (kept) request.headers.emplace_back("If-None-Match", kept->etag);
  while (true) {
    WW_ASSIGN(auto answer, Exchange(repository, request, patience));
    if (!answer) continue;
    if (answer->status == 304 && kept) {
      GithubResponse taken = Take(std::move(*answer));
      taken.status = 200;
      taken.from_cache = true;
      taken.next = NextOf(kept->link);
      taken.body = std::move(kept->body);
      return taken;
    }
    const std::string etag = Header(*answer, "etag");
    // Failing to write the cache must not fail the request.
    if (cache_ && answer->status == 200 && !etag.empty())
      (void)cache_->Store(request.url, {etag, Header(*answer, "link"), answer->body});
    return Take(std::move(*answer));
  }
}

Status GithubTransport::GetPages(const RepositoryName& repository, const std::string& path, int max_pages,
                                 RetryBudget& patience,
                                 const std::function<Result<bool>(const std::string& body)>& visit, int* refused_with) {
  std::string url = options_.api + path;
  for (int page = 0; page < max_pages && !url.empty(); ++page) {
    WW_ASSIGN(const GithubResponse answer, Get(repository, url, patience));
    if (answer.status != 200) {
      if (refused_with != nullptr) *refused_with = answer.status;
      return Fail(Refusal(answer, fmt::format("GET {}", PathAndQueryOf(url))));
    }
    WW_ASSIGN(const bool more, visit(answer.body));
    if (!more) return {};
    // The token is sent along: only to the same API.
    if (!answer.next.empty() && !answer.next.starts_with(options_.api + "/"))
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("GET {}: the next page is said to be on another server", PathAndQueryOf(url)),
                  "configure github.api with the address that the server calls its own");
    url = answer.next;
  }
  return {};
}

Result<GithubWrite> GithubTransport::Write(const RepositoryName& repository, const std::string& method,
                                           const std::string& path, const nlohmann::json& body, RetryBudget& patience) {
  http::ClientRequest request = MakeRequest(method, path);
  request.body = base::DumpJson(body);
  WW_ASSIGN(auto answer, Exchange(repository, request, patience));
  if (!answer) return GithubWrite{true, {}};
  return GithubWrite{false, Take(std::move(*answer))};
}

Error GithubTransport::Refusal(const GithubResponse& answer, std::string_view what) const {
  const std::string id = answer.request_id.empty() ? "" : fmt::format(" (request {})", answer.request_id);
  Error error;
  error.message = fmt::format("{}: GitHub answered {}: {}{}", what, answer.status, MessageOf(answer.body), id);
  switch (answer.status) {
    case 401:
      error.code = ErrorCode::kEnvironment;
      error.remedy = "the token is wrong or expired, or for an App, this machine's clock is wrong";
      break;
    case 403:
      error.code = ErrorCode::kEnvironment;
      error.remedy =
          "give the token or App write access to contents, pull requests, checks and issues of this repository";
      break;
    case 404:
      error.code = ErrorCode::kEnvironment;
      error.remedy = "check the repository's name; a token that may not see a private repository gets this answer too";
      break;
    case 301:
    case 302:
    case 307:
    case 308:
      error.code = ErrorCode::kEnvironment;
      error.remedy = "the repository was renamed or moved: configure its present URL";
      break;
    default: error.code = answer.status >= 500 || answer.status == 408 ? ErrorCode::kIo : ErrorCode::kUnsupported;
  }
  return error;
}

}  // namespace warpwright::forge
