// CurlClient against a minimal server: it reads a request up to the end of its body and sends what the test gave it.
#include "http/client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "base/fd.h"
#include "base/file.h"
#include "base/subprocess.h"

namespace warpwright {
namespace {

const std::string kHangUp = "hang up";

class TinyServer {
 public:
  // The response's bytes; empty: sends nothing and waits for the end; ending with kHangUp: then closes the connection.
  using Handler = std::function<std::string(const std::string& request)>;
  explicit TinyServer(Handler handler)
      : handler_(std::move(handler)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_.get(), 16) != 0 ||
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
      std::abort();
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~TinyServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    for (const auto& connection : connections_) ::shutdown(connection->get(), SHUT_RDWR);
    for (std::thread& server : servers_) server.join();
  }
  std::string Url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }
  int connections() const { return accepted_; }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void Run() {
    while (true) {
      auto connection = std::make_unique<base::Fd>(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!connection->valid()) return;
      ++accepted_;
      connections_.push_back(std::move(connection));
      servers_.emplace_back([this, fd = connections_.back()->get()] { Serve(fd); });
    }
  }
  void Serve(int connection) {
    std::string buffer;
    char bytes[4096];
    for (ssize_t got; (got = ::read(connection, bytes, sizeof bytes)) > 0;) {
      buffer.append(bytes, static_cast<size_t>(got));
      const size_t end = buffer.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      const size_t at = buffer.find("Content-Length: ");
      const size_t length = at == std::string::npos || at > end ? 0 : std::stoul(buffer.substr(at + 16));
      if (buffer.size() < end + 4 + length) continue;
      const std::string request = buffer.substr(0, end + 4 + length);
      buffer.erase(0, request.size());
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      std::string answer = handler_(request);
      const bool hang_up = answer.ends_with(kHangUp);
      if (hang_up) answer.resize(answer.size() - kHangUp.size());
      for (size_t sent = 0; sent < answer.size();) {
        const ssize_t wrote = ::send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
        if (wrote <= 0) return;
        sent += static_cast<size_t>(wrote);
      }
      if (hang_up) {
        ::shutdown(connection, SHUT_RDWR);
        return;
      }
    }
  }

  Handler handler_;
  base::Fd listener_;
  int port_ = 0;
  std::atomic<int> accepted_{0};
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<std::unique_ptr<base::Fd>> connections_;  // owned by the accepting thread until it ends
  std::vector<std::thread> servers_;
  std::thread thread_;
};

std::string Text(int status, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body;
}

std::unique_ptr<http::CurlClient> Make(http::ClientOptions options = {}) {
  return std::move(*http::CurlClient::Create(std::move(options)));
}

TEST(CurlClient, SendsWhatItIsGivenAndReadsTheAnswer) {
  TinyServer server([](const std::string&) { return Text(201, "made", "ETag: \"1\"\r\nX-One: a\r\n"); });
  const auto http = Make({.user_agent = "warpwright/1.2.3"});
  const auto answer = http->Send(
      {"POST", server.Url("/a/../b?q=%2F"), {{"Accept", "application/vnd.github+json"}}, "s3cret", "{\"x\":1}"});
  ASSERT_TRUE(answer) << answer.error().Format();
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "made");
  EXPECT_EQ(answer->headers.at("etag"), "\"1\"");
  for (const char* method : {"PATCH", "PUT", "DELETE", "GET"})
    EXPECT_TRUE(http->Send({method, server.Url("/"), {}, "", method[0] == 'P' ? "{}" : ""}));
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 5u);
  EXPECT_TRUE(requests[0].starts_with("POST /a/../b?q=%2F HTTP/1.1\r\n")) << requests[0];
  for (const char* part :
       {"\r\nUser-Agent: warpwright/1.2.3\r\n", "\r\nAccept: application/vnd.github+json\r\n",
        "\r\nAuthorization: Bearer s3cret\r\n", "\r\nContent-Type: application/json\r\n", "\r\n\r\n{\"x\":1}"})
    EXPECT_NE(requests[0].find(part), std::string::npos) << part << requests[0];
  EXPECT_TRUE(requests[1].starts_with("PATCH / "));
  EXPECT_TRUE(requests[3].starts_with("DELETE / "));
  EXPECT_EQ(requests[1].find("Authorization"), std::string::npos) << "the token stayed in the handle";
}

TEST(CurlClient, KeepsItsConnection) {
  TinyServer server([](const std::string&) { return Text(200, "x"); });
  const auto http = Make();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(http->Send({"GET", server.Url("/"), {}, "", ""}));
  EXPECT_EQ(server.connections(), 1);
}

// libcurl would send it again: it takes a reused connection that ends without a response for one that had been closed
// meanwhile.
TEST(CurlClient, AWriteWhoseAnswerIsLostIsNotSentAgain) {
  TinyServer server([](const std::string& request) { return request.starts_with("GET ") ? Text(200, "x") : kHangUp; });
  const auto http = Make();
  for (const char* method : {"POST", "PATCH", "PUT", "DELETE"}) {
    ASSERT_TRUE(http->Send({"GET", server.Url("/"), {}, "", ""}));
    const size_t before = server.requests().size();
    const auto answer = http->Send({method, server.Url("/"), {}, "", method[0] == 'P' ? "{}" : ""});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kIo) << answer.error().Format();
    EXPECT_EQ(server.requests().size(), before + 1) << method;
  }
}

TEST(CurlClient, FollowsRedirectsOfAGetToTheSameServerOnly) {
  TinyServer other([](const std::string&) { return Text(200, "other"); });
  TinyServer server([&](const std::string& request) {
    if (request.starts_with("GET /away")) return Text(301, "away", "Location: " + other.Url("/stolen") + "\r\n");
    if (request.starts_with("GET /round")) return Text(302, "round", "Location: /round\r\n");
    if (request.starts_with("GET /old") || request.starts_with("POST /old"))
      return Text(301, "old", "Location: /new\r\n");
    return Text(200, "new");
  });
  const auto http = Make();
  EXPECT_EQ(http->Send({"GET", server.Url("/old"), {}, "t", ""})->body, "new");
  EXPECT_EQ(http->Send({"GET", server.Url("/round"), {}, "t", ""})->status, 302);
  EXPECT_EQ(http->Send({"GET", server.Url("/away"), {}, "t", ""})->status, 301);
  EXPECT_EQ(http->Send({"POST", server.Url("/old"), {}, "t", "{}"})->status, 301);
  EXPECT_EQ(other.connections(), 0);
}

TEST(CurlClient, AnAnswerThatIsTooLargeIsNotRead) {
  TinyServer server([](const std::string&) { return Text(200, std::string(5000, 'x')); });
  const auto answer = Make({.max_answer_bytes = 4999})->Send({"GET", server.Url("/"), {}, "", ""});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kCorrupt);
  EXPECT_TRUE(Make({.max_answer_bytes = 5000})->Send({"GET", server.Url("/"), {}, "", ""}));
}

TEST(CurlClient, NoAnswerInTimeIsATimeoutThatNamesMethodAndPathOnly) {
  TinyServer server([](const std::string&) { return std::string(); });
  const auto answer = Make({.total_timeout = std::chrono::milliseconds(100)})
                          ->Send({"PATCH", server.Url("/repos/a/b?secret=q"), {}, "s3cret", "{\"body\":\"b\"}"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
  EXPECT_NE(answer.error().message.find("PATCH 127.0.0.1/repos/a/b:"), std::string::npos) << answer.error().message;
  for (const char* secret : {"s3cret", "secret=q", "body"})
    EXPECT_EQ(answer.error().Format().find(secret), std::string::npos) << answer.error().Format();
}

TEST(CurlClient, AProgramThatEndsBreaksAnExchangeOff) {
  TinyServer server([](const std::string&) { return std::string(); });
  std::atomic<bool> stop{false};
  const auto http = Make({.stopping = [&] { return stop.load(); }});
  std::thread stopper([&] {
    while (server.requests().empty()) std::this_thread::yield();
    stop = true;
  });
  const auto start = std::chrono::steady_clock::now();
  const auto answer = http->Send({"GET", server.Url("/"), {}, "", ""});
  stopper.join();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(CurlClient, RefusesWhatItMustNotSend) {
  const auto http = Make();
  const struct {
    http::ClientRequest request;
    ErrorCode code;
  } rows[] = {
      {{"GET", "file:///etc/passwd", {}, "", ""}, ErrorCode::kEnvironment},
      {{"GET", "ftp://127.0.0.1/x", {}, "", ""}, ErrorCode::kEnvironment},
      {{"GET", "nonsense", {}, "", ""}, ErrorCode::kEnvironment},
      {{"GET", "https://user:hunter2@127.0.0.1/", {}, "", ""}, ErrorCode::kEnvironment},
      {{"GET", "http://ghe.example.com/api/v3/user", {}, "hunter2", ""}, ErrorCode::kEnvironment},
      {{"GET", "http://127.0.0.1.example.com/", {}, "hunter2", ""}, ErrorCode::kEnvironment},
      {{"GET", "http://127.0.0.1:1/", {}, "hunter2\r\nX-Evil: 1", ""}, ErrorCode::kEnvironment},
      {{"GET", "http://127.0.0.1:1/", {{"X", "a\r\nX-Evil: 1"}}, "", ""}, ErrorCode::kUsage},
      {{"GET", "http://127.0.0.1:1/", {}, "hunter2", ""}, ErrorCode::kIo},  // nobody listens
  };
  for (const auto& row : rows) {
    const auto answer = http->Send(row.request);
    ASSERT_FALSE(answer) << row.request.url;
    EXPECT_EQ(answer.error().code, row.code) << row.request.url << ": " << answer.error().Format();
    EXPECT_EQ(answer.error().Format().find("hunter2"), std::string::npos) << answer.error().Format();
  }
}

TEST(CurlClient, ASecretInAHeaderIsKeptLikeTheToken) {
  TinyServer server([](const std::string&) { return Text(200, "x"); });
  http::ClientRequest request{.method = "POST", .url = server.Url("/"), .body = "{}"};
  request.secret_headers = {{"x-api-key", "hunter2"}};
  const auto http = Make();
  ASSERT_TRUE(http->Send(request));
  EXPECT_NE(server.requests()[0].find("\r\nx-api-key: hunter2\r\n"), std::string::npos);
  for (const char* url : {"http://models.example.com/v1", "http://127.0.0.1:1/"}) {
    request.url = url;
    const auto answer = http->Send(request);
    ASSERT_FALSE(answer) << url;
    EXPECT_EQ(answer.error().Format().find("hunter2"), std::string::npos) << answer.error().Format();
  }
  request.url = server.Url("/");
  request.secret_headers = {{"x-api-key", "hunter2\r\nX-Evil: 1"}};
  const auto answer = http->Send(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kEnvironment);
  EXPECT_EQ(answer.error().Format().find("hunter2"), std::string::npos) << answer.error().Format();
}

TEST(CurlClient, StreamsTheBodyAndSaysHowItEnded) {
  const std::string head = "HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n";
  const struct {
    const char* what;
    std::string sent, received;
    http::BodyEnd end;
    int stall_ms = 0, total_ms = 20'000;
    size_t limit = 100;
    size_t wanted = 100;
  } rows[] = {
      {"whole", head + "123456789", "123456789", http::BodyEnd::kComplete},
      {"cut", head + "12345" + kHangUp, "12345", http::BodyEnd::kBroken},
      {"stalled", head + "12345", "12345", http::BodyEnd::kStalled, 1000},
      {"late", head + "12345", "12345", http::BodyEnd::kTimedOut, 0, 1000},
      {"too large", head + "123456789", "", http::BodyEnd::kTooLarge, 0, 20'000, 8},
      {"unwanted", head + "123456789", "123456789", http::BodyEnd::kUnwanted, 0, 20'000, 100, 5},
  };
  for (const auto& row : rows) {
    TinyServer server([&](const std::string&) { return row.sent; });
    std::string received;
    http::ClientRequest request{.method = "POST", .url = server.Url("/"), .body = "{}"};
    request.stall_timeout = std::chrono::milliseconds(row.stall_ms);
    request.total_timeout = std::chrono::milliseconds(row.total_ms);
    request.receive = [&](std::string_view piece) {
      received += piece;
      return received.size() < row.wanted;
    };
    const auto answer = Make({.max_answer_bytes = row.limit})->Send(request);
    ASSERT_TRUE(answer) << row.what << ": " << answer.error().Format();
    EXPECT_EQ(answer->end, row.end) << row.what;
    EXPECT_EQ(received, row.received) << row.what;
    EXPECT_EQ(answer->body, "") << row.what;
  }
}

TEST(CurlClient, TellsWhetherARequestLeft) {
  TinyServer server([](const std::string&) { return kHangUp; });
  for (const auto& [url, left] :
       {std::pair(server.Url("/"), true), std::pair(std::string("http://127.0.0.1:1/"), false),
        std::pair(std::string("http://models.invalid/"), false)}) {
    bool sent = false;
    http::ClientRequest request{.method = "POST", .url = url, .body = "{}"};
    request.sent = [&] { sent = true; };
    const auto answer = Make()->Send(request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kIo);
    EXPECT_EQ(sent, left) << url;
  }
}

TEST(CurlClient, WhatIsNoSuccessIsNotStreamed) {
  TinyServer server([](const std::string&) { return Text(429, "slower", "Retry-After: 2\r\n"); });
  http::ClientRequest request{.method = "POST", .url = server.Url("/"), .body = "{}"};
  request.receive = [](std::string_view) -> bool { throw std::logic_error("an error is no part of a stream"); };
  const auto answer = Make()->Send(request);
  ASSERT_TRUE(answer) << answer.error().Format();
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->body, "slower");
}

TEST(CurlClient, NothingBeforeTheHeadIsAnError) {
  const struct {
    const char* what;
    std::string sent;
    ErrorCode code;
  } rows[] = {{"silence", "", ErrorCode::kTimeout},
              {"half a head", "HTTP/1.1 200 X\r\nContent-", ErrorCode::kTimeout},
              {"closed", kHangUp, ErrorCode::kIo},
              {"closed within the head", "HTTP/1.1 200 X\r\nContent-" + kHangUp, ErrorCode::kIo}};
  for (const auto& row : rows) {
    TinyServer server([&](const std::string&) { return row.sent; });
    http::ClientRequest request{.method = "POST", .url = server.Url("/"), .body = "{}"};
    request.stall_timeout = std::chrono::milliseconds(1000);
    request.receive = [](std::string_view) { return true; };
    const auto answer = Make()->Send(request);
    ASSERT_FALSE(answer) << row.what;
    EXPECT_EQ(answer.error().code, row.code) << row.what << ": " << answer.error().Format();
  }
}

// A variable of the environment for a scope; an empty value: none.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* now = std::getenv(name)) before_ = now;
    Set(value);
  }
  ~Environment() { Set(before_); }

 private:
  void Set(const std::string& value) const {
    if (value.empty()) ::unsetenv(name_);
    else ::setenv(name_, value.c_str(), 1);
  }
  const char* name_;
  std::string before_;
};

TEST(CurlClient, UsesTheProxyOfTheEnvironment) {
  TinyServer proxy([](const std::string&) { return Text(200, "by proxy"); });
  {
    const Environment set("http_proxy", proxy.Url(""));
    const auto answer = Make()->Send({"GET", "http://models.example.com/v1/models", {}, "", ""});
    ASSERT_TRUE(answer) << answer.error().Format();
    EXPECT_EQ(answer->body, "by proxy");
    EXPECT_TRUE(proxy.requests()[0].starts_with("GET http://models.example.com/v1/models HTTP/1.1\r\n"))
        << proxy.requests()[0];
    const Environment except("no_proxy", "models.invalid");
    EXPECT_FALSE(Make()->Send({"GET", "http://models.invalid/", {}, "", ""}));
    TinyServer server([](const std::string&) { return Text(200, "direct"); });
    EXPECT_EQ(Make()->Send({"GET", server.Url("/"), {}, "", ""})->body, "direct") << "this machine needs no proxy";
  }
  EXPECT_EQ(proxy.requests().size(), 1u);
}

// `openssl s_server` with a certificate that signs itself: trusted where the environment or the options say so.
TEST(CurlClient, TrustsTheAuthoritiesOfTheEnvironment) {
  const auto folder = base::TemporaryDirectory::Create("tls");
  ASSERT_TRUE(folder);
  const std::string key = folder->path() / "key.pem", certificate = folder->path() / "ca.pem";
  base::Command make{.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                              "-nodes", "-subj", "/CN=localhost", "-addext",
                              "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate},
                     .env = base::MinimalEnvironment()};
  const auto made = base::Run(make);
  ASSERT_TRUE(made && made->exit_code == 0) << (made ? made->err : made.error().Format());
  const auto server = base::Child::Start(
      {.argv = {"openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www"},
       .env = base::MinimalEnvironment()},
      folder->path() / "log");
  ASSERT_TRUE(server) << server.error().Format();
  std::string said;
  for (char byte; said.find("ACCEPT 127.0.0.1:") == std::string::npos || said.back() != '\n';) {
    ASSERT_EQ(::read(server->from_child(), &byte, 1), 1) << said;
    said += byte;
  }
  const std::string port = said.substr(said.find("ACCEPT 127.0.0.1:") + 17);
  const std::string url = "https://127.0.0.1:" + port.substr(0, port.find('\n')) + "/";
  const Environment no_bundle("CURL_CA_BUNDLE", ""), no_file("SSL_CERT_FILE", "");
  const auto ask = [&](const std::string& ca_file) {
    return Make({.ca_file = ca_file})->Send({"GET", url, {}, "", ""});
  };
  const auto stranger = ask("");
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, ErrorCode::kEnvironment) << stranger.error().Format();
  EXPECT_TRUE(ask(certificate)) << ask(certificate).error().Format();
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"}) {
    const Environment set(name, certificate);
    const auto answer = ask("");
    EXPECT_TRUE(answer) << name << ": " << answer.error().Format();
  }
}

}  // namespace
}  // namespace warpwright
