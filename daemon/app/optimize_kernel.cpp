#include "app/optimize_kernel.h"

#include <fmt/format.h>

#include <cmath>

#include "app/draft_cards.h"
#include "app/lift.h"
#include "app/task_explanation.h"
#include "app/time_spent.h"
#include "base/hash.h"
#include "judge/source_file.h"
#include "report/diff_summary.h"
#include "report/explain.h"
#include "search/refine.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

// Of a task's minutes so much may go into finding out what is computed; the rest is worth more without a formula.
std::chrono::seconds LongestLift(double max_minutes) {
  constexpr double kShare = 1.0 / 3, kLeastSeconds = 10;
  return std::chrono::seconds(std::llround(std::max(kLeastSeconds, kShare * 60 * max_minutes)));
}

using AskTools = decltype(search::RefineServices::tools);

std::vector<CaseOutcome> CompareCases(const search::RefineResult& refined) {
  std::vector<CaseOutcome> cases;
  const auto* original = std::get_if<core::Measured>(&refined.baseline.original);
  for (const core::CaseMeasurement& after : refined.accepted->cases) {
    CaseOutcome c{.name = after.case_name, .us = after.time_us, .host_us = after.host_us, .timing = after.timing};
    for (const core::CaseMeasurement& before :
         original != nullptr ? original->cases : std::vector<core::CaseMeasurement>())
      if (before.case_name == after.case_name) {
        c.original_us = after.timing ? after.timing->original_us : before.time_us;
        c.original_host_us = before.host_us;
      }
    cases.push_back(std::move(c));
  }
  return cases;
}

Status Forget(memory::Trajectory& trajectory, const memory::TaskKey& key) {
  WW_ASSIGN(const auto tasks, trajectory.Tasks());
  for (const auto& task : tasks)
    if (task.key.kernel == key.kernel && task.key.base_hash == key.base_hash && task.key.device == key.device &&
        task.key.config_digest == key.config_digest)
      WW_TRY(trajectory.DiscardTask(task.id));
  return {};
}

class KernelTask {
 public:
  explicit KernelTask(const OptimizeRun& run) : run_(run) {}

  Result<OptimizedKernel> Optimize(const core::KernelSpec& spec, memory::Trajectory& trajectory) {
    WW_TRY(run_.workspace.repository().Read(run_.commit, spec.file));  // reports a file in a submodule or in Git LFS
    WW_ASSIGN(const core::SourceRef original, judge::ReadSource(run_.tree, spec));
    const search::RefineTask task = TaskFor(spec, original);
    if (run_.request.again)
      WW_TRY(Forget(trajectory, {.kernel = spec.name,
                                 .base_hash = base::Sha256(original.text),
                                 .device = task.device,
                                 .config_digest = task.config_digest}));

    const auto began = run_.services.clock.Steady();
    base::Deadline* const deadline = run_.services.deadline;
    if (deadline != nullptr)
      deadline->Set(began + std::chrono::milliseconds(std::llround(60'000 * task.policy.max_minutes)));
    const RestartableEvaluator& candidates = run_.services.candidates;
    // Once, for the judge and for the trajectory.
    LiftOnce lifted(run_.workspace.device(), spec, original, run_.services.trusted.evaluator, run_.services.another,
                    LongestLift(task.policy.max_minutes));
    const auto lift = [&] { return lifted.Get(); };
    const auto judge = MakeJudge({.device = run_.workspace.device(),
                                  .spec = spec,
                                  .original = original,
                                  .manifest = run_.manifest,
                                  .references = run_.tree,
                                  .toolchain = run_.toolchain,
                                  .fresh_worker = candidates.restart,
                                  .lift = lift,
                                  .draw_secret = run_.services.team.draw_secret,
                                  .another = run_.services.another},
                                 run_.services.trusted.evaluator);
    const auto spent_before = Spent();
    const fs::path references = run_.tree / ".warpwright/references" / spec.name;
    if (!fs::exists(references)) {
      run_.services.progress.step(spec.name + ": recording references from " + run_.commit.substr(0, 12));
      if (const auto recorded = judge->Record(); !recorded) {
        std::error_code ignored;
        fs::remove_all(references, ignored);  // what is there is not all
        if (deadline == nullptr || !deadline->broke_off()) return Fail(recorded.error());
        return WithoutTask(run_.workspace.device(), spec, core::TaskOutcome::kUnchanged,
                           fmt::format("nothing was tried: the limit of {:g} minutes was over before references were "
                                       "recorded; {}",
                                       task.policy.max_minutes,
                                       WhereTimeWent(SpentSince(spent_before), 60 * task.policy.max_minutes)));
      }
    }
    // On a simulated device only where the repository asks for it: it is for trying out, and nvcc takes seconds.
    const bool asks_tools = run_.workspace.device().gpu || !task.policy.require.empty();
    const auto tools = [&](const core::SourceRef& winner, const core::Measured& measured) {
      return RunAcceptanceTools({.device = run_.workspace.device(),
                                 .spec = spec,
                                 .policy = task.policy,
                                 .original = task.original,
                                 .judge = *judge,
                                 .candidates = candidates.evaluator,
                                 .worker = run_.services.tools_worker ? &*run_.services.tools_worker : nullptr,
                                 .deadline = deadline},
                                winner, measured);
    };
    const search::RefineServices services{.judge = *judge,
                                          .candidates = candidates.evaluator,
                                          .skills = run_.skills,
                                          .experience = run_.services.experience,
                                          .trajectory = trajectory,
                                          .clock = run_.services.clock,
                                          .fresh_worker = candidates.restart,
                                          .progress = run_.services.progress.step,
                                          .lift = lift,
                                          .lift_segments = [&] { return lifted.GetSegments(); },
                                          .tools = asks_tools ? AskTools(tools) : AskTools(),
                                          .warn = run_.services.progress.line,
                                          .team = TeamFor(task),
                                          .deadline = deadline,
                                          .began = began};
    WW_ASSIGN(const search::RefineResult refined, search::Refine(task, services));
    WW_ASSIGN(const memory::TrajectoryView view, trajectory.View(refined.task));
    OptimizedKernel kernel = Outcome(spec, refined, spent_before);
    kernel.asked = llm::SpendingOf(view);
    WW_ASSIGN(const auto drafts, WriteDraftCards(trajectory, view, run_.skills, run_.workspace.state() / "drafts"));
    for (const fs::path& draft : drafts) {
      kernel.drafts.push_back(draft.string());
      run_.services.progress.line(
          fmt::format("{}: a new method; its draft, to be read and accepted (`warpwright skills accept`): {}",
                      spec.name, draft.string()));
    }
    const bool improved = kernel.outcome == core::TaskOutcome::kImproved;
    report::Explanation& explanation = kernel.summary.explanation;
    explanation = ExplanationOf(spec, view, original.text, improved ? refined.text : std::string());
    if (kernel.outcome == core::TaskOutcome::kUnfinished) explanation.outcome_reason = kernel.message;
    if (improved && run_.request.make_branches) WW_TRY(MakeBranch(spec, refined, kernel));
    return kernel;
  }

 private:
  search::RefineTask TaskFor(const core::KernelSpec& spec, const core::SourceRef& original) const {
    search::RefineTask task{.spec = spec,
                            .original = original,
                            .policy = run_.manifest.policy,
                            .chip = run_.workspace.device().chip,
                            .device = run_.workspace.device().name,
                            .config_digest = {},
                            .toolchain = run_.toolchain,
                            .version = run_.request.version};
    if (run_.request.max_rounds > 0) task.policy.max_rounds = run_.request.max_rounds;
    if (run_.request.max_minutes > 0) task.policy.max_minutes = run_.request.max_minutes;
    base::Hasher inputs;
    inputs.Add(run_.request.version)
        .Add(run_.toolchain)
        .Add(run_.skills.digest)
        .Add(run_.manifest.digest)
        .Add(run_.commit)
        .Add(fmt::format("{} {}", task.policy.max_rounds, task.policy.min_speedup));
    if (!run_.services.team.digest.empty()) inputs.Add(run_.services.team.digest);
    task.config_digest = inputs.Finish();
    return task;
  }

  std::function<Result<agents::Team>(memory::Journal&)> TeamFor(const search::RefineTask& task) const {
    if (!run_.services.team.make) return {};
    const std::string account =
        base::Hasher().Add(task.spec.name).Add(task.original.text).Add(task.device).Add(task.config_digest).Finish();
    return [this, account](memory::Journal& journal) { return run_.services.team.make(account, journal); };
  }

  std::map<std::string, double> Spent() const {
    return run_.services.seconds ? run_.services.seconds() : std::map<std::string, double>();
  }

  std::map<std::string, double> SpentSince(const std::map<std::string, double>& before) const {
    std::map<std::string, double> spent = Spent();
    for (auto& [stage, seconds] : spent)
      if (const auto found = before.find(stage); found != before.end()) seconds -= found->second;
    return spent;
  }

  OptimizedKernel Outcome(const core::KernelSpec& spec, const search::RefineResult& refined,
                          const std::map<std::string, double>& spent_before) const {
    OptimizedKernel kernel;
    kernel.name = spec.name;
    kernel.outcome = refined.result.outcome;
    kernel.message = refined.result.message;
    kernel.gain = refined.result.gain;
    kernel.counts = refined.counts;
    kernel.seconds = refined.seconds;
    kernel.task = refined.task;
    kernel.pending = refined.pending;
    kernel.spent = SpentSince(spent_before);
    kernel.out_of_time = refined.out_of_time;
    if (refined.out_of_time) kernel.message += "; " + WhereTimeWent(kernel.spent, kernel.seconds);
    if (refined.accepted) kernel.cases = CompareCases(refined);
    kernel.roofline_pct_before = refined.roofline_pct_before;
    kernel.roofline_pct_after = refined.roofline_pct_after;
    kernel.summary.provenance = ProvenanceOf(run_.workspace.device(), kernel.seconds);
    return kernel;
  }

  report::Explanation ExplanationOf(const core::KernelSpec& spec, const memory::TrajectoryView& view,
                                    const std::string& original, const std::string& result) const {
    return report::Explain(view, {.file = spec.file,
                                  .entry = spec.entry,
                                  .chip = run_.workspace.device().chip,
                                  .base_commit = run_.commit,
                                  .version = run_.request.version,
                                  .toolchain = run_.toolchain,
                                  .allow = spec.allow,
                                  .tolerance = spec.tolerance,
                                  .original_text = original,
                                  .result_text = result,
                                  .models = ModelUseOf(view)});
  }

  Status MakeBranch(const core::KernelSpec& spec, const search::RefineResult& refined, OptimizedKernel& kernel) {
    const repo::BranchCommit request{.branch = "warpwright/" + spec.name,
                                     .base = run_.commit,
                                     .file = spec.file,
                                     .content = refined.text,
                                     .message = report::RenderCommitMessage(kernel.summary.explanation),
                                     .author = run_.author};
    WW_ASSIGN(const repo::PublishedBranch published, run_.workspace.repository().Publish(request));
    kernel.branch = published.branch;
    kernel.commit = published.commit;
    report::Provenance& provenance = kernel.summary.provenance;
    provenance.branch = published.branch;
    provenance.base_branch = run_.request.base_branch;
    provenance.candidate_commit = published.commit;
    WW_ASSIGN(const std::string diff, run_.workspace.repository().Diff(run_.commit, published.commit, spec.file));
    report::AddDiff(diff, provenance);
    return {};
  }

  const OptimizeRun& run_;
};

}  // namespace

report::Provenance ProvenanceOf(const TargetDevice& device, double seconds) {
  report::Provenance provenance;
  if (!device.gpu) return provenance;
  provenance.device_uuid = device.gpu->uuid;
  provenance.driver = DriverText(*device.gpu);
  provenance.gpu_minutes = seconds / 60;
  return provenance;
}

OptimizedKernel WithoutTask(const TargetDevice& device, const core::KernelSpec& spec, core::TaskOutcome outcome,
                            std::string message) {
  OptimizedKernel kernel;
  kernel.name = spec.name;
  kernel.outcome = outcome;
  kernel.message = std::move(message);
  kernel.summary.explanation = {.kernel = spec.name,
                                .file = spec.file,
                                .entry = spec.entry,
                                .device = device.name,
                                .chip_name = device.chip.name,
                                .modelled = !device.gpu,
                                .outcome = kernel.outcome,
                                .outcome_reason = kernel.message};
  return kernel;
}

Result<OptimizedKernel> OptimizeKernel(const OptimizeRun& run, const core::KernelSpec& spec,
                                       memory::Trajectory& trajectory) {
  return KernelTask(run).Optimize(spec, trajectory);
}

}  // namespace warpwright::app
