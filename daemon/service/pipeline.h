// The steps on the way of a change, one unit of work each: look, detect, run, publish, answer, reconcile. Each may be called from any one
// thread at a time (run: one for each device) and be cut off anywhere; calling it again goes on from what the store says.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/operator_file.h"
#include "forge/forge.h"
#include "forge/webhook.h"
#include "repo/remote.h"
#include "service/job_runner.h"
#include "service/publisher.h"
#include "service/store.h"

namespace warpwright {

// A repository that is looked after.
struct Place {
  std::string name;                        // "acme/kernels"; of a local one its path
  RemoteAddress remote;
  std::vector<std::string> branches;       // short names; empty: the remote's main branch
  PublishTo publish = PublishTo::kPullRequest;
  std::optional<RepositoryName> on_forge;
  std::filesystem::path folder;            // STATE/repos/NAME: mirror.git, trajectory.sqlite, ...
  std::filesystem::path mirror() const { return folder / "mirror.git"; }
};
// Names that are good as a folder's, and differ where the URLs differ.
std::string FolderName(const std::string& name, const std::string& url);

// What a job's trajectory and its commit's manifest say; read when it is published.
struct JobFacts {
  Explanation explanation;
  Provenance provenance;
  PullRequestPolicy policy;
};

struct PipelinePorts {
  Store& store;
  JobRunner& runner;
  const Clock& clock;
  Forge* forge = nullptr;                  // null: branches only
  Conversation* conversation = nullptr;
  std::function<Result<JobFacts>(const Place&, const Job&)> read_facts;
};
struct PipelineSettings {
  std::vector<Place> places;
  Ceilings limits;
  std::vector<std::string> devices;
  std::string author, version;
};

class Pipeline {
 public:
  Pipeline(PipelinePorts ports, PipelineSettings settings);

  // Another configuration: places that are gone are forgotten, their jobs cancelled.
  Status Apply(PipelineSettings settings);
  std::vector<Place> Places() const;

  // Fetches and records what moved. True: there are new events.
  Result<bool> Look(const std::string& repository);
  // One event becomes jobs. False: nothing to do.
  Result<bool> DetectOne(const std::atomic<bool>& stop);
  // One job on this device, to its end.
  Result<bool> RunOne(const std::string& device, const std::atomic<bool>& stop);
  // One act of the forge thread: an answer, a publication, a dashboard.
  Result<bool> ForgeOne();
  // Deliveries that need no question to the forge; the repositories that moved are answered, to be looked at. The rest is left to ForgeOne.
  Result<std::vector<std::string>> SortDeliveries();
  // Asks the forge about every pull request that was open, as if all webhooks had been missed.
  Status Reconcile();
  Status StartNight(UnixMs due);
  // Kills the child of that job, if it runs.
  void StopJob(int64_t job);

 private:
  Result<bool> PublishOne();
  Result<bool> AnswerOne();
  Result<bool> DashboardOne();
  Status Publish(const Job& job, const Place& place);
  Status Record(const Job& job, const Publication& publication, const PublishRequest& request);
  Status Optimize(const Job& job, const Place& place, const std::atomic<bool>& stop);
  Status Night(const Job& job, const Place& place, const std::atomic<bool>& stop);
  Status Report(const Job& job, const Place& place);
  std::optional<Place> FindPlace(const std::string& repository) const;
  std::optional<Place> FindPlace(const RepositoryName& repository) const;

  PipelinePorts ports_;
  mutable std::mutex mutex_;               // of what follows
  PipelineSettings settings_;
  std::map<int64_t, std::shared_ptr<std::atomic<bool>>> running_;  // stop flags by job
};

}  // namespace warpwright
