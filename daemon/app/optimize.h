// optimize: the entries of a revision that changed, each judged, refined, put on its branch and published.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/judging.h"
#include "app/publication.h"
#include "app/shards.h"
#include "base/clock.h"
#include "memory/experience.h"

namespace warpwright::app {

struct OptimizeRequest {
  std::string revision = "HEAD";  // the trusted original
  std::string changed_since;      // only entries that differ from this revision; empty: all
  bool find_regressions = false;  // time what changed against `changed_since`
  bool detect_only = false;       // say what would be optimized, and no more
  bool make_branches = true;
  std::string base_branch;     // target branch named in a pull request's text
  std::optional<Shard> shard;  // only its kernels
  std::string author;          // of commits; AuthorOf
  int max_rounds = 0;          // 0: the manifest's
  double max_minutes = 0;
  bool again = false;   // forget a finished task and start over
  std::string version;  // of this build
};

using WinnerCheck = std::function<std::vector<core::ToolFinding>(const core::KernelSpec&, const core::SourceRef& winner,
                                                                 const core::Measured&)>;

struct OptimizeServices {
  RestartableEvaluator trusted;  // only ever sees the repository's own code
  RestartableEvaluator candidates;
  std::function<std::map<std::string, double>()> seconds;  // where the time of both went so far, by stage; may be empty
  ToolchainSource toolchain;
  SkillsSource skills;
  memory::ExperienceStore& experience;
  const base::Clock& clock;
  WinnerCheck check_winner;   // other tools look at what would be accepted; may be empty
  PublisherSource publisher;  // called once, before any time is spent; empty: nothing is published
  ProgressCallbacks progress = {};
};

struct CaseOutcome {
  std::string name;
  double original_us = 0, us = 0;
  std::optional<core::TimingSummary> timing;  // on a real device
};
struct OptimizedKernel {
  std::string name;
  core::TaskOutcome outcome = core::TaskOutcome::kUnfinished;
  std::string message;
  std::string branch, commit;  // of the winner
  double gain = 1, seconds = 0;
  int rounds = 0, evaluations = 0;
  memory::TaskId task = 0;
  std::vector<CaseOutcome> cases;  // where it improved
  double roofline_pct_before = 0, roofline_pct_after = 0;
  std::map<std::string, double> spent;  // seconds by stage, of both workers
  report::KernelSummary summary;        // for reports and the pull request
  PublicationOutcome publication;
  double regression = 0;  // times slower than before the change, if that was requested and found
};

// One kernel that we fail at, or whose result cannot be published, does not take the others with it.
Result<std::vector<OptimizedKernel>> OptimizeKernels(Workspace& workspace, const OptimizeRequest& request,
                                                     const OptimizeServices& services);

// Of the whole run, as the Action's output `result`: improved, unchanged, regression, skipped, error.
std::string_view RunResult(const std::vector<OptimizedKernel>& kernels);
std::vector<report::KernelSummary> Summaries(const std::vector<OptimizedKernel>& kernels);

}  // namespace warpwright::app
