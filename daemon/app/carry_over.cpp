#include "app/carry_over.h"

#include <fmt/format.h>

#include <filesystem>

#include "agents/generator.h"
#include "agents/optimizer.h"
#include "app/changed_entries.h"
#include "app/task_explanation.h"
#include "core/quantity.h"
#include "judge/source_file.h"
#include "memory/journal.h"
#include "report/explain.h"
#include "search/steps.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

// Ends the work: `why` is the outcome's message.
struct Ended {
  core::TaskOutcome outcome = core::TaskOutcome::kRefused;
  std::string why;
};
template <typename T>
using OrEnded = std::variant<T, Ended>;

class Carrying {
 public:
  Carrying(Workspace& workspace, const CarryRequest& request, const OptimizeServices& services)
      : workspace_(workspace), request_(request), services_(services) {}

  Result<OptimizedKernel> Run() {
    const repo::Repository& repository = workspace_.repository();
    WW_ASSIGN(commit_, repository.Resolve(request_.revision));
    WW_ASSIGN(old_base_, repository.Resolve(request_.commit + "^"));
    WW_ASSIGN(manifest_, workspace_.ManifestAt(commit_));
    if (manifest_.kernels.size() != 1) return Fail(ErrorCode::kUsage, "--carry works on one kernel: name it");
    WW_ASSIGN(tree_, workspace_.ExportTree(commit_));
    WW_ASSIGN(toolchain_, services_.toolchain());
    WW_ASSIGN(memory::Trajectory trajectory, workspace_.OpenTrajectory());
    WW_ASSIGN(original_, judge::ReadSource(tree_, spec()));

    OptimizedKernel kernel;
    kernel.name = spec().name;
    WW_ASSIGN(const auto winner, FindWinner(trajectory, kernel.task));
    if (const auto* ended = std::get_if<Ended>(&winner)) return End(std::move(kernel), *ended);
    WW_ASSIGN(const auto spliced, Splice(std::get<core::Candidate>(winner)));
    if (const auto* ended = std::get_if<Ended>(&spliced)) return End(std::move(kernel), *ended);
    const auto& carried = std::get<core::Candidate>(spliced);
    WW_ASSIGN(const auto refusal, Judge(carried, trajectory, kernel));
    if (refusal) return End(std::move(kernel), *refusal);
    WW_TRY(trajectory.PutCandidate(kernel.task, carried));  // for the next time that it is carried
    WW_TRY(MakeBranch(trajectory, carried, kernel));
    kernel.outcome = core::TaskOutcome::kImproved;
    return kernel;
  }

 private:
  const core::KernelSpec& spec() const { return manifest_.kernels.front(); }
  static OptimizedKernel End(OptimizedKernel kernel, const Ended& ended) {
    kernel.outcome = ended.outcome;
    kernel.message = ended.why;
    return kernel;
  }
  static Ended Refuse(std::string why) { return {core::TaskOutcome::kRefused, std::move(why)}; }

  // What the branch holds, and the task that found it.
  Result<OrEnded<core::Candidate>> FindWinner(memory::Trajectory& trajectory, memory::TaskId& task) {
    WW_ASSIGN(const auto changes,
              CompareEntries(workspace_, manifest_, {commit_, old_base_, false}, services_.trusted.evaluator));
    if (changes.front().changed) return Refuse("the kernel itself changed: " + changes.front().reason);
    WW_ASSIGN(const auto text, workspace_.repository().Read(request_.commit, spec().file));
    WW_ASSIGN(const auto before, workspace_.repository().Read(old_base_, spec().file));
    if (!text || !before) return Refuse(spec().file + " is another file than the one that was made faster");
    before_ = *before;
    const std::string hash = agents::Original(*text).hash;
    WW_ASSIGN(const auto tasks, trajectory.Tasks());
    for (const memory::TaskSummary& one : tasks) {
      if (one.key.kernel != spec().name || !one.result || one.result->outcome != core::TaskOutcome::kImproved) continue;
      WW_ASSIGN(auto found, trajectory.FindCandidate(one.id, hash));
      if (!found) continue;
      task = one.id;
      return std::move(*found);
    }
    return Refuse("how it was found is no longer stored");
  }

  Result<OrEnded<core::Candidate>> Splice(const core::Candidate& winner) {
    services_.progress.step("splicing the result into the new " + spec().file);
    services_.candidates.restart();
    // What else changed in the file since must not count as the winner's change; where a merge cannot tell, the
    // winner's own file is tried.
    const auto merged = repo::Repository::ApplyChanges(before_, original_.text, winner.text);
    Ended refusal;
    for (const std::string& text : {merged ? *merged : winner.text, winner.text}) {
      WW_ASSIGN(const core::SpliceOutcome outcome,
                services_.candidates.evaluator.Splice({original_, text, spec().entry, /*keeps_comments=*/true}));
      if (const auto* rewritten = std::get_if<core::Rewritten>(&outcome)) {
        core::Candidate carried = agents::MakeCandidate(rewritten->text, winner, winner.method, winner.parameters,
                                                        "spliced into a later version of the file");
        carried.origin = winner.origin;
        return carried;
      }
      refusal = Refuse(core::VerdictMessage(std::get<core::Refused>(outcome)));
    }
    return refusal;
  }

  // nullopt: accepted.
  Result<std::optional<Ended>> Judge(const core::Candidate& carried, memory::Trajectory& trajectory,
                                     OptimizedKernel& kernel) {
    services_.progress.step("verifying it there");
    const auto judge = MakeJudge({.device = workspace_.device(),
                                  .spec = spec(),
                                  .original = original_,
                                  .manifest = manifest_,
                                  .references = tree_,
                                  .toolchain = toolchain_,
                                  .fresh_worker = services_.candidates.restart},
                                 services_.trusted.evaluator);
    if (!fs::exists(tree_ / ".warpwright/references" / spec().name)) WW_TRY(judge->Record());
    const auto begin = services_.clock.Steady();
    WW_ASSIGN(const judge::Baseline baseline, judge->Prepare());
    const auto* before = std::get_if<core::Measured>(&baseline.original);
    if (before == nullptr) return Refuse(core::VerdictMessage(baseline.original));
    const core::SourceRef source = original_.With(carried.text);
    WW_ASSIGN(const core::Verdict verdict,
              judge->Evaluate(source, services_.candidates.evaluator, judge::VerificationLevel::kFull));
    kernel.counts = {.rounds = 0, .attempts = 1, .evaluations = 1};
    kernel.seconds = std::chrono::duration<double>(services_.clock.Steady() - begin).count();
    const auto* after = std::get_if<core::Measured>(&verdict);
    if (after == nullptr) return Refuse(core::VerdictMessage(verdict));
    kernel.gain = core::Speedup(*before, *after);
    const bool decided = !after->decision || *after->decision == core::TimingDecision::kFaster;
    if (!decided || kernel.gain < manifest_.policy.min_speedup ||
        search::WorstCase(*before, *after) < search::kMinCaseGain)
      return Ended{core::TaskOutcome::kUnchanged, "it is no longer faster there: " + core::FormatGain(kernel.gain)};
    const core::Policy& policy = manifest_.policy;
    const auto findings = RunAcceptanceTools({.device = workspace_.device(),
                                              .spec = spec(),
                                              .policy = policy,
                                              .original = original_,
                                              .judge = *judge,
                                              .candidates = services_.candidates.evaluator,
                                              .worker = services_.tools_worker ? &*services_.tools_worker : nullptr},
                                             source, *after);
    if (const auto unheard = core::FirstUnheard(policy.require, findings))
      return Refuse(unheard->tool + ": " + unheard->message);
    for (const core::ToolFinding& finding : findings)
      if (finding.outcome == core::ToolFinding::Outcome::kFound) return Refuse(finding.tool + ": " + finding.message);
    WW_TRY(Remember(trajectory, kernel.task, carried, baseline.original, verdict));
    return std::optional<Ended>();
  }

  // What is proposed is what was measured here, and not what was on the old base.
  Status Remember(memory::Trajectory& trajectory, memory::TaskId task, const core::Candidate& carried,
                  const core::Verdict& before, const core::Verdict& after) const {
    memory::Journal journal(trajectory, task);
    const std::string original = agents::Original(original_.text).hash;
    for (const bool result : {false, true}) {
      memory::StepRecord record;
      record.kind = memory::StepKind::kCarry;
      record.round = memory::kFinalRound;
      record.base = original;
      record.candidate = result ? carried.hash : original;
      record.method = result ? carried.method : std::string(memory::kCarriedFrom);
      record.reason = "measured in " + commit_;
      memory::StepOutcome outcome;
      outcome.candidate = record.candidate;
      outcome.verdict = result ? after : before;
      WW_TRY(journal.Step(record, [&] { return outcome; }));
    }
    return {};
  }

  Status MakeBranch(memory::Trajectory& trajectory, const core::Candidate& carried, OptimizedKernel& kernel) {
    WW_ASSIGN(const memory::TrajectoryView view, trajectory.View(kernel.task));
    WW_ASSIGN(const repo::Signature author, AuthorOf(workspace_.repository(), request_.author));
    kernel.summary.explanation = report::Explain(view, {.file = spec().file,
                                                        .entry = spec().entry,
                                                        .chip = workspace_.device().chip,
                                                        .base_commit = commit_,
                                                        .version = request_.version,
                                                        .toolchain = toolchain_,
                                                        .allow = spec().allow,
                                                        .tolerance = spec().tolerance,
                                                        .original_text = original_.text,
                                                        .result_text = carried.text,
                                                        .models = ModelUseOf(view)});
    WW_ASSIGN(const repo::PublishedBranch published,
              workspace_.repository().Publish({.branch = "warpwright/" + spec().name,
                                               .base = commit_,
                                               .file = spec().file,
                                               .content = carried.text,
                                               .message = report::RenderCommitMessage(kernel.summary.explanation),
                                               .author = author}));
    kernel.branch = published.branch;
    kernel.commit = published.commit;
    return {};
  }

  Workspace& workspace_;
  const CarryRequest& request_;
  const OptimizeServices& services_;
  std::string commit_, old_base_, toolchain_, before_;
  core::Manifest manifest_;
  fs::path tree_;
  core::SourceRef original_;
};

}  // namespace

Result<OptimizedKernel> CarryOver(Workspace& workspace, const CarryRequest& request, const OptimizeServices& services) {
  return Carrying(workspace, request, services).Run();
}

}  // namespace warpwright::app
