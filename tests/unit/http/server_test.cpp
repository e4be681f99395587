// The server as seen from the network: limits, deadlines and what happens to clients that do not respect them.
#include "http/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "tests/support/http_exchange.h"

namespace warpwright {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::ConnectLoopback;
using testing::Exchange;
using testing::HttpReply;
using testing::ReadReply;
using testing::SendAll;
using testing::WaitClosed;

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base::SetLogSink([](std::string_view) {});
    options_.max_body_bytes = 1000;
    options_.max_bodies_bytes = 1500;
    options_.headers = {{"X-Ours", "yes"}};
    hooks_.admit = [this](const http::HttpRequest& head) {
      heads_read_.release();
      return head.path == "/refused" ? std::optional(http::ErrorResponse(403, "not here")) : std::nullopt;
    };
    hooks_.answer = [](const http::HttpRequest& request) {
      return http::HttpResponse{.type = "text/plain",
                                .body = fmt::format("{} {} {}", request.method, request.path, request.body)};
    };
    hooks_.answered = [this](int status) {
      const std::lock_guard lock(mutex_);
      answered_.push_back(status);
    };
    hooks_.refused = [this] { ++refused_; };
  }
  void TearDown() override {
    server_.reset();
    base::SetLogSink({});
  }
  void Start() {
    auto started = http::HttpServer::Start(options_, hooks_);
    ASSERT_TRUE(started) << started.error().Format();
    server_ = std::move(*started);
  }
  int port() const { return server_->port(); }
  static std::string Post(std::string_view body, size_t length) {
    return fmt::format("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n{}", length, body);
  }
  // Sends a head, with or without the beginning of a body, on the only connections whose heads are not read yet. When
  // it returns, the server has read the head: who is the oldest is then certain.
  void Begin(const base::Fd& fd, std::string_view request) {
    ASSERT_TRUE(SendAll(fd, request));
    ASSERT_TRUE(heads_read_.try_acquire_for(std::chrono::seconds(10)));
  }
  // Sends a byte now and then until the connection is closed; returns how long that took.
  static milliseconds Trickle(const base::Fd& fd) {
    const auto begin = steady_clock::now();
    const auto deadline = begin + std::chrono::seconds(10);
    while (SendAll(fd, "x") && !WaitClosed(fd, milliseconds(20)) && steady_clock::now() < deadline) {
    }
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
  }

  http::HttpServerOptions options_;
  http::HttpServerHooks hooks_;
  std::mutex mutex_;
  std::vector<int> answered_;
  std::atomic<int> refused_ = 0;
  std::counting_semaphore<> heads_read_{0};
  std::unique_ptr<http::HttpServer> server_;
};

struct ExchangeRow {
  std::string request;
  int status;
  std::string body = {};  // of 200
};
TEST_F(HttpServerTest, AnswersRequests) {
  Start();
  for (const ExchangeRow& row : std::vector<ExchangeRow>{
           {"GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n", 200, "GET /a "},
           {"GET /a%20%2e%2e/b HTTP/1.1\r\nHost: h\r\n\r\n", 200, "GET /a ../b "},
           {"GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n", 200, "GET /a?b "},
           {"GET /old HTTP/1.0\r\n\r\n", 200, "GET /old "},
           {Post("{}", 2), 200, "POST /p {}"},
           {Post("", 0), 200, "POST /p "},
           {Post(std::string(1000, 'x'), 1000), 200, "POST /p " + std::string(1000, 'x')},
           {Post("", 1001), 413, ""},
           {"GET /refused HTTP/1.1\r\nHost: h\r\n\r\n", 403, ""},
           {"DELETE /a HTTP/1.1\r\nHost: h\r\n\r\n", 405, ""},
           {"CONNECT a:1 HTTP/1.1\r\nHost: h\r\n\r\n", 405, ""},
       }) {
    const HttpReply reply = Exchange(port(), row.request);
    EXPECT_EQ(reply.status, row.status) << row.request << reply.head;
    EXPECT_EQ(reply.Header("X-Ours"), "yes") << row.request;
    if (row.status == 200) {
      EXPECT_EQ(reply.body, row.body);
    } else {
      EXPECT_EQ(reply.Header("Connection"), "close") << row.request;
    }
  }
}

// The library answers these itself, before any of our code is called.
TEST_F(HttpServerTest, RefusesWhatIsNoRequest) {
  Start();
  const std::string canary = "canary";
  for (const ExchangeRow& row : std::vector<ExchangeRow>{
           {"GET /canary\r\n\r\n", 400},
           {"\x16\x03\x01\x02 canary\r\n\r\n", 400},
           {"GET /canary HTTP/1.1\r\nno colon\r\n\r\n", 400},
           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
           {"POST /canary HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
           {"POST /canary HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413},
           {"GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n", 414},
           {"GET /canary HTTP/1.1\r\nX: " + std::string(100'000, 'b') + "\r\n\r\n", 431},
       }) {
    const HttpReply reply = Exchange(port(), row.request);
    EXPECT_EQ(reply.status, row.status) << row.request.substr(0, 100) << reply.head;
    EXPECT_EQ(reply.Header("Connection"), "close");
    EXPECT_EQ((reply.head + reply.body).find(canary), std::string::npos);
  }
  EXPECT_TRUE(answered_.empty());
}

TEST_F(HttpServerTest, AHeadHasNoBody) {
  Start();
  const HttpReply reply = Exchange(port(), "HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Header("Content-Length"), "7");
  EXPECT_EQ(reply.body, "");
}

TEST_F(HttpServerTest, AnswersInTheOrderOfTheRequests) {
  Start();
  const base::Fd fd = ConnectLoopback(port());
  ASSERT_TRUE(SendAll(fd, "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n" + Post("two", 3) +
                              "GET /3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  std::string all;
  for (HttpReply reply = ReadReply(fd); reply.status != 0; reply = ReadReply(fd, milliseconds(200)))
    all += reply.head + reply.body;
  const size_t first = all.find("GET /1 "), second = all.find("POST /p two"), third = all.find("GET /3 ");
  EXPECT_TRUE(first < second && second < third && third != std::string::npos) << all;
}

TEST_F(HttpServerTest, AByteNowAndThenGainsNothing) {
  options_.head_deadline = milliseconds(300);
  options_.idle_deadline = milliseconds(300);
  options_.request_deadline = milliseconds(1500);  // a small body gets a fifth of it
  Start();
  const base::Fd head = ConnectLoopback(port());
  ASSERT_TRUE(SendAll(head, "GET /a HTTP/1.1\r\nX: "));
  EXPECT_LT(Trickle(head), milliseconds(2000));
  const base::Fd body = ConnectLoopback(port());
  ASSERT_TRUE(SendAll(body, Post("", 999)));
  EXPECT_LT(Trickle(body), milliseconds(2000));
  const base::Fd next = ConnectLoopback(port());
  ASSERT_TRUE(SendAll(next, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_EQ(ReadReply(next).status, 200);
  ASSERT_TRUE(SendAll(next, "GET /a HTTP/1.1\r\nX: "));
  EXPECT_LT(Trickle(next), milliseconds(2000));
}

TEST_F(HttpServerTest, ManySlowBodiesHoldNobodyUp) {
  options_.threads = 1;
  options_.max_connections = 100;
  options_.max_bodies_bytes = 1u << 20;
  Start();
  std::vector<base::Fd> slow;
  for (int i = 0; i < 300; ++i) {  // more than there are places
    slow.push_back(ConnectLoopback(port()));
    SendAll(slow.back(), Post("x", 900));
  }
  const auto begin = steady_clock::now();
  EXPECT_EQ(Exchange(port(), Post("{}", 2)).status, 200);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(500));
}

TEST_F(HttpServerTest, AHandlerThatWaitsHoldsNoConnectionUp) {
  std::latch entered(1), go_on(1);
  options_.threads = 1;
  hooks_.answer = [&](const http::HttpRequest&) {
    entered.count_down();
    go_on.wait();
    return http::HttpResponse{};
  };
  Start();
  const base::Fd fd = ConnectLoopback(port());
  ASSERT_TRUE(SendAll(fd, Post("{}", 2)));
  entered.wait();
  EXPECT_EQ(Exchange(port(), "GET /refused HTTP/1.1\r\nHost: h\r\n\r\n").status, 403);
  go_on.count_down();
  EXPECT_EQ(ReadReply(fd).status, 200);
}

TEST_F(HttpServerTest, StopsWhenTheRequestsUnderWayAreAnswered) {
  std::latch entered(1), go_on(1);
  hooks_.answer = [&](const http::HttpRequest&) {
    entered.count_down();
    go_on.wait();
    return http::HttpResponse{.body = std::string(2'000'000, 'x')};
  };
  Start();
  const base::Fd idle = ConnectLoopback(port()), fd = ConnectLoopback(port());
  ASSERT_TRUE(SendAll(fd, Post("{}", 2)));
  entered.wait();
  std::thread stopper([this] { server_->Stop(); });
  EXPECT_TRUE(WaitClosed(idle, milliseconds(2000)));
  go_on.count_down();
  const HttpReply reply = ReadReply(fd);
  EXPECT_EQ(reply.body.size(), 2'000'000u);
  EXPECT_EQ(reply.Header("Connection"), "close");
  stopper.join();
}

TEST_F(HttpServerTest, ABodyHasAMinimumRate) {
  options_.max_body_bytes = options_.max_bodies_bytes = 20u << 20;  // whose deadline is far
  options_.least_body_bytes_per_second = 1'000'000;
  Start();
  const base::Fd slow = ConnectLoopback(port());
  ASSERT_TRUE(SendAll(slow, Post("", 20u << 20)));
  EXPECT_LT(Trickle(slow), milliseconds(3000));
}

TEST_F(HttpServerTest, TheOldestOfAnAddressMakesRoomForItsNext) {
  options_.max_connections_per_address = 3;
  Start();
  std::vector<base::Fd> connections;
  for (int i = 0; i < 3; ++i) {
    connections.push_back(ConnectLoopback(port()));
    Begin(connections.back(), Post("x", 900));
  }
  const base::Fd other = ConnectLoopback(port(), "127.0.0.2");
  Begin(other, Post("x", 2));
  EXPECT_EQ(Exchange(port(), Post("{}", 2)).status, 200);
  EXPECT_TRUE(WaitClosed(connections[0], milliseconds(2000)));
  EXPECT_EQ(refused_, 1);
  for (int i = 1; i < 3; ++i) {
    ASSERT_TRUE(SendAll(connections[static_cast<size_t>(i)], std::string(899, 'x')));
    EXPECT_EQ(ReadReply(connections[static_cast<size_t>(i)]).status, 200);
  }
  ASSERT_TRUE(SendAll(other, "x"));
  EXPECT_EQ(ReadReply(other).status, 200);
}

TEST_F(HttpServerTest, TheOldestThatWaitsMakesRoom) {
  options_.max_connections = 4;
  Start();
  std::vector<base::Fd> connections;
  for (int i = 0; i < 4; ++i) connections.push_back(ConnectLoopback(port()));
  Begin(connections[0], Post("x", 900));  // has a request, and stays
  Begin(connections[3], "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_EQ(ReadReply(connections[3]).status, 200);
  connections.push_back(ConnectLoopback(port()));
  EXPECT_TRUE(WaitClosed(connections[1], milliseconds(2000)));
  EXPECT_EQ(refused_, 1);
  ASSERT_TRUE(SendAll(connections[0], std::string(899, 'x')));
  EXPECT_EQ(ReadReply(connections[0]).status, 200);
}

// What counts is what came, not what was announced: else four heads would close the door to everyone.
TEST_F(HttpServerTest, BoundsTheSumOfAllBodies) {
  Start();
  const base::Fd announced = ConnectLoopback(port()), large = ConnectLoopback(port());
  Begin(announced, Post("x", 1000));
  Begin(large, Post(std::string(900, 'x'), 1000));
  EXPECT_EQ(Exchange(port(), Post(std::string(500, 'x'), 500)).status, 200);
  EXPECT_EQ(Exchange(port(), Post(std::string(1000, 'x'), 1000)).status, 200);
  EXPECT_TRUE(WaitClosed(announced, milliseconds(2000))) << "the oldest goes first";
  EXPECT_TRUE(WaitClosed(large, milliseconds(2000)));
  EXPECT_EQ(Exchange(port(), Post(std::string(1000, 'x'), 1000)).status, 200);  // there is room again
}

TEST_F(HttpServerTest, BoundsTheBodiesOfAnAddress) {
  options_.max_bodies_bytes_per_address = 1200;
  Start();
  const base::Fd theirs = ConnectLoopback(port()), other = ConnectLoopback(port(), "127.0.0.2");
  Begin(other, Post(std::string(300, 'x'), 301));
  Begin(theirs, Post(std::string(900, 'x'), 1000));
  EXPECT_EQ(Exchange(port(), Post(std::string(400, 'x'), 400)).status, 200);
  EXPECT_TRUE(WaitClosed(theirs, milliseconds(2000)));
  ASSERT_TRUE(SendAll(other, "x"));
  EXPECT_EQ(ReadReply(other).status, 200);
}

TEST_F(HttpServerTest, BodiesThatAreBeingHandledCannotMakeRoom) {
  std::latch entered(1), go_on(1);
  hooks_.answer = [&](const http::HttpRequest&) {
    entered.count_down();
    go_on.wait();
    return http::HttpResponse{};
  };
  Start();
  const base::Fd first = ConnectLoopback(port()), second = ConnectLoopback(port());
  ASSERT_TRUE(SendAll(first, Post(std::string(1000, 'x'), 1000)));
  entered.wait();
  ASSERT_TRUE(SendAll(second, Post("x", 1000)));
  const HttpReply reply = ReadReply(second);
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Header("Retry-After"), "5");
  go_on.count_down();
  EXPECT_EQ(ReadReply(first).status, 200);
}

TEST_F(HttpServerTest, AHookThatThrowsIsA500) {
  hooks_.answer = [](const http::HttpRequest&) -> http::HttpResponse { throw std::runtime_error("a bug"); };
  hooks_.admit = [](const http::HttpRequest& head) -> std::optional<http::HttpResponse> {
    if (head.path == "/admit") throw std::runtime_error("a bug");
    return std::nullopt;
  };
  Start();
  EXPECT_EQ(Exchange(port(), "GET /admit HTTP/1.1\r\nHost: h\r\n\r\n").status, 500);
  EXPECT_EQ(Exchange(port(), "GET / HTTP/1.1\r\nHost: h\r\n\r\n").status, 500);
  server_->Stop();
  EXPECT_EQ(answered_, (std::vector<int>{500, 500}));
}

}  // namespace
}  // namespace warpwright
