// What a command needs before its use case can run: options, the workspace, and the implementations of the use case's
// ports.
//
//   <git directory>/warpwright/      the workspace's state
//   $XDG_CACHE_HOME/warpwright/      compiled modules and recorders, by content
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/doctor.h"
#include "app/judging.h"
#include "app/workspace.h"
#include "memory/experience.h"
#include "skills/library.h"
#include "worker/worker_evaluator.h"

namespace warpwright::cli {

struct CommonOptions {
  std::string repo = ".";
  std::string device = "sim:h200";
  std::vector<std::string> kernels;  // empty: all
  std::string skills;                // folder; empty: built in
  std::string state;                 // folder; empty: below the git directory
  std::string cache;
  std::string worker;  // command line; empty: warpwright-worker next to this program
  bool json = false;
  bool quiet = false;
};

class Session {
 public:
  static Result<Session> Open(const CommonOptions& options);

  const CommonOptions& options() const { return options_; }
  app::Workspace& workspace() { return workspace_; }
  const app::Workspace& workspace() const { return workspace_; }

  worker::WorkerCommand Worker() const;
  worker::WorkerEvaluator MakeWorker() const { return worker::WorkerEvaluator(Worker()); }
  // Workers that run beside the two of a task, and end when `deadline` is over; empty on a machine of few cores.
  core::ProcessSource Another(base::Deadline* deadline) const;
  memory::JsonLinesStore Experiences() const;
  // They may outlive the session.
  app::ToolchainSource Toolchain() const;
  app::SkillsSource Skills() const;

 private:
  Session(CommonOptions options, app::Workspace workspace)
      : options_(std::move(options)), workspace_(std::move(workspace)) {}

  CommonOptions options_;
  app::Workspace workspace_;
};

// `worker` outlives it.
app::RestartableEvaluator Restartable(worker::WorkerEvaluator& worker);
std::filesystem::path CacheFolder(const CommonOptions& options);
// The worker's command line, with its --cache.
std::vector<std::string> WorkerArguments(const CommonOptions& options);
// A worker's report about the machine that it runs on, outside its sandbox.
Result<base::Completed> QueryMachine(const CommonOptions& options, const std::vector<std::string>& question);
// kUsage if it names no kind of device.
Status CheckDeviceName(const std::string& device);
// kUsage: there is no repository at `path`.
Result<repo::Repository> OpenRepository(const std::string& path);
// The built-in ones if the options name no folder.
Result<skills::SkillLibrary> LoadSkillsOf(const CommonOptions& options);

}  // namespace warpwright::cli
