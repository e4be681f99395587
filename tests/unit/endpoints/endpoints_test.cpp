// The two listeners as the network sees them.
#include "service/endpoints.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/log.h"
#include "forge/webhook.h"
#include "service/status_json.h"
#include "tests/support/http_exchange.h"
#include "tests/support/synthetic_snapshot.h"

namespace warpwright {
namespace {

using testing::ConnectLoopback;
using testing::Exchange;
using testing::Get;
using testing::HttpReply;
using testing::ReadReply;
using testing::SendAll;
using testing::WaitClosed;
using testing::WebhookRequest;

constexpr char kSecret[] = "It's a Secret to Everybody";

class EndpointsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base::SetLogSink([this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_ += std::string(line) + "\n";
    });
    options_.webhooks = "127.0.0.1:0";
    options_.status = "127.0.0.1:0";
    options_.webhook_secret = kSecret;
    options_.request_deadline = std::chrono::milliseconds(2000);
    hooks_.accept = [this](const service::Delivery& delivery) -> Result<bool> {
      const std::lock_guard lock(mutex_);
      if (fail_) return Fail(ErrorCode::kIo, "disk full");
      if (!ids_.insert(delivery.id).second) return false;
      accepted_.push_back(delivery);
      return true;
    };
    hooks_.snapshot = [] { return testing::BusySnapshot(); };
    hooks_.trajectory = [](int64_t job) -> Result<std::string> {
      if (job == 3) return Fail(ErrorCode::kCorrupt, "the database is damaged");
      return job == 120 ? service::TrajectoryJson(testing::BusyTrajectory()) : std::string();
    };
    hooks_.heartbeat_age = [this] { return std::chrono::milliseconds(age_ms_); };
  }
  void TearDown() override {
    endpoints_.reset();
    base::SetLogSink({});
  }
  void Start() {
    auto started = service::Endpoints::Start(options_, hooks_);
    ASSERT_TRUE(started) << started.error().Format();
    endpoints_ = std::move(*started);
  }
  int hooks_port() const { return endpoints_->webhook_port(); }
  int status_port() const { return endpoints_->status_port(); }

  service::EndpointOptions options_;
  service::EndpointHooks hooks_;
  std::unique_ptr<service::Endpoints> endpoints_;
  std::mutex mutex_;
  std::vector<service::Delivery> accepted_;
  std::set<std::string> ids_;
  std::string log_;
  bool fail_ = false;
  std::atomic<int> age_ms_ = 20;
};

TEST_F(EndpointsTest, TakesADeliveryOnce) {
  Start();
  const std::string body = "{\"ref\":\"refs/heads/main\"}\n \xc3\xa4";
  HttpReply reply = Exchange(hooks_port(), WebhookRequest(kSecret, "d-1", body));
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(reply.body, "{\"status\":\"accepted\"}\n");
  ASSERT_EQ(accepted_.size(), 1u);
  EXPECT_EQ(accepted_[0].id, "d-1");
  EXPECT_EQ(accepted_[0].event, "push");
  EXPECT_EQ(accepted_[0].body, body);
  reply = Exchange(hooks_port(), WebhookRequest(kSecret, "d-1", body));
  EXPECT_EQ(reply.status, 202);
  EXPECT_EQ(reply.body, "{\"status\":\"seen\"}\n");
  EXPECT_EQ(accepted_.size(), 1u);
}

TEST_F(EndpointsTest, TakesTheExampleOfGithubsDocumentation) {
  Start();
  const std::string request =
      "POST /webhook HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nX-GitHub-Event: "
      "ping\r\nX-GitHub-Delivery: 72d3162e-cc78-11e3-81ab-4c9367dc0958\r\n"
      "X-Hub-Signature-256: sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17\r\nContent-Length: "
      "13\r\n\r\nHello, World!";
  EXPECT_EQ(Exchange(hooks_port(), request).status, 202);
  std::string flipped = request;
  flipped.back() = '?';
  EXPECT_EQ(Exchange(hooks_port(), flipped).status, 401);
}

TEST_F(EndpointsTest, SaysWhenADeliveryWasNotStored) {
  Start();
  fail_ = true;
  const HttpReply reply = Exchange(hooks_port(), WebhookRequest(kSecret, "d-1", "{}"));
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Header("Retry-After"), "60");
  EXPECT_NE(log_.find("disk full"), std::string::npos);
  EXPECT_EQ(reply.body.find("disk"), std::string::npos);
}

TEST_F(EndpointsTest, RefusesWithoutReading) {
  Start();
  const std::string headers =
      "Content-Type: application/json\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: d\r\nX-Hub-Signature-256: "
      "sha256=00\r\n";
  struct Row {
    const char* what;
    std::string request;
    int status;
  };
  // None of them sends a body, so an answer before the deadline means that none was waited for.
  for (const Row& row : std::vector<Row>{
           {"too large",
            "POST /webhook HTTP/1.1\r\n" + headers +
                fmt::format("Content-Length: {}\r\n\r\n", forge::kMaxWebhookBytes + 1),
            413},
           {"huge length", "POST /webhook HTTP/1.1\r\n" + headers + "Content-Length: 99999999999999999999999\r\n\r\n",
            413},
           {"negative length", "POST /webhook HTTP/1.1\r\n" + headers + "Content-Length: -1\r\n\r\n", 400},
           {"two lengths", "POST /webhook HTTP/1.1\r\n" + headers + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
            400},
           {"no length", "POST /webhook HTTP/1.1\r\n" + headers + "\r\n", 411},
           {"chunked", "POST /webhook HTTP/1.1\r\n" + headers + "Transfer-Encoding: chunked\r\n\r\n", 411},
           {"chunked and a length",
            "POST /webhook HTTP/1.1\r\n" + headers + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 411},
           {"compressed",
            "POST /webhook HTTP/1.1\r\n" + headers + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n", 415},
           {"form",
            "POST /webhook HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\n",
            415},
           {"multipart",
            "POST /webhook HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 5\r\n\r\n",
            415},
           {"elsewhere", "POST /other HTTP/1.1\r\n" + headers + "Content-Length: 5\r\n\r\n", 404},
           {"status page on the public port", "GET / HTTP/1.1\r\n\r\n", 404},
           {"metrics on the public port", "GET /metrics HTTP/1.1\r\n\r\n", 404},
           {"GET", "GET /webhook HTTP/1.1\r\n\r\n", 405},
           {"PUT", "PUT /webhook HTTP/1.1\r\nContent-Length: 5\r\n\r\n", 405},
           {"PRI", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
           {"nonsense", "\x16\x03\x01\x02 hello\r\n\r\n", 400},
           {"expects to go on",
            "POST /webhook HTTP/1.1\r\nExpect: 100-continue\r\n" + headers +
                fmt::format("Content-Length: {}\r\n\r\n", forge::kMaxWebhookBytes + 1),
            413}}) {
    const auto begin = std::chrono::steady_clock::now();
    const HttpReply reply = Exchange(hooks_port(), row.request);
    EXPECT_EQ(reply.status, row.status) << row.what << ": " << reply.head << reply.body;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300)) << row.what;
  }
  EXPECT_TRUE(accepted_.empty());
}

TEST_F(EndpointsTest, GoesOnWhenTheSenderAsks) {
  Start();
  std::string request = WebhookRequest(kSecret, "d-1", "{}");
  request.insert(request.find("\r\n") + 2, "Expect: 100-continue\r\n");
  const base::Fd fd = ConnectLoopback(hooks_port());
  ASSERT_TRUE(SendAll(fd, request.substr(0, request.size() - 2)));
  EXPECT_EQ(ReadReply(fd, std::chrono::milliseconds(300)).status, 100);
  ASSERT_TRUE(SendAll(fd, "{}"));
  EXPECT_EQ(ReadReply(fd).status, 202);
}

TEST_F(EndpointsTest,
       AnswersBeforeALargeBodyIsSent) {  // and the sender can read the answer though it was still sending
  Start();
  std::string request = "POST /webhook HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n" +
                        std::string(600'000, 'x');
  const HttpReply reply = Exchange(hooks_port(), request);
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reply.Header("Connection"), "close");
}

TEST_F(EndpointsTest, TakesTheLargestDelivery) {
  options_.request_deadline = std::chrono::milliseconds(10'000);
  Start();
  const std::string body = "\"" + std::string(forge::kMaxWebhookBytes - 2, 'x') + "\"";
  EXPECT_EQ(Exchange(hooks_port(), WebhookRequest(kSecret, "big", body)).status, 202);
  ASSERT_EQ(accepted_.size(), 1u);
  EXPECT_EQ(accepted_[0].body.size(), forge::kMaxWebhookBytes);
}

TEST_F(EndpointsTest, NeverRepeatsWhatWasSent) {
  Start();
  const std::string canary = "canary7261";
  for (const std::string& request :
       {WebhookRequest(kSecret, canary, "{\"" + canary + "\":1}", canary),
        WebhookRequest("wrong", canary, "{\"" + canary + "\":1}", canary),
        WebhookRequest("", canary, "{\"" + canary + "\":1}", canary),
        WebhookRequest(kSecret, canary + "<script>", "{}", "push"), "GET /" + canary + " HTTP/1.1\r\n\r\n",
        "BREW /" + canary + " HTTP/1.1\r\n" + canary + ": x\r\n\r\n"}) {
    const HttpReply reply = Exchange(hooks_port(), request);
    EXPECT_NE(reply.status, 0);
    EXPECT_EQ((reply.head + reply.body).find(canary), std::string::npos) << reply.head << reply.body;
  }
  EXPECT_EQ(log_.find("{\\\"canary"), std::string::npos) << log_;
}

TEST_F(EndpointsTest, AnswersSeveralRequestsOnAConnection) {
  Start();
  const base::Fd fd = ConnectLoopback(hooks_port());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(SendAll(fd, WebhookRequest(kSecret, fmt::format("d-{}", i), "{}")));
    ASSERT_EQ(ReadReply(fd).status, 202) << i;
  }
  // Two in one packet: a reader of one answer may get both, so they are counted by what arrived.
  ASSERT_TRUE(SendAll(fd, WebhookRequest(kSecret, "p-1", "{}") + WebhookRequest(kSecret, "p-2", "{}")));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (size_t count = 0; count < 22 && std::chrono::steady_clock::now() < deadline;) {
    std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    count = accepted_.size();
  }
  EXPECT_EQ(accepted_.size(), 22u);
}

TEST_F(EndpointsTest, SlowSendersHoldNobodyUp) {
  options_.webhook_threads = 2;
  Start();
  std::vector<base::Fd> slow;
  for (int i = 0; i < 100; ++i) {  // heads that never end
    slow.push_back(ConnectLoopback(hooks_port()));
    SendAll(slow.back(), "POST /webhook HTTP/1.1\r\nX-Slow: ");
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Exchange(hooks_port(), WebhookRequest(kSecret, "d", "{}")).status, 202);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
  // Bodies that never end hold a thread, but not for long.
  for (int i = 0; i < 2; ++i) {
    slow.push_back(ConnectLoopback(hooks_port()));
    const std::string request = WebhookRequest(kSecret, "s", std::string(1000, 'x'));
    SendAll(slow.back(), request.substr(0, request.size() - 10));
  }
  EXPECT_EQ(Exchange(hooks_port(), WebhookRequest(kSecret, "e", "{}")).status, 202);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1900));
  EXPECT_TRUE(WaitClosed(slow.back(), std::chrono::seconds(5)));
}

TEST_F(EndpointsTest, ManyIdleConnectionsLeaveRoomForThoseThatSpeak) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  Start();
  std::vector<base::Fd> idle;
  for (int i = 0; i < 700; ++i) idle.push_back(ConnectLoopback(hooks_port()));  // more than there are places
  EXPECT_EQ(Exchange(hooks_port(), WebhookRequest(kSecret, "d", "{}")).status, 202);
  EXPECT_TRUE(WaitClosed(idle.front(), std::chrono::seconds(2)));  // the oldest made room
  EXPECT_NE(
      Get(status_port(), "/metrics").body.find("warpwright_http_connections_dropped_total{listener=\"webhooks\"} "),
      std::string::npos);
}

TEST_F(EndpointsTest, CutsHeadsOfAnySize) {
  Start();
  for (const std::string& head :
       {"GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nX: " + std::string(100'000, 'b') + "\r\n\r\n", std::string(100'000, 'c'), [] {
          std::string many = "GET / HTTP/1.1\r\n";
          for (int i = 0; i < 20'000; ++i) many += "A: b\r\n";
          return many + "\r\n";
        }()}) {
    const base::Fd fd = ConnectLoopback(hooks_port());
    SendAll(fd, head);
    EXPECT_TRUE(WaitClosed(fd, std::chrono::seconds(4)));
  }
  EXPECT_EQ(Exchange(hooks_port(), WebhookRequest(kSecret, "d", "{}")).status, 202);
}

TEST_F(EndpointsTest, TakesTheNewSecret) {
  Start();
  endpoints_->SetWebhookSecret("another secret");
  EXPECT_EQ(Exchange(hooks_port(), WebhookRequest(kSecret, "d-1", "{}")).status, 401);
  EXPECT_EQ(Exchange(hooks_port(), WebhookRequest("another secret", "d-1", "{}")).status, 202);
  EXPECT_EQ(base::Redact("another secret"), "[redacted]");
}

TEST_F(EndpointsTest, RefusesWhileItStops) {
  Start();
  endpoints_->RefuseWebhooks();
  EXPECT_EQ(Exchange(hooks_port(), WebhookRequest(kSecret, "d-1", "{}")).status, 503);
  EXPECT_EQ(Get(status_port(), "/healthz").status, 200);
}

TEST_F(EndpointsTest, StopsWithIdleConnectionsOpen) {
  Start();
  const int port = hooks_port();
  const base::Fd idle = ConnectLoopback(port);
  const base::Fd kept = ConnectLoopback(port);
  ASSERT_TRUE(SendAll(kept, WebhookRequest(kSecret, "d", "{}")));
  ASSERT_EQ(ReadReply(kept).status, 202);
  const auto begin = std::chrono::steady_clock::now();
  endpoints_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_TRUE(WaitClosed(idle, std::chrono::seconds(1)));
  EXPECT_FALSE(ConnectLoopback(port).valid());
}

TEST_F(EndpointsTest, AHookThatThrowsIsA500) {
  hooks_.snapshot = []() -> service::DaemonSnapshot { throw std::runtime_error("a bug"); };
  Start();
  const HttpReply reply = Get(status_port(), "/api/snapshot");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body.find("bug"), std::string::npos);
  EXPECT_NE(log_.find("a bug"), std::string::npos);
  EXPECT_EQ(Get(status_port(), "/healthz").status, 200);
}

TEST_F(EndpointsTest, SaysHowItIs) {
  Start();
  EXPECT_EQ(Get(status_port(), "/healthz").status, 200);
  age_ms_ = 31'000;
  EXPECT_EQ(Get(status_port(), "/healthz").status, 503);
  EXPECT_EQ(Get(status_port(), "/readyz").status, 200);
  hooks_.snapshot = [] { return testing::SnapshotOf("no credentials"); };
  endpoints_.reset();
  Start();
  const HttpReply reply = Get(status_port(), "/readyz");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(nlohmann::json::parse(reply.body)["reasons"][0], "no credentials");
}

TEST_F(EndpointsTest, ServesThePageAndItsParts) {
  Start();
  std::map<std::string, std::string> types = {{"/", "text/html"},
                                              {"/status.css", "text/css"},
                                              {"/status.js", "text/javascript"},
                                              {"/icon.svg", "image/svg+xml"},
                                              {"/api/snapshot", "application/json"},
                                              {"/metrics", "text/plain"},
                                              {"/api/trajectory/120", "application/json"}};
  for (const auto& [path, type] : types) {
    const HttpReply reply = Get(status_port(), path);
    EXPECT_EQ(reply.status, 200) << path;
    EXPECT_TRUE(reply.Header("Content-Type").starts_with(type)) << path << ": " << reply.Header("Content-Type");
    EXPECT_NE(reply.Header("Content-Security-Policy").find("default-src 'none'"), std::string::npos) << path;
    EXPECT_EQ(reply.Header("X-Content-Type-Options"), "nosniff") << path;
    EXPECT_GT(reply.body.size(), 100u) << path;
  }
  EXPECT_EQ(Get(status_port(), "/api/trajectory/4").status, 204);
  EXPECT_EQ(Get(status_port(), "/api/trajectory/3").status, 503);
  for (const char* path :
       {"/api/trajectory/", "/api/trajectory/-1", "/api/trajectory/1x", "/api/trajectory/99999999999999999999",
        "/../etc/passwd", "/%2e%2e/etc/passwd", "/webhook", "/nothing"})
    EXPECT_EQ(Get(status_port(), path).status, 404) << path;
  EXPECT_EQ(Exchange(status_port(), "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").status, 405);
  EXPECT_EQ(Exchange(status_port(), "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").status, 200);
}

TEST_F(EndpointsTest, ARangeIsNotAnAmplifier) {
  Start();
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 1000; ++i) ranges += ",0-";
  const HttpReply reply = Get(status_port(), "/", ranges + "\r\n");
  EXPECT_TRUE(reply.status == 200 || reply.status == 416) << reply.status;
  EXPECT_LT(reply.body.size(), 100'000u);
}

TEST_F(EndpointsTest, OnlyThisMachineIsAnsweredOnLoopback) {  // DNS rebinding: a web page whose name leads here
  Start();
  const auto ask = [&](const std::string& host) {
    return Exchange(status_port(), "GET /api/snapshot HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
        .status;
  };
  for (const char* host : {"localhost", "localhost:8421", "127.0.0.1:1", "[::1]:8421", "127.0.0.2"})
    EXPECT_EQ(ask(host), 200) << host;
  for (const char* host :
       {"evil.example", "evil.example:8421", "127.0.0.1.evil.example", "localhost.evil.example", "[::2]"})
    EXPECT_EQ(ask(host), 403) << host;
}

TEST_F(EndpointsTest, RefusesWhatCannotWork) {
  options_.webhook_secret.clear();
  EXPECT_EQ(service::Endpoints::Start(options_, hooks_).error().code, ErrorCode::kConfig);
  options_.webhook_secret = kSecret;
  options_.webhooks = "nonsense";
  EXPECT_EQ(service::Endpoints::Start(options_, hooks_).error().code, ErrorCode::kConfig);
  options_.webhooks = "127.0.0.1:0";
  Start();
  options_.webhooks =
      fmt::format("127.0.0.1:{}", hooks_port());  // taken: a second daemon would get half of the deliveries
  EXPECT_EQ(service::Endpoints::Start(options_, hooks_).error().code, ErrorCode::kEnvironment);
  options_.webhooks = "203.0.113.77:0";  // not ours
  EXPECT_EQ(service::Endpoints::Start(options_, hooks_).error().code, ErrorCode::kEnvironment);
}

TEST_F(EndpointsTest, EachListenerMayBeOff) {
  options_.webhooks.clear();
  Start();
  EXPECT_EQ(hooks_port(), 0);
  EXPECT_EQ(Get(status_port(), "/healthz").status, 200);
  endpoints_->SetWebhookSecret("x");
  endpoints_->RefuseWebhooks();
  options_.webhooks = "127.0.0.1:0";
  options_.status.clear();
  endpoints_.reset();
  Start();
  EXPECT_EQ(status_port(), 0);
  EXPECT_EQ(Exchange(hooks_port(), WebhookRequest(kSecret, "d", "{}")).status, 202);
}

TEST_F(EndpointsTest, CountsItsAnswers) {
  Start();
  Exchange(hooks_port(), WebhookRequest(kSecret, "d-1", "{}"));
  Exchange(hooks_port(), WebhookRequest("wrong", "d-2", "{}"));
  const std::string metrics = Get(status_port(), "/metrics").body;
  EXPECT_NE(metrics.find("warpwright_http_answers_total{listener=\"webhooks\",code=\"202\"} 1\n"), std::string::npos)
      << metrics;
  EXPECT_NE(metrics.find("warpwright_http_answers_total{listener=\"webhooks\",code=\"401\"} 1\n"), std::string::npos)
      << metrics;
  EXPECT_NE(metrics.find("warpwright_webhook_duration_seconds_count 1\n"), std::string::npos) << metrics;
}

}  // namespace
}  // namespace warpwright
