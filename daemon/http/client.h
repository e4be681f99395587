// One HTTP exchange, as a port, and its implementation with libcurl. Certificates are always verified; only http and
// https are supported, and a secret is never sent over plain http except to this machine itself. Secrets are sent in
// their headers and nowhere else: no error repeats one, or the query of a URL. Proxies are those of the environment
// (https_proxy, no_proxy), and so are certificate authorities (CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR). Our own
// layer over libcurl, since curlpp adds objects but none of these rules.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace warpwright::http {

using ClientHeaders = std::vector<std::pair<std::string, std::string>>;

struct ClientRequest {
  std::string method = "GET";  // GET, POST, PATCH, PUT, DELETE
  std::string url;
  ClientHeaders headers;                       // without secrets
  std::string bearer;                          // token for "Authorization: Bearer"; empty: none
  std::string body;                            // JSON; sent with POST, PATCH and PUT
  ClientHeaders secret_headers;                // as "x-api-key"; treated as the bearer is
  std::chrono::milliseconds total_timeout{0};  // zero: the client's
  std::chrono::milliseconds stall_timeout{0};  // without a byte in either direction; zero: none
  // Receives the body of a 2xx piece by piece, instead of ClientResponse::body, which then stays empty. False: no more
  // is wanted. Called on the sender's thread.
  std::function<bool(std::string_view piece)> receive;
  // Called at the end if a part of the body left this machine: without it, nobody can have served the request.
  std::function<void()> sent;
};

// How a body ended that was being received piece by piece: what has come is in use already, so that a fault is a value.
enum class BodyEnd { kComplete, kUnwanted, kStalled, kTimedOut, kBroken, kTooLarge };

struct ClientResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; the last of repeated ones
  std::string body;
  BodyEnd end = BodyEnd::kComplete;  // another value only with `receive`
};

class Client {
 public:
  virtual ~Client() = default;
  // Any status is a value. kTimeout: no (complete) response in time, and it is unknown whether the request was served;
  // kIo: no connection, or one that broke (equally unknown); kCorrupt: a response over the size limit; kEnvironment:
  // TLS or the address is refused. May be called from several threads.
  virtual Result<ClientResponse> Send(const ClientRequest& request) = 0;
};

struct ClientOptions {
  std::string user_agent = "warpwright";  // "warpwright/<version>"
  std::filesystem::path ca_file;          // of a server with its own CA; empty: the environment's, else the system's
  std::chrono::milliseconds connect_timeout{10'000}, total_timeout{30'000};
  size_t max_answer_bytes = 16u << 20;
  std::function<bool()> stopping;  // polled during an exchange; true aborts it
};

// Keeps its connection for the next GET; anything else is sent once, on a fresh connection. Requests of several threads
// are serialized. Follows redirects of a GET, at most three and only to the same scheme, host and port.
class CurlClient final : public Client {
 public:
  static Result<std::unique_ptr<CurlClient>> Create(ClientOptions options);
  ~CurlClient() override;
  Result<ClientResponse> Send(const ClientRequest& request) override;

 private:
  struct State;
  explicit CurlClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::http
