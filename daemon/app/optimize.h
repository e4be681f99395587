// optimize: the changed entries of a revision, each judged, refined, committed to its branch and published.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/team.h"
#include "app/judging.h"
#include "app/publication.h"
#include "app/shards.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "llm/task_spending.h"
#include "memory/experience.h"
#include "memory/journal.h"

namespace warpwright::app {

struct OptimizeRequest {
  std::string revision = "HEAD";  // the trusted original
  std::string changed_since;      // only entries that differ from this revision; empty: all
  bool find_regressions = false;  // time what changed against `changed_since`
  bool detect_only = false;       // only report what would be optimized
  bool make_branches = true;
  std::string base_branch;     // target branch named in a pull request's text
  std::optional<Shard> shard;  // only its kernels
  std::string author;          // of commits; AuthorOf
  int max_rounds = 0;          // 0: the manifest's
  double max_minutes = 0;
  bool again = false;   // forget a finished task and start over
  std::string version;  // of this build
};

// The agents of a task, on whose account models are asked; empty: all built in.
struct TeamSource {
  std::function<Result<agents::Team>(const std::string& task, memory::Journal&)> make;
  std::string digest;  // of what decides their proposals
  // So that a replay's judge draws what the recorded run's drew; empty: nothing is replayed, and nothing recorded.
  std::function<Result<uint64_t>(const std::string& of)> draw_secret = {};
};

struct OptimizeServices {
  RestartableEvaluator trusted;  // only ever runs the repository's own code
  RestartableEvaluator candidates;
  core::ProcessSource another =
      {};  // more processes of either kind, as in JudgeOptions; empty: there are no cores for it
  std::function<std::map<std::string, double>()> seconds;  // the time that both spent so far, by stage; may be empty
  ToolchainSource toolchain;
  SkillsSource skills;
  memory::ExperienceStore& experience;
  const base::Clock& clock;
  base::Deadline* deadline = nullptr;                 // of the present task; both evaluators and the models obey it
  std::optional<worker::WorkerCommand> tools_worker;  // what the acceptance tools run; none: they are skipped
  TeamSource team = {};
  PublisherSource publisher;  // called once, before any time is spent; empty: nothing is published
  ProgressCallbacks progress = {};
  // Called around each kernel, for what must be told if the run is interrupted; may be empty.
  std::function<void(const std::string& kernel)> began = {};
  std::function<void(const struct OptimizedKernel& kernel)> ended = {};
};

struct CaseOutcome {
  std::string name;
  double original_us = 0, us = 0;
  double original_host_us = 0, host_us = 0;   // of the launchers' own code, per call
  std::optional<core::TimingSummary> timing;  // on a real device
};
struct OptimizedKernel {
  std::string name;
  core::TaskOutcome outcome = core::TaskOutcome::kUnfinished;
  std::string message;
  std::optional<ErrorCode> error;  // of the failure, if it is one; a mistake of the user's is kRefused
  std::string branch, commit;      // of the winner
  double gain = 1, seconds = 0;
  memory::TaskCounts counts;
  memory::TaskId task = 0;
  std::vector<CaseOutcome> cases;  // if it improved
  double roofline_pct_before = 0, roofline_pct_after = 0;
  std::map<std::string, double> spent;  // seconds by stage, of both workers
  report::KernelSummary summary;        // for reports and the pull request
  PublicationOutcome publication;
  double regression = 0;             // times slower than before the change, if requested and found
  std::vector<std::string> pending;  // questions to models that nobody answered yet
  bool out_of_time = false;          // the limit of minutes ended it
  llm::TaskSpending asked;           // of models, in all runs of the task
  std::vector<std::string> drafts;   // files: cards of methods that models described
};

// A failure at one kernel, or at publishing its result, does not affect the others.
Result<std::vector<OptimizedKernel>> OptimizeKernels(Workspace& workspace, const OptimizeRequest& request,
                                                     const OptimizeServices& services);

// What the trajectory holds of a kernel that a run was interrupted at: the best version so far, from which the next run
// goes on.
OptimizedKernel InterruptedKernel(const Workspace& workspace, const std::string& name);

// Of the whole run, as the Action's output `result`.
enum class RunResult : uint8_t { kImproved, kUnchanged, kRegression, kSkipped, kError };
std::string_view Name(RunResult result);  // "improved"
RunResult ResultOf(const std::vector<OptimizedKernel>& kernels);
std::vector<report::KernelSummary> Summaries(const std::vector<OptimizedKernel>& kernels);

}  // namespace warpwright::app
