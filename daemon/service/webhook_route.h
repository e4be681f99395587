// POST /webhook, as functions of a request: what is refused by its headers, and the handling of the rest. No payload or
// header of a request is ever repeated in a response.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "forge/webhook.h"
#include "http/message.h"
#include "service/endpoints.h"
#include "service/metrics.h"

namespace warpwright::service {

class WebhookRoute {
 public:
  static constexpr size_t kMaxBodyBytes = forge::kMaxWebhookBytes;

  // `metrics` must outlive it.
  WebhookRoute(std::string secret, std::function<Result<bool>(const Delivery&)> accept, EndpointMetrics& metrics);
  std::optional<http::HttpResponse> Admit(const http::HttpRequest& head) const;
  http::HttpResponse Answer(const http::HttpRequest& request);
  void SetSecret(std::string secret);  // an empty one is not accepted
  void Refuse() { refusing_ = true; }

 private:
  std::string Secret() const;
  mutable std::mutex mutex_;
  std::string secret_;
  std::function<Result<bool>(const Delivery&)> accept_;
  EndpointMetrics& metrics_;
  std::atomic<bool> refusing_ = false;
};

}  // namespace warpwright::service
