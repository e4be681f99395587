// One HTTP exchange, as a port, and its implementation with libcurl. Certificates are always verified; only http and
// https are supported, and a token is never sent over plain http except to this machine itself. The token is sent in
// the Authorization header and nowhere else: no error repeats it, or the query of a URL. Our own layer over libcurl,
// since curlpp adds objects but none of these rules.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace warpwright::forge {

struct HttpRequest {
  std::string method = "GET";  // GET, POST, PATCH, PUT, DELETE
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // all but Authorization
  std::string bearer;                                        // token for "Authorization: Bearer"; empty: none
  std::string body;                                          // JSON; sent with POST, PATCH and PUT
};
struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; the last of repeated ones
  std::string body;
};

class Http {
 public:
  virtual ~Http() = default;
  // Any status is a value. kTimeout: no (complete) response in time, and it is unknown whether the request was served;
  // kIo: no connection, or one that broke (equally unknown); kCorrupt: a response over the size limit; kEnvironment:
  // TLS or the address is refused. May be called from several threads.
  virtual Result<HttpResponse> Send(const HttpRequest& request) = 0;
};

struct HttpOptions {
  std::string user_agent = "warpwright";  // "warpwright/<version>"
  std::filesystem::path ca_file;          // of an Enterprise server with its own CA; empty: the system's
  std::chrono::milliseconds connect_timeout{10'000}, total_timeout{30'000};
  size_t max_answer_bytes = 16u << 20;
  std::function<bool()> stopping;  // polled during an exchange; true aborts it
};

// Keeps its connection for the next GET; anything else is sent once, on a fresh connection. Requests of several threads
// are serialized. Follows redirects of a GET, at most three and only to the same scheme, host and port.
class CurlHttp final : public Http {
 public:
  static Result<std::unique_ptr<CurlHttp>> Create(HttpOptions options);
  ~CurlHttp() override;
  Result<HttpResponse> Send(const HttpRequest& request) override;

 private:
  struct State;
  explicit CurlHttp(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::forge
