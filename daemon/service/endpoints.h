// The daemon's two HTTP listeners.
//   webhooks (public):  POST /webhook. Nothing else.
//   status (loopback):  /healthz /readyz /metrics, the status page at /, /api/snapshot, /api/trajectory/JOB. Read-only.
// They are independent of the store: what is accepted and what is shown goes through hooks, which are called from
// several threads concurrently.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "service/snapshot.h"

namespace warpwright::service {

struct Delivery {
  std::string id;     // X-GitHub-Delivery
  std::string event;  // X-GitHub-Event
  std::string body;   // the bytes with the valid signature; not parsed yet
};

struct EndpointOptions {
  std::string webhooks;  // "host:port", "[::1]:port"; empty: no such listener. Port 0: any free one.
  std::string status = "127.0.0.1:8421";
  std::string webhook_secret;  // must not be empty if `webhooks` is given: kConfig
  // A request that is not complete by then is aborted. GitHub itself waits 10 s for the response.
  std::chrono::milliseconds request_deadline{10'000};
  std::chrono::milliseconds oldest_heartbeat{30'000};  // /healthz returns 503 beyond
  int webhook_threads = 16, status_threads = 4;
};

struct EndpointHooks {
  // Stores the delivery durably before it returns. False: an earlier delivery had this id; nothing was stored. The
  // response to an Error is 503.
  std::function<Result<bool>(const Delivery&)> accept;
  std::function<DaemonSnapshot()> snapshot;
  // The trajectory of a job (JobSnapshot::id; tasks are numbered per repository, jobs are not), as TrajectoryJson
  // (service/status_json.h) writes it. Empty: there is none (yet); the response is 204.
  std::function<Result<std::string>(int64_t job)> trajectory;
  // The time since the last iteration of the daemon's loop. Must not wait for the loop or the store.
  std::function<std::chrono::milliseconds()> heartbeat_age;
};

class Endpoints {
 public:
  // Both listeners accept connections when this returns. kConfig: an address that does not parse, no secret;
  // kEnvironment: a port in use, a host that is not an address of this machine.
  static Result<std::unique_ptr<Endpoints>> Start(EndpointOptions options, EndpointHooks hooks);
  // What Start would refuse of the addresses, without opening anything: kConfig.
  static Status CheckAddresses(const EndpointOptions& options);
  ~Endpoints();  // as Stop

  int webhook_port() const;  // 0: not listening
  int status_port() const;
  // The secret in effect from now on.
  void SetWebhookSecret(std::string secret);
  // Webhooks are refused from now on (503), while status remains available; during draining.
  void RefuseWebhooks();
  // Completes pending requests and closes idle connections. Takes at most request_deadline. Idempotent.
  void Stop();

 private:
  struct State;
  explicit Endpoints(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::service
