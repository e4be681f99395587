#include "service/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <exception>
#include <limits>
#include <variant>

#include "base/log.h"

namespace warpwright {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kMaxHeadBytes = 16u << 10;
constexpr int kMaxRequestsPerConnection = 1000;
constexpr milliseconds kWriteDeadline{10'000};
constexpr size_t kBodyBytesPerMillisecond = 3u << 10;  // slower than 3 MiB a second is no forge

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

// What cpp-httplib reads from: a non-blocking socket, so many bytes and so long as it has been allowed.
class BoundedStream final : public httplib::Stream {
 public:
  explicit BoundedStream(int fd) : fd_(fd) {}

  void Allow(size_t bytes, milliseconds time) {
    bytes_ = bytes;
    deadline_ = steady_clock::now() + time;
  }
  bool buffered() const { return begin_ < end_; }
  bool cut_off() const { return cut_off_; }  // by a limit, not by the other side

  bool is_readable() const override { return buffered() || Poll(POLLIN, steady_clock::now()); }
  bool is_writable() const override { return Poll(POLLOUT, steady_clock::now()); }

  ssize_t read(char* to, size_t size) override {
    if (bytes_ == 0) {
      cut_off_ = true;
      return -1;
    }
    size = std::min(size, bytes_);
    if (!buffered() && size >= buffer_.size()) return Count(Receive(to, size));
    if (!buffered()) {
      const ssize_t count = Receive(buffer_.data(), buffer_.size());
      if (count <= 0) return count;
      begin_ = 0;
      end_ = static_cast<size_t>(count);
    }
    const size_t count = std::min(size, end_ - begin_);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), count, to);
    begin_ += count;
    return Count(static_cast<ssize_t>(count));
  }

  ssize_t write(const char* from, size_t size) override {
    const auto deadline = steady_clock::now() + kWriteDeadline;
    size_t done = 0;
    while (done < size) {
      const ssize_t count = ::send(fd_, from + done, size - done, MSG_NOSIGNAL);
      if (count > 0) {
        done += static_cast<size_t>(count);
      } else if (errno != EINTR && (errno != EAGAIN || !Poll(POLLOUT, deadline))) {
        return -1;
      }
    }
    return static_cast<ssize_t>(done);
  }

  void get_remote_ip_and_port(std::string&, int&) const override {}  // behind a proxy it says nothing; we do not use it
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return fd_; }

 private:
  ssize_t Count(ssize_t count) {
    if (count > 0) bytes_ -= static_cast<size_t>(count);
    return count;
  }
  bool Poll(short events, steady_clock::time_point deadline) const {
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
      pollfd entry{fd_, events, 0};
      const int count = ::poll(&entry, 1, static_cast<int>(std::clamp<int64_t>(left, 0, std::numeric_limits<int>::max())));
      if (count > 0) return true;
      if (count == 0 || errno != EINTR) return false;
    }
  }
  ssize_t Receive(char* to, size_t size) {
    while (true) {
      if (steady_clock::now() >= deadline_) {  // also for those who send a byte now and then
        cut_off_ = true;
        return -1;
      }
      const ssize_t count = ::recv(fd_, to, size, 0);
      if (count >= 0) return count;
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return -1;
      if (!Poll(POLLIN, deadline_)) {
        cut_off_ = true;
        return -1;
      }
    }
  }

  int fd_;
  size_t bytes_ = 0;
  steady_clock::time_point deadline_;
  bool cut_off_ = false;
  std::array<char, 8192> buffer_;
  size_t begin_ = 0, end_ = 0;
};

// Opens what cpp-httplib keeps for its own listeners.
class Decoder final : public httplib::Server {
 public:
  bool Process(httplib::Stream& stream, bool close, bool& closed, const std::function<void(httplib::Request&)>& head) {
    return process_request(stream, close, closed, head);
  }
};

// One request on its way through cpp-httplib, whose handlers are not told which connection they work for.
struct Exchange {
  HttpRequest request;
  std::optional<HttpAnswer> refusal;
  int status = 0;
};
thread_local Exchange* current = nullptr;

// The length that the head announces, or why it is refused.
std::variant<size_t, HttpAnswer> ContentLength(const httplib::Request& request, size_t limit) {
  if (request.has_header("Transfer-Encoding")) return ErrorAnswer(411, "send a Content-Length; other transfer encodings are not taken");
  if (request.has_header("Content-Encoding") && !SameIgnoringCase(request.get_header_value("Content-Encoding"), "identity"))
    return ErrorAnswer(415, "the body must not be compressed");
  const size_t count = request.get_header_value_count("Content-Length");
  if (count > 1) return ErrorAnswer(400, "more than one Content-Length");
  if (count == 0) return request.method == "POST" ? std::variant<size_t, HttpAnswer>(ErrorAnswer(411, "send a Content-Length")) : size_t{0};
  const std::string text = request.get_header_value("Content-Length");
  size_t length = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || end != text.data() + text.size()) return ErrorAnswer(400, "Content-Length is no number");
  if (code == std::errc::result_out_of_range || length > limit) return ErrorAnswer(413, fmt::format("a body may have {} bytes", limit));
  return length;
}

void SetHeader(httplib::Request& request, const std::string& name, const std::string& value) {
  request.headers.erase(name);
  request.set_header(name, value);
}

}  // namespace

std::optional<std::string_view> HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (SameIgnoringCase(key, name)) return value;
  return std::nullopt;
}

HttpAnswer ErrorAnswer(int status, std::string_view reason) {
  return {status, "application/json", fmt::format("{{\"error\":\"{}\"}}\n", reason), {}};
}

struct HttpServer::State {
  HttpServerOptions options;
  HttpServerHooks hooks;
  Decoder decoder;
  std::atomic<size_t> bodies = 0;  // bytes announced by requests that are being read
  std::atomic<bool> stopping = false;
  std::unique_ptr<HttpListener> listener;

  void Put(httplib::Response& response, const HttpAnswer& answer) const {
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    if (answer.status != 204) response.set_content(answer.body, answer.type);
  }

  HttpAnswer Answer(const HttpRequest& request) const {
    try {
      return hooks.answer(request);
    } catch (const std::exception& bug) {
      Log(LogLevel::kError, "http_handler_failed", bug.what(), {{"path", request.path.substr(0, 100)}});
      return ErrorAnswer(500, "internal error; the daemon's log says more");
    }
  }

  void SetUpDecoder() {
    decoder.set_pre_routing_handler([this](const httplib::Request&, httplib::Response& response) {
      if (current->refusal) {
        Put(response, *current->refusal);
      } else if (current->request.method == "POST") {
        return httplib::Server::HandlerResponse::Unhandled;  // its body is read first
      } else {
        Put(response, Answer(current->request));
      }
      return httplib::Server::HandlerResponse::Handled;
    });
    decoder.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
      current->request.body = request.body;
      Put(response, Answer(current->request));
      current->request.body = {};
    });
    decoder.set_expect_100_continue_handler([this](const httplib::Request&, httplib::Response& response) {
      if (!current->refusal) return 100;
      Put(response, *current->refusal);
      return response.status;
    });
    decoder.set_logger([](const httplib::Request&, const httplib::Response& response) { current->status = response.status; });
    decoder.set_keep_alive_timeout(15);  // as the listener's; only told to the client
    decoder.set_keep_alive_max_count(kMaxRequestsPerConnection);
    decoder.set_payload_max_length(options.max_body_bytes);
    httplib::Headers headers;
    for (const auto& header : options.headers) headers.insert(header);
    decoder.set_default_headers(headers);
  }

  std::optional<HttpAnswer> AskHook(const std::string& method, const HttpRequest& request) const {
    if (method != "HEAD" && method != "GET" && method != "POST") return ErrorAnswer(405, "method not allowed");
    try {
      return hooks.admit(request);
    } catch (const std::exception& bug) {
      Log(LogLevel::kError, "http_handler_failed", bug.what(), {{"path", request.path.substr(0, 100)}});
      return ErrorAnswer(500, "internal error; the daemon's log says more");
    }
  }

  // Decides by the head alone. What is refused must not be read, so its connection ends.
  void Admit(httplib::Request& raw, Exchange& exchange, BoundedStream& stream) {
    exchange.request.method = raw.method == "HEAD" ? "GET" : raw.method;
    exchange.request.path = raw.path;
    for (const auto& [name, value] : raw.headers) exchange.request.headers.emplace_back(name, value);
    raw.ranges.clear();  // a thousand overlapping ones would be a thousand pages
    raw.headers.erase("Range");
    auto length = ContentLength(raw, options.max_body_bytes);
    if (auto* refusal = std::get_if<HttpAnswer>(&length)) {
      exchange.refusal = std::move(*refusal);
    } else {
      exchange.request.content_length = std::get<size_t>(length);
      exchange.refusal = AskHook(raw.method, exchange.request);
    }
    if (!exchange.refusal && bodies.fetch_add(exchange.request.content_length) + exchange.request.content_length > options.max_bodies_bytes &&
        exchange.request.content_length > 0) {
      bodies -= exchange.request.content_length;
      exchange.refusal = ErrorAnswer(503, "too much is being received at once");
      exchange.refusal->headers.emplace_back("Retry-After", "5");
    }
    if (exchange.refusal) {
      exchange.request.content_length = 0;
      SetHeader(raw, "Connection", "close");
      return;
    }
    const milliseconds time = std::min(options.request_deadline, options.request_deadline / 5 + milliseconds(exchange.request.content_length / kBodyBytesPerMillisecond));
    stream.Allow(exchange.request.content_length, time);
  }

  HttpListener::Next Serve(int fd) {
    BoundedStream stream(fd);
    for (int count = 1;; ++count) {
      Exchange exchange;
      current = &exchange;
      stream.Allow(kMaxHeadBytes, options.request_deadline / 5);
      bool closed = false;
      const bool last = count >= kMaxRequestsPerConnection || stopping;
      const bool good = decoder.Process(stream, last, closed, [&](httplib::Request& request) { Admit(request, exchange, stream); });
      current = nullptr;
      bodies -= exchange.request.content_length;
      if (exchange.status != 0) hooks.answered(exchange.status);
      if (exchange.refusal || stream.cut_off()) return HttpListener::Next::kDrain;
      if (!good || closed || last) return HttpListener::Next::kClose;
      if (!stream.buffered()) return HttpListener::Next::kKeep;
    }
  }

  HttpListener::Next ServeSafely(int fd) {
    try {
      return Serve(fd);
    } catch (const std::exception& bug) {  // of cpp-httplib, or memory
      current = nullptr;
      Log(LogLevel::kError, "http_connection_failed", bug.what());
      return HttpListener::Next::kClose;
    }
  }
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() { Stop(); }
int HttpServer::port() const { return state_->listener->port(); }
void HttpServer::Stop() {
  state_->stopping = true;  // answers say that the connection ends
  state_->listener->Stop();
}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options, HttpServerHooks hooks) {
  auto state = std::make_unique<State>();
  State& s = *state;
  s.options = std::move(options);
  s.hooks = std::move(hooks);
  s.SetUpDecoder();
  HttpListener::Options listen;
  listen.address = s.options.address;
  listen.threads = s.options.threads;
  listen.max_head_bytes = kMaxHeadBytes;
  WW_ASSIGN(s.listener, HttpListener::Start(listen, {[&s](int fd) { return s.ServeSafely(fd); }, s.hooks.refused}));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

}  // namespace warpwright
