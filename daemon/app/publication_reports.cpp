#include "app/publication_reports.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "app/step_outputs.h"
#include "base/fd.h"
#include "base/file.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

Status Append(const fs::path& file, std::string_view text) {
  const base::Fd out(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!out.valid() || ::write(out.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return FailErrno("write " + file.string());
  return {};
}

// The kernel with the largest gain; among those with a pull request, if there are any.
const OptimizedKernel* Best(const std::vector<OptimizedKernel>& kernels) {
  const OptimizedKernel* best = nullptr;
  for (const OptimizedKernel& kernel : kernels) {
    if (kernel.summary.explanation.outcome != core::TaskOutcome::kImproved) continue;
    const bool proposed = kernel.publication.pull_request != 0,
               best_proposed = best != nullptr && best->publication.pull_request != 0;
    if (best == nullptr || proposed > best_proposed || (proposed == best_proposed && kernel.gain > best->gain))
      best = &kernel;
  }
  return best;
}

StepOutputs Outputs(const ReportPlaces& places, const std::vector<OptimizedKernel>& kernels, const RunReport& report) {
  const OptimizedKernel* best = Best(kernels);
  const auto improved = std::count_if(kernels.begin(), kernels.end(), [](const OptimizedKernel& k) {
    return k.summary.explanation.outcome == core::TaskOutcome::kImproved;
  });
  std::optional<double> dollars = 0;  // none: of some answer it is unknown
  double gain = 0;
  for (const OptimizedKernel& kernel : kernels) {
    const std::optional<double> more = kernel.asked.Dollars();
    dollars = dollars && more ? std::optional(*dollars + *more) : std::nullopt;
    if (kernel.summary.explanation.outcome == core::TaskOutcome::kImproved) gain = std::max(gain, kernel.gain);
  }
  const bool proposed = best != nullptr && best->publication.pull_request != 0;
  return {{"result", std::string(Name(report.result))},
          {"improved", std::to_string(improved)},
          {"kernels", report.kernels},
          {"best-speedup", gain > 0 ? fmt::format("{:.2f}", gain) : ""},
          {"pull-request-number", proposed ? std::to_string(best->publication.pull_request) : ""},
          {"pull-request-url", proposed ? best->publication.pull_request_url : ""},
          {"pull-request-operation", proposed ? best->publication.pull_request_operation : ""},
          {"pull-request-head-sha", proposed ? best->publication.head_sha : ""},
          {"branch", best != nullptr ? best->branch : ""},
          {"cost-usd", dollars ? fmt::format("{:.2f}", *dollars) : "unknown"},
          {"report-path", places.folder},
          {"trajectory-path", report.trajectory.string()}};
}

Status WriteFolder(const fs::path& folder, const std::vector<OptimizedKernel>& kernels, const std::string& report) {
  WW_TRY(base::WriteFileAtomically(folder / "report.json", report + "\n"));
  for (const OptimizedKernel& kernel : kernels) {
    const report::Explanation& explanation = kernel.summary.explanation;
    if (explanation.outcome == core::TaskOutcome::kImproved) {
      const report::PullRequestText text = report::RenderPullRequest(explanation, kernel.summary.provenance);
      WW_TRY(base::WriteFileAtomically(folder / (kernel.name + ".md"), "# " + text.title + "\n\n" + text.body));
    }
    if (!explanation.attempts.empty())
      WW_TRY(base::WriteFileAtomically(folder / (kernel.name + ".html"), report::RenderHtml(explanation)));
  }
  return {};
}

}  // namespace

Status WriteReports(const ReportPlaces& places, const std::vector<OptimizedKernel>& kernels, const RunReport& report,
                    const std::function<void(const std::string&)>& warn) {
  if (!places.folder.empty()) WW_TRY(WriteFolder(places.folder, kernels, report.report));
  if (!places.summary.empty()) WW_TRY(Append(places.summary, report::RenderJobSummary(Summaries(kernels))));
  if (!places.output.empty()) WW_TRY(WriteStepOutputs(places.output, Outputs(places, kernels, report), warn));
  return {};
}

Status WriteFailure(const ReportPlaces& places, const std::function<void(const std::string&)>& warn) {
  if (places.output.empty()) return {};
  const RunReport none{.report = {}, .kernels = "[]", .trajectory = {}, .result = RunResult::kError};
  return WriteStepOutputs(places.output, Outputs(places, {}, none), warn);
}

}  // namespace warpwright::app
