#include "http/server.h"

#include <microhttpd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <utility>

#include "base/log.h"
#include "http/connections.h"
#include "http/handler_threads.h"

namespace warpwright::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Phase = Connections::Phase;

constexpr milliseconds kWriteDeadline{10'000};
constexpr int kMaxRequestsPerConnection = 1000;
constexpr size_t kBodyBytesPerMillisecond = 3u << 10;  // a forge is never slower than 3 MiB/s
constexpr unsigned kPlacesBeingClosed = 64;            // connections that were dropped, until the loop has closed them

struct StopDaemon {
  void operator()(MHD_Daemon* daemon) const { ::MHD_stop_daemon(daemon); }
};
using DaemonHandle = std::unique_ptr<MHD_Daemon, StopDaemon>;
struct DestroyResponse {
  void operator()(MHD_Response* response) const { ::MHD_destroy_response(response); }
};
using ResponseHandle = std::unique_ptr<MHD_Response, DestroyResponse>;

// What a connection keeps between requests.
struct Session {
  int fd = -1;
  int requests = 0;
};
Session& SessionOf(MHD_Connection* connection) {
  const auto* info = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return *static_cast<Session*>(info->socket_context);
}

// One request in progress. While a handler works on it, the connection is suspended, and no other thread touches this.
struct Exchange {
  HttpRequest request;
  std::string body;
  bool handled = false;
  HttpResponse answer;  // lives until it is sent
};

MHD_Result AddHeader(void* headers, MHD_ValueKind, const char* key, size_t key_size, const char* value,
                     size_t value_size) {
  auto& all = *static_cast<HttpHeaders*>(headers);
  all.emplace_back(std::string_view(key, key_size), std::string_view(value, value_size));
  return MHD_YES;
}

// A path is a C string from here on; a NUL would truncate it and so change its meaning.
size_t Unescape(void*, MHD_Connection*, char* text) {
  const size_t size = ::MHD_http_unescape(text);
  std::replace(text, text + size, '\0', '?');
  return size;
}

HttpResponse Failed(const HttpRequest& request, const std::exception& bug) {
  base::Log(base::LogLevel::kError, "http_handler_failed", bug.what(), {{"path", request.path.substr(0, 100)}});
  return ErrorResponse(500, "internal error; the daemon's log says more");
}

}  // namespace

struct HttpServer::State {
  State(HttpServerOptions o, HttpServerHooks h)
      : options(std::move(o)),
        hooks(std::move(h)),
        connections({.connections = options.max_connections,
                     .connections_per_address = options.max_connections_per_address,
                     .body_bytes = options.max_bodies_bytes,
                     .body_bytes_per_address = options.max_bodies_bytes_per_address,
                     .least_bytes_per_second = options.least_body_bytes_per_second},
                    hooks.refused),
        threads(std::in_place, options.threads) {}

  HttpServerOptions options;
  HttpServerHooks hooks;
  int port = 0;
  std::atomic<bool> stopping = false;
  Connections connections;
  std::optional<HandlerThreads> threads;
  DaemonHandle daemon;

  Status Listen();
  std::optional<HttpResponse> AskHook(const HttpRequest& head) const;
  HttpResponse Answer(const HttpRequest& request) const;
  std::optional<HttpResponse> Admit(Exchange& exchange, std::string_view version);
  MHD_Result Begin(MHD_Connection* connection, Exchange& exchange, std::string_view version);
  MHD_Result Handle(MHD_Connection* connection, Exchange& exchange);
  MHD_Result Send(MHD_Connection* connection, const HttpResponse& answer, bool close);

  // The callbacks of libmicrohttpd; the closure is the State.
  static MHD_Result Access(void* self, MHD_Connection* connection, const char* url, const char* method,
                           const char* version, const char* data, size_t* size, void** context);
  static void Completed(void* self, MHD_Connection* connection, void** context, MHD_RequestTerminationCode);
  static void Notified(void* self, MHD_Connection* connection, void** context, MHD_ConnectionNotificationCode what);
};

Status HttpServer::State::Listen() {
  WW_ASSIGN(base::Fd listening, warpwright::http::Listen(options.address));
  WW_ASSIGN(port, PortOf(listening));
  daemon.reset(::MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, &State::Access, this,
      MHD_OPTION_LISTEN_SOCKET, listening.get(), MHD_OPTION_CONNECTION_MEMORY_LIMIT, options.max_head_memory,
      MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(options.max_connections) + kPlacesBeingClosed,
      MHD_OPTION_UNESCAPE_CALLBACK, &Unescape, nullptr, MHD_OPTION_NOTIFY_COMPLETED, &State::Completed, this,
      MHD_OPTION_NOTIFY_CONNECTION, &State::Notified, this, MHD_OPTION_END));
  if (!daemon) return FailErrno("start the HTTP server");
  (void)listening.release();  // owned by the daemon until it is quiesced
  return {};
}

std::optional<HttpResponse> HttpServer::State::AskHook(const HttpRequest& head) const {
  try {
    return hooks.admit(head);
  } catch (const std::exception& bug) {
    return Failed(head, bug);
  }
}

HttpResponse HttpServer::State::Answer(const HttpRequest& request) const {
  try {
    return hooks.answer(request);
  } catch (const std::exception& bug) {
    return Failed(request, bug);
  }
}

std::optional<HttpResponse> HttpServer::State::Admit(Exchange& exchange, std::string_view version) {
  HttpRequest& request = exchange.request;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return ErrorResponse(400, "this is not HTTP/1.1");
  if (request.method != "GET" && request.method != "POST") return ErrorResponse(405, "method not allowed");
  BodyLength length = AnnouncedLength(request, options.max_body_bytes);
  if (length.refusal) return std::move(length.refusal);
  request.content_length = length.bytes;
  if (auto refusal = AskHook(request)) return refusal;
  if (length.bytes > 0 && !connections.HasRoomFor(length.bytes)) {
    HttpResponse busy = ErrorResponse(503, "too much is being received at once");
    busy.headers.emplace_back("Retry-After", "5");
    return busy;
  }
  return std::nullopt;
}

MHD_Result HttpServer::State::Begin(MHD_Connection* connection, Exchange& exchange, std::string_view version) {
  ::MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &AddHeader, &exchange.request.headers);
  Session& session = SessionOf(connection);
  ++session.requests;
  if (auto refusal = Admit(exchange, version)) {
    exchange.answer = std::move(*refusal);
    connections.Linger(session.fd);
    return Send(connection, exchange.answer, true);
  }
  const milliseconds part(exchange.request.content_length / kBodyBytesPerMillisecond);
  const milliseconds time = std::min(options.request_deadline, options.request_deadline / 5 + part);
  connections.Enter(session.fd, Phase::kReceiving, steady_clock::now() + time);
  return MHD_YES;
}

// Called when the body is complete, and again when the handler is done.
MHD_Result HttpServer::State::Handle(MHD_Connection* connection, Exchange& exchange) {
  const Session& session = SessionOf(connection);
  if (exchange.handled)
    return Send(connection, exchange.answer, session.requests >= kMaxRequestsPerConnection || stopping);
  connections.Enter(session.fd, Phase::kHandled, {});
  ::MHD_suspend_connection(connection);
  threads->Do([this, connection, &exchange] {
    exchange.request.body = exchange.body;
    exchange.answer = Answer(exchange.request);
    exchange.handled = true;
    ::MHD_resume_connection(connection);
  });
  return MHD_YES;
}

MHD_Result HttpServer::State::Send(MHD_Connection* connection, const HttpResponse& answer, bool close) {
  const bool empty = answer.status == 204;
  const size_t size = empty ? 0 : answer.body.size();
  char* const bytes = const_cast<char*>(answer.body.data());  // the library only reads it
  const ResponseHandle response(::MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_PERSISTENT));
  if (!response) return MHD_NO;
  const auto add = [&](const std::string& name, const std::string& value) {
    ::MHD_add_response_header(response.get(), name.c_str(), value.c_str());
  };
  for (const auto& [name, value] : options.headers) add(name, value);
  for (const auto& [name, value] : answer.headers) add(name, value);
  if (!empty) add("Content-Type", answer.type);
  if (close) add("Connection", "close");
  connections.Enter(SessionOf(connection).fd, Phase::kAnswering, steady_clock::now() + kWriteDeadline);
  hooks.answered(answer.status);
  return ::MHD_queue_response(connection, static_cast<unsigned>(answer.status), response.get());
}

MHD_Result HttpServer::State::Access(void* self, MHD_Connection* connection, const char* url, const char* method,
                                     const char* version, const char* data, size_t* size, void** context) try {
  State& state = *static_cast<State*>(self);
  if (*context == nullptr) {
    auto begun = std::make_unique<Exchange>();
    begun->request.method = std::string_view(method) == "HEAD" ? "GET" : method;
    begun->request.path = url;
    *context = begun.get();
    return state.Begin(connection, *begun.release(), version);  // Completed ends it
  }
  Exchange& exchange = *static_cast<Exchange*>(*context);
  if (*size == 0) return state.Handle(connection, exchange);
  state.connections.Received(SessionOf(connection).fd, *size);
  exchange.body.append(data, std::exchange(*size, 0));
  return MHD_YES;
} catch (const std::exception& bug) {  // out of memory, say; nothing may be thrown through the library
  base::Log(base::LogLevel::kError, "http_connection_failed", bug.what());
  return MHD_NO;
}

void HttpServer::State::Completed(void* self, MHD_Connection* connection, void** context, MHD_RequestTerminationCode) {
  State& state = *static_cast<State*>(self);
  const std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(std::exchange(*context, nullptr)));
  if (!exchange) return;
  state.connections.Answered(SessionOf(connection).fd);
  state.connections.Enter(SessionOf(connection).fd, Phase::kWaiting, steady_clock::now() + state.options.idle_deadline);
}

void HttpServer::State::Notified(void* self, MHD_Connection* connection, void** context,
                                 MHD_ConnectionNotificationCode what) {
  State& state = *static_cast<State*>(self);
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    const int fd = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    *context = new Session{.fd = fd};
    const auto* peer = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    state.connections.Opened(fd, SenderOf(peer->client_addr), steady_clock::now() + state.options.head_deadline);
  } else {
    const std::unique_ptr<Session> session(static_cast<Session*>(std::exchange(*context, nullptr)));
    state.connections.Closed(session->fd);  // the library closes it after this call
  }
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() { Stop(); }
int HttpServer::port() const { return state_->port; }

void HttpServer::Stop() {
  State& s = *state_;
  if (s.stopping.exchange(true) || !s.daemon) return;  // responses announce that the connection closes
  base::Fd(::MHD_quiesce_daemon(s.daemon.get())).Close();
  s.connections.CloseWaiting();
  s.connections.WaitUntilAllAnswered();
  s.threads.reset();
  s.daemon.reset();
}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options, HttpServerHooks hooks) {
  auto state = std::make_unique<State>(std::move(options), std::move(hooks));
  WW_TRY(state->Listen());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

}  // namespace warpwright::http
