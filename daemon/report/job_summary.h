// What the Action reports in addition to a pull request: the summary of a step (GITHUB_STEP_SUMMARY) and workflow
// commands that annotate lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/explanation.h"
#include "report/pull_request.h"

namespace warpwright::report {

inline constexpr size_t kMaxSummaryBytes = 200'000;    // GitHub drops a summary over 1 MiB entirely
inline constexpr size_t kMaxAnnotationsPerLevel = 10;  // of a step; GitHub silently drops more

// A failure of our own, for the summary and as a workflow command: what failed, where, and its remedy.
std::string RenderFailure(const Error& error);
std::string FailureCommand(const Error& error);
// Has the runner hide a text of one line in its log.
std::string MaskCommand(std::string_view secret);

// One kernel of a run. `explanation.outcome` decides how it is shown.
struct KernelSummary {
  Explanation explanation;
  Provenance provenance;
  std::string pull_request_url;        // empty: none
  std::string pull_request_operation;  // "created", "updated", "unchanged"
  std::string publication_error;       // why the result was not published
  double regression = 0;               // times slower than in `slower_than`; 0: it is not, or nobody asked
  std::string slower_than;             // a revision
};
// Markdown, at most kMaxSummaryBytes: a table of all kernels, then the details of each, improved ones first.
std::string RenderJobSummary(const std::vector<KernelSummary>& kernels);

enum class NoteLevel { kNotice, kError };
std::string_view Name(NoteLevel level);
// "::notice file=src/a.cu,line=3,title=T::message", with `%`, CR, LF, and in properties `:` and `,` escaped.
std::string WorkflowCommand(NoteLevel level, std::string_view file, int line, std::string_view title,
                            std::string_view message);
// The notes of all checks as notices, one per line, at most kMaxAnnotationsPerLevel; the last one states how many are
// missing.
std::string RenderAnnotations(const std::vector<KernelSummary>& kernels);
// An error for each kernel that was refused, that failed, that could not be published or that became slower, at its
// line if the reason names one.
std::string RenderFailures(const std::vector<KernelSummary>& kernels);

}  // namespace warpwright::report
