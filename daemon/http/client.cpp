#include "http/client.h"

#include <fmt/format.h>

#include <mutex>

#include "http/curl_transfer.h"

namespace warpwright::http {
namespace {

constexpr int kMaxRedirects = 3;

// What must not be sent, or not there.
Status CheckRequest(const ClientRequest& request, const Target& target) {
  if (HasControl(request.bearer) || request.bearer.find(' ') != std::string::npos)
    return Fail(ErrorCode::kEnvironment, "the token holds spaces or control characters",
                "check the file that holds it: one line, nothing else");
  for (const auto& [name, value] : request.secret_headers)
    if (HasControl(name) || HasControl(value))
      return Fail(ErrorCode::kEnvironment, fmt::format("control characters in the secret for {}", name),
                  "check the file that holds it: one line, nothing else");
  for (const auto& [name, value] : request.headers)
    if (HasControl(name) || HasControl(value)) return Fail(ErrorCode::kUsage, "control characters in a header");
  const bool secret = !request.bearer.empty() || !request.secret_headers.empty();
  if (secret && target.scheme != "https" && !target.IsLoopback())
    return Fail(ErrorCode::kEnvironment, fmt::format("a token is not sent to {} over plain http", target.host),
                "use https://");
  return {};
}

}  // namespace

struct CurlClient::State {
  ClientOptions options;
  Authorities authorities;
  std::mutex mutex;  // one handle, one exchange at a time
  CurlHandles handles;
};

CurlClient::CurlClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
CurlClient::~CurlClient() = default;

Result<std::unique_ptr<CurlClient>> CurlClient::Create(ClientOptions options) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->authorities = EnvironmentAuthorities();
  state->handles.multi.reset(curl_multi_init());
  state->handles.easy.reset(curl_easy_init());
  if (initialised != CURLE_OK || !state->handles.easy || !state->handles.multi)
    return Fail(ErrorCode::kEnvironment, "libcurl does not start");
  if (HasControl(state->options.user_agent)) return Fail(ErrorCode::kConfig, "control characters in the user agent");
  return std::unique_ptr<CurlClient>(new CurlClient(std::move(state)));
}

Result<ClientResponse> CurlClient::Send(const ClientRequest& request) {
  ClientRequest step = request;
  WW_ASSIGN(Target target, ParseTarget(step.url));
  WW_TRY(CheckRequest(request, target));
  const std::lock_guard lock(state_->mutex);
  for (int redirect = 0;; ++redirect) {
    WW_ASSIGN(ClientResponse answer, Transfer(state_->handles, state_->options, state_->authorities, step, target));
    const bool moved = answer.status == 301 || answer.status == 302 || answer.status == 303 || answer.status == 307 ||
                       answer.status == 308;
    const auto location = answer.headers.find("location");
    if (request.method != "GET" || !moved || location == answer.headers.end() || redirect == kMaxRedirects)
      return answer;
    std::string url = ResolveUrl(step.url, location->second);
    const auto next = ParseTarget(url);
    if (!next || next->Origin() != target.Origin()) return answer;  // the caller sees the 3xx
    step.url = std::move(url);
    target = *next;
  }
}

}  // namespace warpwright::http
