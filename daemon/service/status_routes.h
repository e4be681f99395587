// The status port's responses, as functions of a request: health, metrics, the status page and its data.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/message.h"
#include "service/endpoints.h"
#include "service/metrics.h"

namespace warpwright::service {

class StatusRoutes {
 public:
  // `host`: the listen address. On a loopback address only requests whose Host names this machine are accepted, so that
  // no web page can read from it through DNS rebinding. `hooks` and `metrics` must outlive it.
  StatusRoutes(const std::string& host, std::chrono::milliseconds oldest_heartbeat, const EndpointHooks& hooks,
               const EndpointMetrics& metrics);
  std::optional<http::HttpResponse> Admit(const http::HttpRequest& head) const;
  http::HttpResponse Answer(const http::HttpRequest& request) const;
  static std::vector<std::pair<std::string, std::string>>
  Headers();  // of every response: the Content-Security-Policy and similar

 private:
  http::HttpResponse Health() const;
  http::HttpResponse Readiness() const;
  http::HttpResponse Trajectory(std::string_view job) const;
  bool loopback_;
  std::chrono::milliseconds oldest_heartbeat_;
  const EndpointHooks& hooks_;
  const EndpointMetrics& metrics_;
};

}  // namespace warpwright::service
