// What came of the kernels of a run, as a whole, and of one that was interrupted.
#include <fmt/format.h>

#include <algorithm>

#include "app/optimize.h"
#include "app/task_explanation.h"
#include "report/explain.h"
#include "report/format.h"

namespace warpwright::app {

OptimizedKernel InterruptedKernel(const Workspace& workspace, const std::string& name) {
  OptimizedKernel kernel;
  kernel.name = name;
  kernel.message = "interrupted before its task began. The same command begins it.";
  report::Explanation& told = kernel.summary.explanation;
  told.kernel = name;
  told.outcome_reason = kernel.message;
  auto trajectory = workspace.OpenTrajectory();
  const auto tasks = trajectory ? trajectory->Tasks() : Fail(trajectory.error());
  if (!tasks) return kernel;
  for (const memory::TaskSummary& task : *tasks) {  // newest first
    if (task.key.kernel != name || task.key.device != workspace.device().name || task.result) continue;
    const auto view = trajectory->View(task.id);
    if (!view) return kernel;
    const report::Explanation e =
        report::Explain(*view, {.chip = workspace.device().chip, .models = ModelUseOf(*view)});
    kernel.task = task.id;
    kernel.counts = task.counts;
    kernel.seconds = e.seconds;
    for (const report::AttemptRow& attempt : e.attempts)
      if (attempt.accepted) kernel.gain = attempt.gain.value_or(kernel.gain);
    kernel.message =
        fmt::format("interrupted after {}; {} The same command goes on from there.", report::Effort(task.counts),
                    kernel.gain > 1 ? fmt::format("the best version so far is {} as fast, and not fully verified.",
                                                  report::FormatGain(kernel.gain))
                                    : std::string("no faster version so far."));
    told = e;
    told.outcome_reason = kernel.message;
    return kernel;
  }
  return kernel;
}

std::string_view Name(RunResult result) {
  switch (result) {
    case RunResult::kImproved: return "improved";
    case RunResult::kUnchanged: return "unchanged";
    case RunResult::kRegression: return "regression";
    case RunResult::kSkipped: return "skipped";
    case RunResult::kError: return "error";
  }
  return "";
}

RunResult ResultOf(const std::vector<OptimizedKernel>& kernels) {
  const auto any = [&](auto is) { return std::any_of(kernels.begin(), kernels.end(), is); };
  const auto came_out = [&](core::TaskOutcome outcome) {
    return any([&](const OptimizedKernel& k) { return k.outcome == outcome; });
  };
  if (kernels.empty() || came_out(core::TaskOutcome::kDetected)) return RunResult::kSkipped;
  if (any([](const OptimizedKernel& k) { return k.regression > 0; })) return RunResult::kRegression;
  if (any([](const OptimizedKernel& k) { return k.publication.failed; })) return RunResult::kError;
  if (came_out(core::TaskOutcome::kImproved)) return RunResult::kImproved;
  const bool failed = any([](const OptimizedKernel& k) { return k.outcome == core::TaskOutcome::kError || k.error; });
  return failed ? RunResult::kError : RunResult::kUnchanged;
}

std::vector<report::KernelSummary> Summaries(const std::vector<OptimizedKernel>& kernels) {
  std::vector<report::KernelSummary> summaries;
  for (const OptimizedKernel& kernel : kernels) summaries.push_back(kernel.summary);
  return summaries;
}

}  // namespace warpwright::app
