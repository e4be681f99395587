#include "service/endpoints.h"

#include <utility>
#include <vector>

#include "http/server.h"
#include "service/metrics.h"
#include "service/status_routes.h"
#include "service/webhook_route.h"

namespace warpwright::service {
namespace {

constexpr size_t kMaxBodiesBytes = 100u << 20;  // four of the largest deliveries simultaneously
constexpr size_t kMaxBodiesBytesPerAddress = kMaxBodiesBytes / 2;

const std::vector<std::pair<std::string, std::string>> kPlainHeaders = {{"X-Content-Type-Options", "nosniff"},
                                                                        {"Cache-Control", "no-store"}};

}  // namespace

struct Endpoints::State {
  EndpointOptions options;
  EndpointHooks hooks;
  EndpointMetrics metrics;
  std::unique_ptr<WebhookRoute> webhook_route;
  std::unique_ptr<StatusRoutes> status_routes;
  std::unique_ptr<http::HttpServer> webhooks, status;  // last: destroyed before what they use

  template <typename Routes>
  http::HttpServerHooks HooksOf(Routes& routes, std::string_view listener) {
    return {.admit = [&routes](const http::HttpRequest& head) { return routes.Admit(head); },
            .answer = [&routes](const http::HttpRequest& request) { return routes.Answer(request); },
            .answered = [this, listener](int code) { metrics.Answered(listener, code); },
            .refused = [this, listener] { metrics.Refused(listener); }};
  }

  Status StartWebhooks() {
    if (options.webhooks.empty()) return {};
    if (options.webhook_secret.empty())
      return Fail(ErrorCode::kConfig, "webhooks without a secret would be accepted from anyone",
                  "set github.webhook_secret, or omit listen.webhooks and poll");
    webhook_route = std::make_unique<WebhookRoute>(options.webhook_secret, hooks.accept, metrics);
    http::HttpServerOptions http;
    WW_ASSIGN(http.address, http::ParseHostPort(options.webhooks));
    http.threads = options.webhook_threads;
    http.max_body_bytes = WebhookRoute::kMaxBodyBytes;
    http.max_bodies_bytes = kMaxBodiesBytes;
    http.max_bodies_bytes_per_address = kMaxBodiesBytesPerAddress;
    http.request_deadline = options.request_deadline;
    http.headers = kPlainHeaders;
    WW_ASSIGN(webhooks, http::HttpServer::Start(http, HooksOf(*webhook_route, "webhooks")));
    return {};
  }

  Status StartStatus() {
    if (options.status.empty()) return {};
    http::HttpServerOptions http;
    WW_ASSIGN(http.address, http::ParseHostPort(options.status));
    status_routes = std::make_unique<StatusRoutes>(http.address.host, options.oldest_heartbeat, hooks, metrics);
    http.threads = options.status_threads;
    http.request_deadline = options.request_deadline;
    http.headers = StatusRoutes::Headers();
    WW_ASSIGN(status, http::HttpServer::Start(http, HooksOf(*status_routes, "status")));
    return {};
  }
};

Endpoints::Endpoints(std::unique_ptr<State> state) : state_(std::move(state)) {}
Endpoints::~Endpoints() { Stop(); }

Result<std::unique_ptr<Endpoints>> Endpoints::Start(EndpointOptions options, EndpointHooks hooks) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->hooks = std::move(hooks);
  WW_TRY(state->StartWebhooks());
  WW_TRY(state->StartStatus());
  return std::unique_ptr<Endpoints>(new Endpoints(std::move(state)));
}

Status Endpoints::CheckAddresses(const EndpointOptions& options) {
  for (const std::string& address : {options.webhooks, options.status})
    if (!address.empty()) WW_TRY(http::ParseHostPort(address));
  if (!options.webhooks.empty() && options.webhooks == options.status && !options.webhooks.ends_with(":0"))
    return Fail(ErrorCode::kConfig, "listen.webhooks and listen.status are the same address",
                "give each its own port; the status page is not for the public");
  return {};
}

int Endpoints::webhook_port() const { return state_->webhooks ? state_->webhooks->port() : 0; }
int Endpoints::status_port() const { return state_->status ? state_->status->port() : 0; }

void Endpoints::SetWebhookSecret(std::string secret) {
  if (state_->webhook_route) state_->webhook_route->SetSecret(std::move(secret));
}
void Endpoints::RefuseWebhooks() {
  if (state_->webhook_route) state_->webhook_route->Refuse();
}
void Endpoints::Stop() {
  if (state_->webhooks) state_->webhooks->Stop();
  if (state_->status) state_->status->Stop();
}

}  // namespace warpwright::service
