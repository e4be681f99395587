// Work in child processes: this program with the commands plan, optimize and nightly. Their environment is an
// allow-list without secrets, they die with the thread that runs them, and what they print is bounded and parsed as
// untrusted JSON.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/job.h"

namespace warpwright::service {

struct JobWorkspace {
  std::filesystem::path mirror, state;  // of the repository
  std::string device;
};
struct DetectRequest {
  JobWorkspace place;
  std::string from, to, kernel;
};
struct DetectedEntry {
  NewJob job;
  bool changed = false;
};
struct RunRequest {
  JobWorkspace place;
  std::string commit, kernel;  // no kernel: a nightly run of all
  int max_rounds = 0;          // 0: the manifest's
  double max_minutes = 0;
  bool again = false;
  std::string author;      // "Name <mail>"
  std::string carry = {};  // a commit of the kernel's branch: carry it over to `commit` instead of searching
};
struct NightFinding {
  std::string kernel, message;  // which says since what it is slower
  bool optimize = false;
};
struct NightResult {
  core::TaskOutcome outcome = core::TaskOutcome::kChecked;  // or regression, error
  std::string message;
  std::vector<NightFinding> findings;
  std::string branch, branch_commit;  // of the history, in the mirror
};

// The message (kTimeout) if a child was stopped.
inline constexpr std::string_view kInterrupted = "interrupted";

// How a child is monitored. Setting `stop` kills it and its process group; it resumes from its trajectory when it is
// started again.
struct ChildWatch {
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::string_view line)>
      progress;  // each line on stderr, control characters removed, at most 500 bytes
  std::chrono::milliseconds deadline{0};
};

class JobRunner {
 public:
  virtual ~JobRunner() = default;
  virtual Result<std::vector<DetectedEntry>> Detect(const DetectRequest& request, const ChildWatch& watch) = 0;
  virtual Result<JobResult> Optimize(const RunRequest& request, const ChildWatch& watch) = 0;
  virtual Result<NightResult> Night(const RunRequest& request, const ChildWatch& watch) = 0;
};

// What `optimize` is given in addition, for its language models.
struct ModelAccess {
  std::vector<std::string> options;                // --config, --model-keys
  std::function<Result<std::string>()> keys = {};  // on its standard input: in no environment and no command line
};

class ProcessJobRunner final : public JobRunner {
 public:
  // `program`: argv of warpwright, `extra`: options for each command (--worker, --cache).
  ProcessJobRunner(std::vector<std::string> program, std::vector<std::string> extra, ModelAccess models = {});
  Result<std::vector<DetectedEntry>> Detect(const DetectRequest& request, const ChildWatch& watch) override;
  Result<JobResult> Optimize(const RunRequest& request, const ChildWatch& watch) override;
  Result<NightResult> Night(const RunRequest& request, const ChildWatch& watch) override;

 private:
  struct Output {
    int exit_code = 0;
    std::string out, last_lines;
  };
  Result<Output> RunChild(std::vector<std::string> arguments, const JobWorkspace& place, const ChildWatch& watch,
                          const std::string& input = {}) const;
  std::vector<std::string> program_, extra_;
  ModelAccess models_;
};

// Parses the children's output. kCorrupt: it is not in their format; sizes, depths and counts are bounded.
Result<std::vector<DetectedEntry>> ParsePlan(std::string_view json);
Result<JobResult> ParseOptimization(std::string_view json, std::string_view kernel);
Result<NightResult> ParseNight(std::string_view json);
// PATH, HOME, TMPDIR, LANG, XDG_CACHE_HOME and the variables that select GPUs and toolkits; nothing else of this
// process.
std::map<std::string, std::string> ChildEnvironment();

}  // namespace warpwright::service
