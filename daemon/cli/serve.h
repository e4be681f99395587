// serve: the daemon, wired.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "config/operator_file.h"
#include "forge/app_auth.h"
#include "forge/github_client.h"
#include "service/pipeline.h"

namespace warpwright::cli {

class Session;

struct ServeOptions {
  std::string config = "/etc/warpwright/config.yml";
  std::string worker, cache;  // as for the other commands
};
Result<int> RunServe(const ServeOptions& options);
// What the file's parser does not know, and `serve` refuses: devices, addresses, schedules. kConfig.
Status CheckServable(const config::OperatorConfig& config);

// The repositories of a configuration. A repository is on the forge, and git gets the forge's token, only if its host
// is the forge's.
std::vector<service::TrackedRepository> TrackedRepositoriesOf(const config::OperatorConfig& config,
                                                              const std::shared_ptr<forge::TokenSource>& tokens);
// "github.com" of a URL, an API URL or "git@github.com:..."; empty if there is none.
std::string HostOf(std::string_view url);

// What a job's trajectory and manifest contain.
class FactsReader {
 public:
  explicit FactsReader(ServeOptions options) : options_(std::move(options)) {}
  Result<service::JobFacts> Read(const service::TrackedRepository& place, const service::Job& job);
  // For the status page, also while the job runs. Empty: there is none yet.
  Result<std::string> Trajectory(const service::TrackedRepository& place, const service::Job& job) const;

 private:
  Result<std::string> Toolchain(const Session& session);
  const ServeOptions options_;
  std::mutex mutex_;
  std::string toolchain_;  // queried once
};

}  // namespace warpwright::cli
