#include "service/webhook_route.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "tests/support/http_exchange.h"

namespace warpwright {
namespace {

http::HttpRequest Head(const std::vector<std::pair<std::string, std::string>>& changes) {
  http::HttpRequest request{"POST",
                            "/webhook",
                            {{"Content-Type", "application/json"},
                             {"X-GitHub-Event", "push"},
                             {"X-GitHub-Delivery", "72d3162e-cc78"},
                             {"X-Hub-Signature-256", "sha256=00"}},
                            {},
                            2};
  for (const auto& [name, value] : changes) {
    std::erase_if(request.headers, [&, n = name](const auto& header) { return header.first == n; });
    if (value != "absent") request.headers.emplace_back(name, value);
  }
  return request;
}

struct DeliveryRow {
  std::vector<std::pair<std::string, std::string>> changes;
  int status;  // 0: admitted
};
TEST(WebhookRoute, DecidesByTheHead) {
  service::EndpointMetrics metrics;
  const service::WebhookRoute route("secret", [](const service::Delivery&) -> Result<bool> { return true; }, metrics);
  for (const DeliveryRow& row :
       std::vector<DeliveryRow>{{{}, 0},
                                {{{"Content-Type", "application/json; charset=utf-8"}}, 0},
                                {{{"Content-Type", "application/json ;x"}}, 0},
                                {{{"Content-Type", "application/jsonp"}}, 415},
                                {{{"Content-Type", "absent"}}, 415},
                                {{{"X-GitHub-Event", "absent"}}, 400},
                                {{{"X-GitHub-Event", ""}}, 400},
                                {{{"X-GitHub-Event", "push\nx"}}, 400},
                                {{{"X-GitHub-Event", std::string(65, 'a')}}, 400},
                                {{{"X-GitHub-Event", std::string(64, 'a')}}, 0},
                                {{{"X-GitHub-Delivery", "absent"}}, 400},
                                {{{"X-GitHub-Delivery", "a'; DROP TABLE"}}, 400},
                                {{{"X-Hub-Signature-256", "absent"}}, 401},
                                {{{"X-Hub-Signature-256", "absent"}, {"X-Hub-Signature", "sha1=aa"}}, 401}}) {
    const auto refused = route.Admit(Head(row.changes));
    EXPECT_EQ(refused ? refused->status : 0, row.status)
        << (row.changes.empty() ? "" : row.changes[0].first + ": " + row.changes[0].second);
  }
  http::HttpRequest empty = Head({});
  empty.content_length = 0;
  EXPECT_EQ(route.Admit(empty)->status, 400);
}

TEST(WebhookRoute, ChecksTheSignatureOverTheRawBytes) {
  base::SetLogSink([](std::string_view) {});
  service::EndpointMetrics metrics;
  int calls = 0;
  service::WebhookRoute route(
      "secret", [&](const service::Delivery&) -> Result<bool> { return ++calls == 1; }, metrics);
  const std::string body = "{ \"a\" : 1 }";
  const std::string right = testing::SignWebhook("secret", body);
  struct Signed {
    std::string body, signature;
    int status;
  };
  for (const Signed& row : std::vector<Signed>{{body, right, 202},
                                               {"{\"a\":1}", right, 401},
                                               {body + " ", right, 401},
                                               {body, testing::SignWebhook("other", body), 401},
                                               {body, "", 401},
                                               {body, "sha256=", 401},
                                               {body, right.substr(7), 401},
                                               {body, right.substr(0, 70), 401},
                                               {body, right + "0", 401},
                                               {body, "sha1=" + right.substr(7), 401}}) {
    http::HttpRequest request = Head({{"X-Hub-Signature-256", row.signature}});
    request.body = row.body;
    EXPECT_EQ(route.Answer(request).status, row.status) << row.signature;
  }
  EXPECT_EQ(calls, 1);
  base::SetLogSink({});
}

}  // namespace
}  // namespace warpwright
