#include "http/curl_transfer.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/pipe_signal.h"

namespace warpwright::http {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMaxHeaders = 200;
constexpr milliseconds kLongestWait{100};  // between two looks at `stopping`

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

std::string Part(const Url& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK || text == nullptr) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

enum class Ending { kByCurl, kStopping, kStalled, kTooLarge, kUnwanted };

// Filled in by the callbacks of one exchange.
struct Exchange {
  const ClientRequest& request;
  const ClientOptions& options;
  ClientResponse answer;
  Ending ending = Ending::kByCurl;
  bool head_complete = false;
  uint64_t body_bytes = 0;
  curl_off_t moved = 0;  // bytes in both directions
  SteadyClock::time_point last_moved = SteadyClock::now();

  bool Streams() const { return request.receive && answer.status >= 200 && answer.status < 300; }
};

size_t OnBody(char* data, size_t, size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  exchange.body_bytes += size;
  if (exchange.body_bytes > exchange.options.max_answer_bytes) {
    exchange.ending = Ending::kTooLarge;
    return 0;
  }
  if (!exchange.Streams()) {
    exchange.answer.body.append(data, size);
  } else if (!exchange.request.receive({data, size})) {
    exchange.ending = Ending::kUnwanted;
    return 0;
  }
  return size;
}

size_t OnHeader(char* data, size_t, size_t size, void* context) {
  auto& exchange = *static_cast<Exchange*>(context);
  auto& headers = exchange.answer.headers;
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // another answer begins: what stood before was "100 Continue" or a proxy's
    headers.clear();
    exchange.answer.status = 0;
    if (const size_t space = line.find(' '); space != line.npos)
      std::from_chars(line.data() + space + 1, line.data() + line.size(), exchange.answer.status);
    exchange.head_complete = false;
    return size;
  }
  if (line.empty()) exchange.head_complete = exchange.answer.status >= 200;
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

int OnProgress(void* context, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
  auto& exchange = *static_cast<Exchange*>(context);
  if (received + sent == exchange.moved) return 0;
  exchange.moved = received + sent;
  exchange.last_moved = SteadyClock::now();
  return 0;
}

std::string WithoutSecrets(std::string text, const ClientRequest& request) {
  const auto remove = [&](const std::string& secret) {
    if (secret.empty()) return;
    for (size_t at; (at = text.find(secret)) != std::string::npos;) text.replace(at, secret.size(), "[redacted]");
  };
  remove(request.bearer);
  for (const auto& header : request.secret_headers) remove(header.second);
  return text;
}

tl::unexpected<Error> FailCurl(CURLcode code, const char* detail, const Exchange& exchange, const Target& target) {
  const ClientRequest& request = exchange.request;
  const auto at_place = [&](std::string_view what) {
    return fmt::format("{} {}: {}", request.method, target.Endpoint(), what);
  };
  switch (exchange.ending) {
    case Ending::kStopping: return Fail(ErrorCode::kTimeout, at_place("broken off, since the program ends"));
    case Ending::kTooLarge:
      return Fail(ErrorCode::kCorrupt,
                  at_place(fmt::format("an answer of more than {} bytes", exchange.options.max_answer_bytes)));
    case Ending::kStalled:
      return Fail(ErrorCode::kTimeout, at_place(fmt::format("nothing came for {} ms", request.stall_timeout.count())),
                  "is the server reachable from here, and is it slow?");
    case Ending::kUnwanted:
    case Ending::kByCurl: break;
  }
  const std::string what =
      at_place(WithoutSecrets(*detail != '\0' ? std::string(detail) : curl_easy_strerror(code), request));
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return Fail(ErrorCode::kTimeout, what, "is the server reachable from here, and is it slow?");
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

BodyEnd EndOf(const Exchange& exchange, CURLcode code) {
  switch (exchange.ending) {
    case Ending::kStalled: return BodyEnd::kStalled;
    case Ending::kTooLarge: return BodyEnd::kTooLarge;
    case Ending::kUnwanted: return BodyEnd::kUnwanted;
    case Ending::kStopping:
    case Ending::kByCurl: break;
  }
  return code == CURLE_OK ? BodyEnd::kComplete
                          : (code == CURLE_OPERATION_TIMEDOUT ? BodyEnd::kTimedOut : BodyEnd::kBroken);
}

HeaderList HeadersOf(const ClientRequest& request) {
  HeaderList headers;
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
    if (longer != nullptr) (void)headers.release(), headers.reset(longer);
  };
  for (const auto& [name, value] : request.headers) add(name + ": " + value);
  for (const auto& [name, value] : request.secret_headers) add(name + ": " + value);
  if (!request.bearer.empty()) add("Authorization: Bearer " + request.bearer);
  if (request.method != "GET" && !request.body.empty()) add("Content-Type: application/json");
  add("Expect:");  // no waiting for "100 Continue"
  return headers;
}

void SetTrust(CURL* curl, const ClientOptions& options, const Authorities& authorities) {
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, options.ca_file.c_str());
    return;
  }
  if (!authorities.file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, authorities.file.c_str());
  if (!authorities.folder.empty()) curl_easy_setopt(curl, CURLOPT_CAPATH, authorities.folder.c_str());
}

// Options for every exchange, and those of this one. curl_easy_reset keeps the connections.
void Prepare(CURL* curl, const Authorities& authorities, const Target& target, Exchange& exchange) {
  const ClientRequest& request = exchange.request;
  const ClientOptions& options = exchange.options;
  const milliseconds total = request.total_timeout.count() > 0 ? request.total_timeout : options.total_timeout;
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
#endif
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  SetTrust(curl, options, authorities);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(total.count()));
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, options.user_agent.c_str());
  if (target.IsLoopback()) curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // what a proxy says to CONNECT is no answer
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

// Runs the prepared exchange to its end, or sets `ending` and breaks it off.
CURLcode Drive(const CurlHandles& handles, Exchange& exchange) {
  CURLM* const multi = handles.multi.get();
  if (curl_multi_add_handle(multi, handles.easy.get()) != CURLM_OK) return CURLE_FAILED_INIT;
  CURLcode code = CURLE_RECV_ERROR;
  for (int running = 1; curl_multi_perform(multi, &running) == CURLM_OK;) {
    if (running == 0) {
      int left = 0;
      if (const CURLMsg* message = curl_multi_info_read(multi, &left)) code = message->data.result;
      break;
    }
    milliseconds wait = kLongestWait;
    if (exchange.options.stopping && exchange.options.stopping()) {
      exchange.ending = Ending::kStopping;
      break;
    }
    if (exchange.request.stall_timeout.count() > 0) {
      const auto left = exchange.request.stall_timeout - (SteadyClock::now() - exchange.last_moved);
      if (left.count() <= 0) {
        exchange.ending = Ending::kStalled;
        break;
      }
      wait = std::min(wait, std::chrono::ceil<milliseconds>(left));
    }
    if (curl_multi_poll(multi, nullptr, 0, static_cast<int>(wait.count()), nullptr) != CURLM_OK) break;
  }
  curl_multi_remove_handle(multi, handles.easy.get());  // one that is not finished loses its connection
  return code;
}

}  // namespace

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool Target::IsLoopback() const {
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

std::string ResolveUrl(const std::string& from, const std::string& location) {
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, from.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK ||
      curl_url_set(url.get(), CURLUPART_URL, location.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK)
    return {};
  return Part(url, CURLUPART_URL);
}

Authorities EnvironmentAuthorities() {
  Authorities found;
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const char* value = std::getenv(name); value != nullptr && found.file.empty()) found.file = value;
  if (const char* folder = std::getenv("SSL_CERT_DIR")) found.folder = folder;
  return found;
}

Result<ClientResponse> Transfer(const CurlHandles& handles, const ClientOptions& options,
                                const Authorities& authorities, const ClientRequest& request, const Target& target) {
  const HeaderList headers = HeadersOf(request);
  Exchange exchange{.request = request, .options = options, .answer = {}};
  char detail[CURL_ERROR_SIZE] = "";
  CURL* const curl = handles.easy.get();
  Prepare(curl, authorities, target, exchange);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
  CURLcode code = CURLE_OK;
  {
    // With NOSIGNAL, curl leaves SIGPIPE of a TLS write to a closed connection to us.
    const base::PipeSignalBlocked blocked;
    code = Drive(handles, exchange);
  }
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  curl_off_t sent = 0;
  if (request.sent && curl_easy_getinfo(curl, CURLINFO_SIZE_UPLOAD_T, &sent) == CURLE_OK && sent > 0) request.sent();
  const bool begun = exchange.head_complete && exchange.Streams() && exchange.ending != Ending::kStopping;
  if (!begun && (code != CURLE_OK || exchange.ending != Ending::kByCurl))
    return FailCurl(code, detail, exchange, target);
  if (!exchange.head_complete)  // libcurl takes what there is of a head for all of it
    return Fail(ErrorCode::kIo,
                fmt::format("{} {}: the answer ends within its head", request.method, target.Endpoint()));
  exchange.answer.end = EndOf(exchange, code);
  return std::move(exchange.answer);
}

}  // namespace warpwright::http
