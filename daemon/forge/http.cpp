#include "forge/http.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/pipe_signal.h"

namespace warpwright::forge {
namespace {

constexpr int kMaxRedirects = 3;
constexpr size_t kMaxHeaders = 200;

struct CloseEasy {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

std::string Part(const Url& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK || text == nullptr) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

struct Target {
  std::string scheme, host, port, path;
  std::string Origin() const { return scheme + "://" + host + ":" + port; }
  // For messages: without the query, which may be long, and without any part of the URL that may hold a secret.
  std::string Place() const { return host + path; }
};

bool IsLoopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

Result<Target> ParseTarget(const std::string& text) {
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK)
    return Fail(ErrorCode::kEnvironment, "not a URL", "use https://HOST/...");
  Target target{Part(url, CURLUPART_SCHEME), Part(url, CURLUPART_HOST), Part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT),
                Part(url, CURLUPART_PATH)};
  if (target.scheme != "https" && target.scheme != "http")
    return Fail(ErrorCode::kEnvironment, fmt::format("{}: only http and https are spoken", target.host),
                "use https://HOST/...");
  if (!Part(url, CURLUPART_USER).empty() || !Part(url, CURLUPART_PASSWORD).empty())
    return Fail(ErrorCode::kEnvironment, fmt::format("{}: a URL with a user or password", target.host),
                "give the token by itself");
  return target;
}

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// Filled in by the callbacks of one exchange.
struct Exchange {
  HttpResponse answer;
  size_t limit = 0;
  bool too_large = false;
  const std::function<bool()>* stopping = nullptr;
};

size_t OnBody(char* data, size_t, size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  if (exchange.answer.body.size() + size > exchange.limit) {
    exchange.too_large = true;
    return 0;
  }
  exchange.answer.body.append(data, size);
  return size;
}

size_t OnHeader(char* data, size_t, size_t size, void* context) {
  auto& headers = static_cast<Exchange*>(context)->answer.headers;
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // another answer begins: what stood before was "100 Continue" or a proxy's
    headers.clear();
    return size;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || headers.size() >= kMaxHeaders) return size;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : char(c); });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  headers[name] = std::string(value);
  return size;
}

int OnProgress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& exchange = *static_cast<Exchange*>(context);
  return *exchange.stopping && (*exchange.stopping)() ? 1 : 0;
}

tl::unexpected<Error> FailCurl(CURLcode code, const char* detail, const HttpRequest& request, const Target& target,
                               const Exchange& exchange) {
  std::string reason = *detail != '\0' ? detail : curl_easy_strerror(code);
  if (!request.bearer.empty())
    for (size_t at; (at = reason.find(request.bearer)) != std::string::npos;)
      reason.replace(at, request.bearer.size(), "[redacted]");
  const std::string what = fmt::format("{} {}: {}", request.method, target.Place(), reason);
  if (exchange.too_large)
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{} {}: an answer of more than {} bytes", request.method, target.Place(), exchange.limit));
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return Fail(ErrorCode::kTimeout, what, "is the server reachable from here, and is it slow?");
    case CURLE_ABORTED_BY_CALLBACK:
      return Fail(ErrorCode::kTimeout,
                  fmt::format("{} {}: broken off, since the program ends", request.method, target.Place()));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM:
      return Fail(ErrorCode::kEnvironment, what, "install the server's certificate authority on this machine");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT: return Fail(ErrorCode::kEnvironment, what, "use https://HOST/...");
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT: return Fail(ErrorCode::kIo, what, "check the address, the network and https_proxy");
    default: return Fail(ErrorCode::kIo, what);
  }
}

}  // namespace

struct CurlHttp::State {
  HttpOptions options;
  std::mutex mutex;  // one handle, one exchange at a time
  std::unique_ptr<CURL, CloseEasy> handle;

  Result<HttpResponse> SendOnce(const HttpRequest& request, const Target& target);
  void Prepare(const HttpRequest& request, const Target& target, Exchange& exchange);
};

CurlHttp::CurlHttp(std::unique_ptr<State> state) : state_(std::move(state)) {}
CurlHttp::~CurlHttp() = default;

Result<std::unique_ptr<CurlHttp>> CurlHttp::Create(HttpOptions options) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->handle.reset(curl_easy_init());
  if (initialised != CURLE_OK || !state->handle) return Fail(ErrorCode::kEnvironment, "libcurl does not start");
  if (HasControl(state->options.user_agent)) return Fail(ErrorCode::kConfig, "control characters in the user agent");
  return std::unique_ptr<CurlHttp>(new CurlHttp(std::move(state)));
}

// Options for every exchange, and those of this one. curl_easy_reset keeps the connections.
void CurlHttp::State::Prepare(const HttpRequest& request, const Target& target, Exchange& exchange) {
  CURL* curl = handle.get();
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
#endif
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, options.ca_file.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options.total_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, options.user_agent.c_str());
  if (IsLoopback(target.host)) curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &exchange);
  if (request.method != "GET") {
    // If a reused connection ends without a response, libcurl sends the request again on a new one, by itself and
    // whatever the method: a comment would be posted twice. On a fresh connection it does not.
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
  }
}

Result<HttpResponse> CurlHttp::State::SendOnce(const HttpRequest& request, const Target& target) {
  std::unique_ptr<curl_slist, FreeList> headers;
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
    if (longer != nullptr) (void)headers.release(), headers.reset(longer);
  };
  for (const auto& [name, value] : request.headers) add(name + ": " + value);
  if (!request.bearer.empty()) add("Authorization: Bearer " + request.bearer);
  if (request.method != "GET" && !request.body.empty()) add("Content-Type: application/json");
  add("Expect:");  // no waiting for "100 Continue"

  Exchange exchange;
  exchange.limit = options.max_answer_bytes;
  exchange.stopping = &options.stopping;
  char detail[CURL_ERROR_SIZE] = "";
  Prepare(request, target, exchange);
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, detail);
  const base::PipeSignalBlocked
      blocked;  // with NOSIGNAL, curl leaves SIGPIPE of a TLS write to a closed connection to us
  const CURLcode code = curl_easy_perform(handle.get());
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, nullptr);
  if (code != CURLE_OK) return FailCurl(code, detail, request, target, exchange);
  long status = 0;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  exchange.answer.status = static_cast<int>(status);
  return std::move(exchange.answer);
}

Result<HttpResponse> CurlHttp::Send(const HttpRequest& request) {
  HttpRequest step = request;
  WW_ASSIGN(Target target, ParseTarget(step.url));
  if (HasControl(request.bearer) || request.bearer.find(' ') != std::string::npos)
    return Fail(ErrorCode::kEnvironment, "the token holds spaces or control characters",
                "check the file that holds it: one line, nothing else");
  for (const auto& [name, value] : request.headers)
    if (HasControl(name) || HasControl(value)) return Fail(ErrorCode::kUsage, "control characters in a header");
  if (!request.bearer.empty() && target.scheme != "https" && !IsLoopback(target.host))
    return Fail(ErrorCode::kEnvironment, fmt::format("a token is not sent to {} over plain http", target.host),
                "use https://");
  const std::lock_guard lock(state_->mutex);
  for (int redirect = 0;; ++redirect) {
    WW_ASSIGN(HttpResponse answer, state_->SendOnce(step, target));
    const bool moved = answer.status == 301 || answer.status == 302 || answer.status == 303 || answer.status == 307 ||
                       answer.status == 308;
    const auto location = answer.headers.find("location");
    if (request.method != "GET" || !moved || location == answer.headers.end() || redirect == kMaxRedirects)
      return answer;
    const Url url(curl_url());
    if (!url || curl_url_set(url.get(), CURLUPART_URL, step.url.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK ||
        curl_url_set(url.get(), CURLUPART_URL, location->second.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK)
      return answer;
    const auto next = ParseTarget(Part(url, CURLUPART_URL));
    if (!next || next->Origin() != target.Origin()) return answer;  // the caller sees the 3xx
    step.url = Part(url, CURLUPART_URL);
    target = *next;
  }
}

}  // namespace warpwright::forge
