#include "service/webhook_route.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"

namespace warpwright {
namespace {

constexpr size_t kMaxNameBytes = 64;

// An event's name or a delivery's id, as GitHub makes them; nothing else gets into the store or the log.
bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

bool IsJson(std::string_view type) {
  const std::string_view essence = type.substr(0, type.find(';'));
  return essence.substr(0, essence.find_last_not_of(' ') + 1) == "application/json";
}

HttpAnswer Busy(std::string_view reason) {
  HttpAnswer answer = ErrorAnswer(503, reason);
  answer.headers.emplace_back("Retry-After", "60");
  return answer;
}

}  // namespace

WebhookRoute::WebhookRoute(std::string secret, std::function<Result<bool>(const Delivery&)> accept, EndpointMetrics& metrics)
    : secret_(std::move(secret)), accept_(std::move(accept)), metrics_(metrics) {
  RegisterSecret(secret_);
}

void WebhookRoute::SetSecret(std::string secret) {
  if (secret.empty()) return;
  RegisterSecret(secret);
  const std::lock_guard lock(mutex_);
  secret_ = std::move(secret);
}

std::string WebhookRoute::Secret() const {
  const std::lock_guard lock(mutex_);
  return secret_;
}

std::optional<HttpAnswer> WebhookRoute::Admit(const HttpRequest& head) const {
  if (head.path != "/webhook") return ErrorAnswer(404, "there is only /webhook here");
  if (head.method != "POST") {
    HttpAnswer answer = ErrorAnswer(405, "webhooks are sent with POST");
    answer.headers.emplace_back("Allow", "POST");
    return answer;
  }
  if (refusing_) return Busy("the daemon is stopping");
  if (!IsJson(head.Header("Content-Type").value_or(""))) return ErrorAnswer(415, "set the webhook's content type to application/json");
  if (!IsName(head.Header("X-GitHub-Event").value_or(""))) return ErrorAnswer(400, "the header X-GitHub-Event is missing or malformed");
  if (!IsName(head.Header("X-GitHub-Delivery").value_or(""))) return ErrorAnswer(400, "the header X-GitHub-Delivery is missing or malformed");
  if (!head.Header("X-Hub-Signature-256")) return ErrorAnswer(401, "the header X-Hub-Signature-256 is missing: set a secret for the webhook");
  if (head.content_length == 0) return ErrorAnswer(400, "the payload is empty");
  return std::nullopt;
}

HttpAnswer WebhookRoute::Answer(const HttpRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  const Delivery delivery{std::string(*request.Header("X-GitHub-Delivery")), std::string(*request.Header("X-GitHub-Event")), std::string(request.body)};
  const LogScope scope({{"delivery", delivery.id}});
  if (!SignatureMatches(Secret(), delivery.body, *request.Header("X-Hub-Signature-256"))) {
    Log(LogLevel::kWarning, "delivery_refused", "the signature of a webhook is wrong", {{"webhook_event", delivery.event}});
    return ErrorAnswer(401, "the signature does not match the payload and the secret");
  }
  const Result<bool> fresh = accept_(delivery);
  metrics_.webhook_seconds.Observe(std::chrono::steady_clock::now() - begin);
  if (!fresh) {
    LogError("delivery_not_stored", fresh.error());
    return Busy("the delivery could not be stored; send it again");
  }
  Log(LogLevel::kDebug, *fresh ? "delivery_accepted" : "delivery_seen", "", {{"webhook_event", delivery.event}});
  return {202, "application/json", *fresh ? "{\"status\":\"accepted\"}\n" : "{\"status\":\"seen\"}\n", {}};
}

}  // namespace warpwright
