// A daemon of the real programs, watching a repository of three small kernels on a stand-in for GitHub, as a GitHub
// App; and the user who pushes to it. For end-to-end tests and the kill benchmark.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "tests/support/github_stand_in/github_stand_in.h"

namespace warpwright {

struct DaemonKitOptions {
  std::filesystem::path programs;  // the folder of warpwright and warpwright-worker
  std::filesystem::path source;    // the project's folder: example kernels, rules
  std::filesystem::path cache;     // of compiled code; empty: a new one
  bool webhooks = true;
  int max_rounds = 1;
  FaultOptions faults;
};

// Kernels "row_sum", "softmax" and "transpose" of config/examples/kernels with small cases; row_sum is the one that
// changes, and gets faster within seconds.
class DaemonKit {
 public:
  // Everything but the daemon runs when this returns. Throws std::runtime_error: without its environment a test makes
  // no sense.
  explicit DaemonKit(DaemonKitOptions options);
  ~DaemonKit();

  static constexpr const char* kRepository = "acme/kernels";
  GithubStandIn& hub() { return *hub_; }
  const std::filesystem::path& folder() const { return root_.path(); }
  std::filesystem::path state() const { return folder() / "state"; }

  // --- The daemon
  void Start(bool wait_until_seen = true);  // and wait until it has seen the repository
  void Kill();                              // SIGKILL to the daemon alone
  int Stop(std::chrono::seconds deadline);  // SIGTERM; the exit code, -1 if it did not end in time
  bool running() const;
  std::string log() const;  // of all daemons so far
  // Processes that have our state folder in their command line, other than the daemon.
  std::vector<std::string> Leftovers() const;
  // The daemon's child processes and theirs, as other users of the machine could see them.
  struct Process {
    int pid = 0;
    bool is_itself = true;                 // false: the daemon's child before exec, which still looks like the daemon
    std::string command, environment;      // NUL bytes replaced by spaces and newlines
    std::vector<std::string> descriptors;  // what they point to
  };
  std::vector<Process> Descendants() const;
  nlohmann::json Snapshot() const;  // null if there is no response
  int StatusOf(const std::string& path, std::string* body = nullptr) const;

  // --- The user
  std::filesystem::path clone() const { return folder() / "clone"; }
  std::string Git(std::vector<std::string> arguments) const;  // in the clone; throws if git fails
  void Edit(const std::string& file, const std::function<std::string(std::string)>& edit) const;
  // Changes row_sum's slice without changing any result, in its file and in a header that only it includes. Not pushed.
  void ChangeKernel(int version) const;
  void ChangeHeader(int version) const;
  std::string CommitAndPush(const std::string& message) const;  // the commit's id

  // --- Webhooks. Return the status of the response.
  int Deliver(const std::string& event, const nlohmann::json& payload, const std::string& id,
              const std::string& signature = {}) const;
  nlohmann::json CommentPayload(int64_t issue, int64_t comment, const std::string& login,
                                const std::string& body) const;
  nlohmann::json PullRequestPayload(int64_t number, const std::string& action, const std::string& login) const;

  // Polls `done` until it is true; false at the deadline.
  bool Wait(const std::function<bool()>& done, std::chrono::seconds deadline = std::chrono::seconds(300)) const;
  // No job of the daemon is queued, running or publishing.
  bool Idle() const;

 private:
  void WriteConfig();
  void MakeClone();
  std::string MakeAppKey() const;  // the public half, PEM

  const DaemonKitOptions options_;
  base::TemporaryDirectory root_;
  std::unique_ptr<GithubStandIn> hub_;
  std::optional<base::Child> daemon_;
  int webhook_port_ = 0, status_port_ = 0, starts_ = 0;
};

// A port of 127.0.0.1 that is free at this moment.
int FreePort();

}  // namespace warpwright
