#include "app/task_explanation.h"

#include "config/chip_file.h"
#include "core/device_name.h"
#include "llm/task_spending.h"
#include "report/diff_summary.h"
#include "report/explain.h"
#include "report/pull_request.h"

namespace warpwright::app {
namespace {

// File and entry from the manifest, if it still lists the kernel.
report::ExplainContext ContextOf(const Workspace& workspace, const memory::TrajectoryView& view) {
  report::ExplainContext context;
  const repo::Repository& repository = workspace.repository();
  const std::string& device = view.task.key.device;
  const auto name = core::DeviceName::Parse(device);
  if (auto chip = config::LoadChip(name ? name->chip : "")) context.chip = *chip;
  else if (workspace.device().gpu) context.chip = workspace.device().chip;
  if (context.chip.name.empty()) context.chip.name = device;  // measured on another machine than this one
  const auto head = repository.Resolve("HEAD");
  if (!head) return context;
  context.base_commit = *head;
  if (const auto branch = repository.Resolve("warpwright/" + view.task.key.kernel + "~1"))
    context.base_commit = *branch;
  if (const auto manifest = workspace.ManifestAt(*head))
    for (const auto& spec : manifest->kernels)
      if (spec.name == view.task.key.kernel) {
        context.file = spec.file;
        context.entry = spec.entry;
        context.allow = spec.allow;
        context.tolerance = spec.tolerance;
      }
  if (context.file.empty()) return context;
  if (const auto text = repository.Read(context.base_commit, context.file); text && *text)
    context.original_text = **text;
  const auto branch = repository.Resolve("warpwright/" + view.task.key.kernel);
  if (!branch) return context;
  if (const auto text = repository.Read(*branch, context.file); text && *text) context.result_text = **text;
  return context;
}

}  // namespace

report::ModelUse ModelUseOf(const memory::TrajectoryView& view) {
  const llm::TaskSpending asked = llm::SpendingOf(view);
  return {.questions = asked.questions,
          .names = {asked.models.begin(), asked.models.end()},
          .dollars = static_cast<double>(asked.known) * 1e-9,
          .unknown = asked.unknown,
          .gains = asked.gains};
}

report::Explanation ExplainTask(const Workspace& workspace, const memory::TrajectoryView& view,
                                const ToolchainSource& toolchain, const std::string& version) {
  report::ExplainContext context = ContextOf(workspace, view);
  context.version = version;
  context.toolchain = toolchain().value_or("unknown toolchain");
  context.models = ModelUseOf(view);
  return report::Explain(view, context);
}

std::string ProposedText(const repo::Repository& repository, const report::Explanation& explanation) {
  report::Provenance provenance;
  provenance.branch = "warpwright/" + explanation.kernel;
  const auto tip = repository.Resolve(provenance.branch);
  if (tip) provenance.candidate_commit = *tip;
  if (const auto diff =
          repository.Diff(explanation.base_commit, tip.value_or(explanation.base_commit), explanation.file))
    report::AddDiff(*diff, provenance);
  if (explanation.outcome == core::TaskOutcome::kImproved)
    return report::RenderPullRequest(explanation, provenance).body;
  const report::CheckText check = report::RenderCheck(explanation, provenance);
  return check.summary + "\n" + check.text;
}

}  // namespace warpwright::app
