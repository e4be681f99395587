#include "app/init.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/draft_workflow.h"
#include "base/file_below.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/version.h"

namespace warpwright::cli {
namespace {

void SayWhatTheWorkflowDoes(const std::string& branch) {
  const core::PullRequestPolicy policy;
  fmt::print(
      "What it does once it is pushed: on a push to {} that changes CUDA sources, a runner with the labels "
      "self-hosted, linux, x64 and gpu optimizes\n"
      "the kernels that changed, and opens a pull request for each that is faster: at most {} open at a time and {} a "
      "day, one commit and one branch\n"
      "(warpwright/<kernel>) each. Nothing is merged, and nothing runs for forks. Try it with the input "
      "dry-run=optimize "
      "first.\n",
      branch, policy.max_open, policy.max_per_day);
}

void Print(const app::InitDraft& draft) {
  fmt::print("{}", draft.manifest.text.value_or(""));
  if (draft.workflow.text) fmt::print("---\n# {}\n{}", app::kWorkflowFile, *draft.workflow.text);
}

// Reports the outcome for each file.
Status Write(const app::InitDraft& draft, bool with_workflow) {
  const std::string manifest = draft.manifest.path.string(), workflow = draft.workflow.path.string();
  const std::filesystem::path root = draft.manifest.path.parent_path();
  if (const auto& text = draft.manifest.text) {
    WW_TRY(base::WriteFileBelow(root, draft.manifest.path.filename(), *text));
    const auto questions = std::count(text->begin(), text->end(), '?');
    fmt::print("Wrote {} with {} files. Replace its {} question marks, then run `warpwright check`.\n", manifest,
               draft.sources, questions);
  } else {
    fmt::print("Kept {}, which already exists.\n", manifest);
  }
  if (const auto& text = draft.workflow.text) {
    WW_TRY(base::WriteFileBelow(root, draft.workflow.path.lexically_relative(root), *text));
    fmt::print("Wrote {}.\n", workflow);
    SayWhatTheWorkflowDoes(draft.branch);
  } else if (with_workflow) {
    fmt::print("Kept {}, which already exists.\n", workflow);
  }
  return {};
}

}  // namespace

Result<int> RunInit(const InitOptions& options) {
  WW_ASSIGN(const Session session, Session::Open(options.common));
  worker::WorkerEvaluator worker = session.MakeWorker();
  Progress progress(options.common.quiet || options.common.json);
  const app::InitRequest request{.replace = options.print || options.force,
                                 .workflow = !options.no_workflow,
                                 .version = kVersion,
                                 .action = kActionReference};
  WW_ASSIGN(const app::InitDraft draft, app::DraftFiles(session.workspace(), request, worker, progress.Callbacks()));
  if (options.print) Print(draft);
  else WW_TRY(Write(draft, request.workflow));
  return kExitDone;
}

}  // namespace warpwright::cli
