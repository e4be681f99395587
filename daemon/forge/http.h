// One HTTP exchange, as a port, and its implementation with libcurl. Certificates are always verified; only http and
// https are spoken, and a token never goes over plain http except to this machine itself. The token travels in the
// Authorization header and nowhere else: no error repeats it, or the query of a URL. Own above libcurl, since curlpp
// adds objects but none of these rules.
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
  std::map<std::string, std::string> headers;  // names in lower case; of repeated ones the last
  std::string body;
};

class Http {
 public:
  virtual ~Http() = default;
  // Any status is a value. kTimeout: no (whole) answer in time, and it is not known whether the request was served;
  // kIo: no connection, or one that broke (the same doubt); kCorrupt: an answer over the size limit; kEnvironment: TLS
  // or the address is refused. May be called from several threads.
  virtual Result<HttpResponse> Send(const HttpRequest& request) = 0;
};

struct HttpOptions {
  std::string user_agent = "warpwright";  // "warpwright/<version>"
  std::filesystem::path ca_file;          // of an Enterprise server with its own authority; empty: the system's
  std::chrono::milliseconds connect_timeout{10'000}, total_timeout{30'000};
  size_t max_answer_bytes = 16u << 20;
  std::function<bool()> stopping;  // asked while an exchange goes on; true breaks it off
};

// Keeps its connection for the next GET; anything else is sent once, on a connection of its own. Requests of several
// threads go one after another. Follows redirects of a GET, at most three and only to the same scheme, host and port.
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
