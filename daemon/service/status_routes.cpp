#include "service/status_routes.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/log.h"
#include "service/status_json.h"

namespace warpwright::service {
namespace embedded {
const std::map<std::string_view, std::string_view>& StatusPageFiles();
}
namespace {

struct Resource {
  std::string_view path, file, type;
};
constexpr std::array<Resource, 4> kResources = {{{"/", "status_page.html", "text/html; charset=utf-8"},
                                                 {"/status.css", "status_page.css", "text/css; charset=utf-8"},
                                                 {"/status.js", "status_page.js", "text/javascript; charset=utf-8"},
                                                 {"/icon.svg", "status_page_icon.svg", "image/svg+xml"}}};

bool IsLoopback(std::string_view host) {
  in_addr address{};
  const bool v4 = ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 &&
                  (ntohl(address.s_addr) >> 24) == 127;  // not "127.evil.example"
  return v4 || host == "localhost" || host == "::1";
}

// "127.0.0.1:8421" -> "127.0.0.1", "[::1]:8421" -> "::1".
std::string_view HostOf(std::string_view header) {
  if (header.starts_with('['))
    return header.substr(1, header.find(']') == std::string_view::npos ? 0 : header.find(']') - 1);
  return header.substr(0, header.find(':'));
}

}  // namespace

StatusRoutes::StatusRoutes(const std::string& host, std::chrono::milliseconds oldest_heartbeat,
                           const EndpointHooks& hooks, const EndpointMetrics& metrics)
    : loopback_(IsLoopback(host)), oldest_heartbeat_(oldest_heartbeat), hooks_(hooks), metrics_(metrics) {}

std::vector<std::pair<std::string, std::string>> StatusRoutes::Headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri "
           "'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

std::optional<http::HttpResponse> StatusRoutes::Admit(const http::HttpRequest& head) const {
  if (head.method != "GET") {
    http::HttpResponse answer = http::ErrorResponse(405, "only GET is supported");
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (loopback_ && !IsLoopback(HostOf(head.Header("Host").value_or("localhost"))))
    return http::ErrorResponse(403, "only available on this machine: use localhost");
  return std::nullopt;
}

http::HttpResponse StatusRoutes::Answer(const http::HttpRequest& request) const {
  for (const Resource& resource : kResources)
    if (request.path == resource.path)
      return {200, std::string(resource.type), std::string(embedded::StatusPageFiles().at(resource.file)), {}};
  if (request.path == "/healthz") return Health();
  if (request.path == "/readyz") return Readiness();
  if (request.path == "/metrics")
    return {200, "text/plain; version=0.0.4; charset=utf-8", RenderMetrics(hooks_.snapshot()) + metrics_.Render(), {}};
  if (request.path == "/api/snapshot") return {200, "application/json", SnapshotJson(hooks_.snapshot()), {}};
  constexpr std::string_view kTrajectory = "/api/trajectory/";
  if (request.path.starts_with(kTrajectory))
    return Trajectory(std::string_view(request.path).substr(kTrajectory.size()));
  return http::ErrorResponse(404, "page not found");
}

http::HttpResponse StatusRoutes::Health() const {
  const auto age = hooks_.heartbeat_age();
  const bool alive = age <= oldest_heartbeat_;
  return {alive ? 200 : 503,
          "application/json",
          fmt::format("{{\"status\":\"{}\",\"heartbeat_age_seconds\":{:.3f}}}\n", alive ? "ok" : "the loop is stuck",
                      static_cast<double>(age.count()) / 1000),
          {}};
}

http::HttpResponse StatusRoutes::Readiness() const {
  const DaemonSnapshot snapshot = hooks_.snapshot();
  const nlohmann::json json = {{"ready", snapshot.ready}, {"reasons", snapshot.not_ready}};
  return {snapshot.ready ? 200 : 503, "application/json", base::DumpJson(json) + "\n", {}};
}

http::HttpResponse StatusRoutes::Trajectory(std::string_view job) const {
  int64_t id = 0;
  const auto [end, code] = std::from_chars(job.data(), job.data() + job.size(), id);
  if (code != std::errc() || end != job.data() + job.size() || id <= 0)
    return http::ErrorResponse(404, "a job is a number");
  Result<std::string> json = hooks_.trajectory(id);
  if (!json) {
    base::LogError("trajectory_not_read", json.error(), {{"job", id}});
    return http::ErrorResponse(503, "the trajectory cannot be read; see the daemon's log");
  }
  if (json->empty()) return {204, "application/json", {}, {}};  // not an error: a job that has just started has none
  return {200, "application/json", std::move(*json), {}};
}

}  // namespace warpwright::service
