// A server on loopback that behaves like GitHub for what warpwright requests from it: the REST API below /api/v3 (as on
// an Enterprise server), and git over smart HTTP at /OWNER/NAME.git. Requests are checked against GitHub's OpenAPI
// description; one that breaks a rule gets a 422 and is recorded as a violation. What GitHub only asks of clients (a
// second between writes, one request at a time) is recorded as conduct.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/support/github_stand_in/faults.h"

namespace warpwright {

struct StandInOptions {
  std::filesystem::path repositories;  // OWNER/NAME.git are created here
  std::filesystem::path rules;         // rules.json
  int port = 0;
  bool enforce_secondary = false;  // a write within `between_writes` of the last is 403 with retry-after: 1
  std::chrono::milliseconds between_writes{900};  // a client waits 1 s; what it sends may arrive a little closer
  int hourly_limit = 5000;                        // requests of one token; a 304 is free
  FaultOptions faults;
};

struct LoggedRequest {
  int64_t ms = 0;                              // since the start
  std::string method, path, operation, login;  // path with its query
  int status = 0;
  bool git = false, done = false;  // done: its act took place
  Fault fault = Fault::kNone;
  std::vector<std::string> violations, conduct;
};
struct Push {
  std::string repository, ref, before, after, login;
};

class GithubStandIn {
 public:
  static Result<std::unique_ptr<GithubStandIn>> Start(StandInOptions options);
  ~GithubStandIn();

  int port() const;
  std::string url() const;                                    // "http://127.0.0.1:1234"
  std::string api() const;                                    // url() + "/api/v3"
  std::string CloneUrl(const std::string& repository) const;  // url() + "/acme/kernels.git"
  std::filesystem::path GitFolder(const std::string& repository) const;

  Status AddRepository(const std::string& name);  // with its bare repository
  // Empty permissions: all. `app`: may write check runs, as an Action's own token may.
  void AddToken(const std::string& token, const std::string& login, bool app = false);
  void SetApp(const std::string& id, const std::string& slug, const std::string& public_key_pem,
              std::chrono::seconds token_life);
  void RevokeTokens();  // those that the App created
  void AddPerson(const std::string& login, const std::string& repository = {}, const std::string& role = {});

  // Actions of users.
  int64_t Comment(const std::string& repository, int64_t issue, const std::string& login, const std::string& body);
  void SetPullRequestState(const std::string& repository, int64_t number, const std::string& state,
                           const std::string& login, bool merged = false);
  void EditBody(const std::string& repository, int64_t number, const std::function<std::string(std::string)>& edit);
  void RemoveLabel(const std::string& repository, int64_t number, const std::string& label, const std::string& login);
  void SetFaults(FaultOptions options);

  // The present state: {"pulls": [...], "issues": [...], "comments": [...], "checks": [...], "statuses": {sha: [...]},
  // "reactions": {id: [...]}, "events": {number: [...]}}. Checks with their annotations; issues without the pull
  // requests.
  nlohmann::json Dump(const std::string& repository) const;
  std::vector<LoggedRequest> Log() const;
  std::vector<Push> Pushes() const;
  int minted_tokens() const;
  // All violations, with their requests; likewise for `conduct`.
  std::vector<std::string> Violations() const;
  std::vector<std::string> Conduct() const;

 private:
  struct State;
  explicit GithubStandIn(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Sends a webhook as GitHub does. Empty `signature`: computed with `secret`; "none": no header. Returns the status of
// the response, 0 if there was none.
struct WebhookDelivery {
  std::string url, secret, event, body, id, signature;
};
int SendWebhook(const WebhookDelivery& delivery);
// "sha256=..." over the body.
std::string WebhookSignature(const std::string& secret, const std::string& body);

}  // namespace warpwright
