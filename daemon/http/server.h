// A small HTTP/1.1 server: libmicrohttpd's, answered by functions of values. One thread moves the bytes of all
// connections (epoll) and waits for nobody; handlers, which may wait for a disk, have threads of their own. What can be
// refused by its head is refused before a byte of its body is read.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "http/address.h"
#include "http/message.h"

namespace warpwright::http {

struct HttpServerOptions {
  HostPort address{"127.0.0.1", 0};
  int threads = 4;  // for handlers
  // When all are taken the one that waits for its head the longest makes room.
  size_t max_connections = 512;
  // What is above is closed at once. 0: no limit, as behind a proxy, where all have one address.
  unsigned max_connections_per_address = 0;
  size_t max_head_memory = 32u << 10;  // of one connection: the head as bytes and as values
  size_t max_body_bytes = 0;           // of one request
  size_t max_bodies_bytes = 0;         // of all that are being read at once; what does not fit is answered by 503
  std::chrono::milliseconds head_deadline{5'000};      // from the connection's begin to the end of its first head
  std::chrono::milliseconds idle_deadline{15'000};     // from an answer to the end of the next head
  std::chrono::milliseconds request_deadline{10'000};  // for the largest body; small ones have a part of it
  HttpHeaders headers;                                 // of every answer
};
struct HttpServerHooks {
  // With the head only; an answer refuses the request unread. Called by the thread that moves bytes: it must not wait.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> admit;
  // Called by several threads. Both may throw: that is a 500.
  std::function<HttpResponse(const HttpRequest&)> answer;
  std::function<void(int status)> answered;
  std::function<void()> refused;  // a connection was dropped because all places were taken
};

class HttpServer {
 public:
  // kEnvironment: the port is in use, the host is not ours.
  static Result<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, HttpServerHooks hooks);
  ~HttpServer();  // as Stop
  int port() const;
  // Accepts nothing more, closes what waits, and returns when the requests under way are answered.
  void Stop();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::http
