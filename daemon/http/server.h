// A small HTTP/1.1 server: libmicrohttpd, with requests answered by functions of values. One thread moves the bytes of
// all connections (epoll) and never blocks; handlers, which may wait for a disk, run in their own threads. A request
// that can be refused by its head is refused before a byte of its body is read.
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
  // If all are taken, or all of an address, its oldest unfinished request is dropped. Behind a proxy all have one
  // address.
  size_t max_connections = 512, max_connections_per_address = 256;
  size_t max_head_memory = 32u << 10;  // of one connection: the head as bytes and as values
  size_t max_body_bytes = 0;           // of one request
  size_t max_bodies_bytes = 0;  // of all that are being read or handled; the same is dropped for what does not fit
  size_t max_bodies_bytes_per_address = 0;             // 0: as all together
  size_t least_body_bytes_per_second = 4096;           // after its first second
  std::chrono::milliseconds head_deadline{5'000};      // from the start of the connection to the end of its first head
  std::chrono::milliseconds idle_deadline{15'000};     // from a response to the end of the next head
  std::chrono::milliseconds request_deadline{10'000};  // for the largest body; smaller ones get a part of it
  HttpHeaders headers;                                 // of every response
};
struct HttpServerHooks {
  // Called with the head only; a response refuses the request unread. Called by the thread that moves bytes: it must
  // not block.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> admit;
  // Called by several threads. If either function throws, the response is a 500.
  std::function<HttpResponse(const HttpRequest&)> answer;
  std::function<void(int status)> answered;
  std::function<void()> refused;  // a connection was dropped because a limit was reached
};

class HttpServer {
 public:
  // kEnvironment: the port is in use, or the host is not this machine's.
  static Result<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, HttpServerHooks hooks);
  ~HttpServer();  // as Stop
  int port() const;
  // Accepts no more connections, closes those that wait for a request, and returns when the requests in progress are
  // answered.
  void Stop();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::http
