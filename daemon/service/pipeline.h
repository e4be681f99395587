// The steps that process a change, one unit of work each: poll, detect, run, publish, reply, reconcile. Each may be
// called from any one thread at a time (run: one for each device) and be interrupted anywhere; calling it again resumes
// from the store's state.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/operator_file.h"
#include "forge/forge.h"
#include "forge/webhook.h"
#include "repo/remote.h"
#include "service/device_circuit_breaker.h"
#include "service/job_runner.h"
#include "service/publisher.h"
#include "service/store.h"

namespace warpwright::service {

// A watched repository.
struct TrackedRepository {
  std::string name;  // "acme/kernels"; for a local repository, its path
  repo::RemoteAddress remote;
  std::vector<std::string> branches;  // short names; empty: the remote's main branch
  config::PublishTo publish = config::PublishTo::kPullRequest;
  std::optional<forge::RepositoryName> on_forge;
  repo::Signature author;        // of warpwright's commits; identifies its branches
  std::filesystem::path folder;  // STATE/repos/NAME: mirror.git, trajectory.sqlite, ...
  std::filesystem::path mirror() const { return folder / "mirror.git"; }
  Result<repo::Mirror> OpenMirror() const { return repo::Mirror::Open(mirror(), remote, author); }
};
// It has pull requests, checks and a dashboard there.
inline bool OnForge(const TrackedRepository& place, const forge::Forge* forge) {
  return forge != nullptr && place.on_forge && place.publish == config::PublishTo::kPullRequest;
}
// Names that are valid for folders, and differ if the URLs differ.
std::string FolderName(const std::string& name, const std::string& url);

// What a job's trajectory and its commit's manifest contain; read when it is published.
struct JobFacts {
  report::Explanation explanation;
  report::Provenance provenance;
  core::PullRequestPolicy policy;
};

struct PipelinePorts {
  Store& store;
  JobRunner& runner;
  const base::Clock& clock;
  forge::Forge* forge = nullptr;  // null: branches only
  forge::CommentPort* conversation = nullptr;
  std::function<Result<JobFacts>(const TrackedRepository&, const Job&)> read_facts;
};
struct PipelineSettings {
  std::vector<TrackedRepository> repositories;
  config::Ceilings limits;
  std::vector<std::string> devices;
  std::string version;
};

class Pipeline {
 public:
  Pipeline(PipelinePorts ports, PipelineSettings settings);

  // A new configuration: removed places are forgotten, their jobs cancelled.
  Status Apply(PipelineSettings settings);
  std::vector<TrackedRepository> Repositories() const;

  // Fetches and records which branches moved. True: there are new events.
  Result<bool> Poll(const std::string& repository);
  // One event becomes jobs. False: nothing to do.
  Result<bool> DetectNextEvent(const std::atomic<bool>& stop);
  // One job on this device, to its end.
  Result<bool> RunNextJob(const std::string& device);
  // One action of the forge thread: a reply, a publication, a dashboard.
  Result<bool> RunForgeStep();
  // Handles deliveries that need no query to the forge, and returns the repositories that moved and must be polled. The
  // rest is left to RunForgeStep.
  Result<std::set<std::string>> TriageDeliveries();
  // Queries the forge about each pull request that was open, as if all webhooks had been missed.
  Status Reconcile(const std::atomic<bool>& stop);
  Status StartNight(UnixMs due);
  // Kills the child of that job, or of all jobs; they resume where they stopped, unless they were cancelled.
  void StopJob(int64_t job);
  void StopJobs();
  int running() const;
  // Devices on which nothing is started for now, and why.
  std::vector<std::string> Resting() const { return breaker_.OpenCircuits(); }

 private:
  // pipeline.cpp
  std::optional<TrackedRepository> FindPlace(const std::string& repository) const;
  std::optional<TrackedRepository> FindPlace(const forge::RepositoryName& repository) const;
  config::Ceilings limits() const;
  // What is left to do of the changed entries: not what is our own result, merged.
  Result<bool> IsOurMergedResult(const DetectRequest& request, const NewJob& job, const TrackedRepository& place,
                                 const ChildWatch& watch);
  // Queues a job for each open pull request that no longer merges although its file alone changed.
  Status CarryOver(const TrackedRepository& place);
  Status Detect(const Event& event, const TrackedRepository& place, const std::atomic<bool>& stop);
  // pipeline_jobs.cpp
  Status Optimize(const Job& job, const TrackedRepository& place, const std::atomic<bool>& stop);
  Status Night(const Job& job, const TrackedRepository& place, const std::atomic<bool>& stop);
  Status Failed(const Job& job, const Error& error);
  // pipeline_publish.cpp
  Result<bool> PublishNextJob();
  Status PublishJob(const Job& job, const TrackedRepository& place);
  Status PublishNight(const Job& job, const TrackedRepository& place);
  Result<PublishRequest> MakeRequest(const Job& job, const TrackedRepository& place);
  Status Conclude(const Job& job, const Publication& publication);
  Status SayWhyItWaits(const Job& job, const std::string& why);
  Status Report(const Job& job, const TrackedRepository& place);
  Result<bool> UpdateNextDashboard();
  // pipeline_deliveries.cpp
  Result<bool> HandleNextDelivery();
  Status HandleDelivery(const StoredDelivery& delivery);
  Status HandleDelivery(const StoredDelivery& delivery, const TrackedRepository& place,
                        const forge::CommentEvent& event);
  Status HandleDelivery(const StoredDelivery& delivery, const TrackedRepository& place,
                        const forge::PullRequestEvent& event);
  Status HandleDelivery(const StoredDelivery& delivery, const TrackedRepository& place,
                        const forge::CheckRerequested& event);
  struct Reply {
    std::string text;
    std::vector<Event> events;
    bool refused = false;
  };
  Result<Reply> HandleCommand(const TrackedRepository& place, const forge::CommentEvent& comment,
                              const forge::SlashCommand& command);
  Result<Reply> HandleOptimizeCommand(const TrackedRepository& place, const forge::CommentEvent& comment,
                                      const forge::SlashCommand& command);
  Status SayOnOpenPullRequest(const TrackedRepository& place, const std::string& kernel, std::string_view headline);
  // What users did to a pull request by warpwright: closed, merged, ticked. `sender` empty: unknown.
  Result<std::vector<Event>> SyncPullRequest(const TrackedRepository& place, const std::string& kernel,
                                             const forge::PullRequestView& view, const std::string& sender);
  Status ReportForeignCommit(const TrackedRepository& place, const PublicationRow& row,
                             const forge::PullRequestView& view);
  Result<bool> MayCommand(const TrackedRepository& place, const std::string& login);

  PipelinePorts ports_;
  DeviceCircuitBreaker breaker_;
  mutable std::mutex mutex_;  // protects the following
  PipelineSettings settings_;
  std::map<int64_t, std::shared_ptr<std::atomic<bool>>> running_;                 // stop flags by job
  std::map<std::string, std::chrono::steady_clock::time_point> dashboard_shown_;  // forge thread only
};

}  // namespace warpwright::service
