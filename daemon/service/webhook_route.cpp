#include "service/webhook_route.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"

namespace warpwright::service {
namespace {

constexpr size_t kMaxNameBytes = 64;

// An event's name or a delivery's id in GitHub's format; nothing else gets into the store or the log.
bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

bool IsJson(std::string_view type) {
  const std::string_view essence = type.substr(0, type.find(';'));
  return essence.substr(0, essence.find_last_not_of(' ') + 1) == "application/json";
}

http::HttpResponse Busy(std::string_view reason) {
  http::HttpResponse answer = http::ErrorResponse(503, reason);
  answer.headers.emplace_back("Retry-After", "60");
  return answer;
}

}  // namespace

WebhookRoute::WebhookRoute(std::string secret, std::function<Result<bool>(const Delivery&)> accept,
                           EndpointMetrics& metrics)
    : secret_(std::move(secret)), accept_(std::move(accept)), metrics_(metrics) {
  base::RegisterSecret(secret_);
}

void WebhookRoute::SetSecret(std::string secret) {
  if (secret.empty()) return;
  base::RegisterSecret(secret);
  const std::lock_guard lock(mutex_);
  secret_ = std::move(secret);
}

std::string WebhookRoute::Secret() const {
  const std::lock_guard lock(mutex_);
  return secret_;
}

std::optional<http::HttpResponse> WebhookRoute::Admit(const http::HttpRequest& head) const {
  if (head.path != "/webhook") return http::ErrorResponse(404, "only /webhook is served here");
  if (head.method != "POST") {
    http::HttpResponse answer = http::ErrorResponse(405, "webhooks must be sent with POST");
    answer.headers.emplace_back("Allow", "POST");
    return answer;
  }
  if (refusing_) return Busy("the daemon is stopping");
  if (!IsJson(head.Header("Content-Type").value_or("")))
    return http::ErrorResponse(415, "set the webhook's content type to application/json");
  if (!IsName(head.Header("X-GitHub-Event").value_or("")))
    return http::ErrorResponse(400, "the header X-GitHub-Event is missing or malformed");
  if (!IsName(head.Header("X-GitHub-Delivery").value_or("")))
    return http::ErrorResponse(400, "the header X-GitHub-Delivery is missing or malformed");
  if (!head.Header("X-Hub-Signature-256"))
    return http::ErrorResponse(401, "the header X-Hub-Signature-256 is missing: set a secret for the webhook");
  if (head.content_length == 0) return http::ErrorResponse(400, "the payload is empty");
  return std::nullopt;
}

http::HttpResponse WebhookRoute::Answer(const http::HttpRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  const Delivery delivery{std::string(*request.Header("X-GitHub-Delivery")),
                          std::string(*request.Header("X-GitHub-Event")), std::string(request.body)};
  const base::LogScope scope({{"delivery", delivery.id}});
  if (!forge::SignatureMatches(Secret(), delivery.body, *request.Header("X-Hub-Signature-256"))) {
    base::Log(base::LogLevel::kWarning, "delivery_refused", "the signature of a webhook is invalid",
              {{"webhook_event", delivery.event}});
    return http::ErrorResponse(401, "the signature does not match the payload and the secret");
  }
  const Result<bool> fresh = accept_(delivery);
  metrics_.webhook_seconds.Observe(std::chrono::steady_clock::now() - begin);
  if (!fresh) {
    base::LogError("delivery_not_stored", fresh.error());
    return Busy("the delivery could not be stored; send it again");
  }
  base::Log(base::LogLevel::kDebug, *fresh ? "delivery_accepted" : "delivery_seen", "",
            {{"webhook_event", delivery.event}});
  return {202, "application/json", *fresh ? "{\"status\":\"accepted\"}\n" : "{\"status\":\"seen\"}\n", {}};
}

}  // namespace warpwright::service
