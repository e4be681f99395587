// What a run leaves behind for people and later steps: summary, report folder, outputs, annotations.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"
#include "base/file.h"
#include "cli/publish_pull_request.h"

namespace warpwright {
namespace {

namespace fs = std::filesystem;

Status Append(const fs::path& file, std::string_view text) {
  const Fd out(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!out.valid() || ::write(out.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return FailErrno("write " + file.string());
  return {};
}

// The kernel with the largest gain, of those that have a pull request where there are any.
const SaidResult* Best(const std::vector<SaidResult>& results) {
  const SaidResult* best = nullptr;
  for (const SaidResult& result : results) {
    if (result.summary.explanation.outcome != "improved") continue;
    const bool said = result.pull_request != 0, best_said = best != nullptr && best->pull_request != 0;
    if (best == nullptr || said > best_said || (said == best_said && result.gain > best->gain)) best = &result;
  }
  return best;
}

StepOutputs Outputs(const PublicationOptions& options, const std::vector<SaidResult>& results, const RunReport& report) {
  const SaidResult* best = Best(results);
  const auto improved = std::count_if(results.begin(), results.end(), [](const SaidResult& r) { return r.summary.explanation.outcome == "improved"; });
  double dollars = 0, gain = 0;
  for (const SaidResult& result : results) {
    dollars += result.summary.provenance.model_dollars;
    if (result.summary.explanation.outcome == "improved") gain = std::max(gain, result.gain);
  }
  const bool said = best != nullptr && best->pull_request != 0;
  return {{"result", report.result},
          {"improved", std::to_string(improved)},
          {"kernels", report.kernels},
          {"best-speedup", gain > 0 ? fmt::format("{:.2f}", gain) : ""},
          {"pull-request-number", said ? std::to_string(best->pull_request) : ""},
          {"pull-request-url", said ? best->summary.pull_request_url : ""},
          {"pull-request-operation", said ? best->summary.pull_request_operation : ""},
          {"pull-request-head-sha", said ? best->head_sha : ""},
          {"branch", best != nullptr ? best->branch : ""},
          {"cost-usd", fmt::format("{:.2f}", dollars)},
          {"report-path", options.report},
          {"trajectory-path", report.trajectory.string()}};
}

Status WriteFolder(const fs::path& folder, const std::vector<SaidResult>& results, const std::string& report) {
  WW_TRY(WriteFileAtomically(folder / "report.json", report + "\n"));
  for (const SaidResult& result : results) {
    const Explanation& explanation = result.summary.explanation;
    if (explanation.outcome == "improved") {
      const PullRequestText text = RenderPullRequest(explanation, result.summary.provenance);
      WW_TRY(WriteFileAtomically(folder / (result.kernel + ".md"), "# " + text.title + "\n\n" + text.body));
    }
    if (!explanation.attempts.empty()) WW_TRY(WriteFileAtomically(folder / (result.kernel + ".html"), RenderHtml(explanation)));
  }
  return {};
}

}  // namespace

Status WriteReports(const PublicationOptions& options, const std::vector<SaidResult>& results, const RunReport& report, WorkflowCommands& commands) {
  std::vector<KernelSummary> summaries;
  for (const SaidResult& result : results) summaries.push_back(result.summary);
  if (!options.report.empty()) WW_TRY(WriteFolder(options.report, results, report.report));
  if (!options.summary.empty()) WW_TRY(Append(options.summary, RenderJobSummary(summaries)));
  if (!options.output.empty()) WW_TRY(WriteStepOutputs(options.output, Outputs(options, results, report)));
  commands.Resume();  // our own, escaped, after everything that others wrote
  if (options.annotations) commands.Print(RenderAnnotations(summaries));
  return {};
}

}  // namespace warpwright
