// A small HTTP/1.1 server: the listener's connections, decoded by cpp-httplib, answered by functions of values. What cpp-httplib leaves open
// is closed here, before a byte of a body is read: bodies without a length, chunked or compressed ones, more than the limit, heads of any
// size, ranges, and requests that take for ever.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "service/http_listener.h"

namespace warpwright {

struct HttpRequest {
  std::string method, path;  // path: decoded, without the query
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;     // empty while it is admitted
  size_t content_length = 0;

  // The first header of this name, whatever its case; nothing where there is none.
  std::optional<std::string_view> Header(std::string_view name) const;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};
// {"error": reason}: reasons are constants of ours, never a piece of the request.
HttpAnswer ErrorAnswer(int status, std::string_view reason);

struct HttpServerOptions {
  HostPort address;
  int threads = 4;
  size_t max_body_bytes = 0;        // of one request
  size_t max_bodies_bytes = 0;      // of all that are being read at once; what does not fit is answered by 503
  std::chrono::milliseconds request_deadline{10'000};  // for the largest body; small ones must be there after a part of it
  std::vector<std::pair<std::string, std::string>> headers;  // of every answer
};
struct HttpServerHooks {
  // With the head only; an answer refuses the request unread. All hooks are called by several threads and may throw: that is a 500.
  std::function<std::optional<HttpAnswer>(const HttpRequest&)> admit;
  std::function<HttpAnswer(const HttpRequest&)> answer;
  std::function<void(int status)> answered;
  std::function<void()> refused;  // a connection was dropped because all places were taken
};

class HttpServer {
 public:
  // kEnvironment: the port is in use, the host is not ours.
  static Result<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, HttpServerHooks hooks);
  ~HttpServer();
  int port() const;
  void Stop();  // requests under way are answered first

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright
