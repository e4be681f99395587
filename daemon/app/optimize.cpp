#include "app/optimize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/changed_entries.h"
#include "app/draft_cards.h"
#include "app/lift.h"
#include "app/task_explanation.h"
#include "app/time_spent.h"
#include "base/hash.h"
#include "judge/source_file.h"
#include "report/diff_summary.h"
#include "report/explain.h"
#include "report/format.h"
#include "search/refine.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeptTasksPerKernel = 100;

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

// A daemon works for months: of each kernel's tasks the newest stay.
Status ForgetOldTasks(memory::Trajectory& trajectory) {
  WW_ASSIGN(const auto tasks, trajectory.Tasks());  // newest first
  std::map<std::string, size_t> seen;
  for (const auto& task : tasks)
    if (++seen[task.key.kernel] > kKeptTasksPerKernel && task.result) WW_TRY(trajectory.DiscardTask(task.id));
  return {};
}

void KeepKernels(core::Manifest& manifest, const std::set<std::string>& names) {
  std::erase_if(manifest.kernels, [&](const core::KernelSpec& spec) { return names.count(spec.name) == 0; });
}

class Optimization {
 public:
  Optimization(Workspace& workspace, const OptimizeRequest& request, const OptimizeServices& services)
      : workspace_(workspace), request_(request), services_(services), progress_(services.progress) {}

  Result<std::vector<OptimizedKernel>> Run() {
    WW_ASSIGN(commit_, workspace_.repository().Resolve(request_.revision));
    WW_ASSIGN(manifest_, workspace_.ManifestAt(commit_));
    MentionUnanswered(manifest_, progress_);
    WW_ASSIGN(author_, AuthorOf(workspace_.repository(), request_.author));
    WW_ASSIGN(tree_, workspace_.ExportTree(commit_));
    WW_ASSIGN(toolchain_, services_.toolchain());
    WW_ASSIGN(skills_, services_.skills());
    WW_ASSIGN(memory::Trajectory trajectory, workspace_.OpenTrajectory());
    WW_TRY(MentionUncommitted());
    if (!request_.changed_since.empty()) WW_TRY(KeepChanged());
    KeepShard();
    if (request_.detect_only) return Detected();
    if (!request_.changed_since.empty() && request_.find_regressions) WW_TRY(FindRegressions());
    if (!manifest_.kernels.empty() && services_.publisher) {
      WW_ASSIGN(publisher_, services_.publisher(author_));
      author_ = publisher_->author();
    }
    std::vector<OptimizedKernel> kernels;
    for (const auto& spec : manifest_.kernels) {
      if (services_.began) services_.began(spec.name);
      kernels.push_back(OptimizeOne(spec, trajectory));
      if (services_.ended) services_.ended(kernels.back());
    }
    WW_TRY(ForgetOldTasks(trajectory));
    return kernels;
  }

 private:
  // A commit is optimized, never the working tree; who edits there should know.
  Status MentionUncommitted() {
    const repo::Repository& repository = workspace_.repository();
    WW_ASSIGN(const std::string head, repository.bare() ? Result<std::string>("") : repository.Resolve("HEAD"));
    if (head != commit_) return {};
    WW_ASSIGN(const auto changed, repository.UncommittedFiles());
    std::vector<std::string> sources;
    for (const std::string& path : changed)
      if (IsSource(path) || path == ".warpwright.yml") sources.push_back(path);
    if (sources.empty()) return {};
    const size_t more = sources.size() > 3 ? sources.size() - 3 : 0;
    sources.resize(sources.size() - more);
    progress_.line(fmt::format("note: uncommitted changes are not part of it: {}{}", fmt::join(sources, ", "),
                               more > 0 ? fmt::format(" and {} more", more) : ""));
    return {};
  }

  // Drops the kernels that have the same meaning in the other revision.
  Status KeepChanged() {
    WW_ASSIGN(const std::string before, workspace_.repository().Resolve(request_.changed_since));
    WW_ASSIGN(const auto changes,
              CompareEntries(workspace_, manifest_, {commit_, before, false}, services_.trusted.evaluator));
    std::set<std::string> changed;
    for (const auto& change : changes)
      if (change.changed) changed.insert(change.kernel);
    KeepKernels(manifest_, changed);
    progress_.line(manifest_.kernels.empty()
                       ? "no kernel changed since " + request_.changed_since
                       : fmt::format("changed since {}: {}", request_.changed_since, fmt::join(changed, ", ")));
    return {};
  }

  void KeepShard() {
    std::vector<std::string> names;
    for (const auto& spec : manifest_.kernels) names.push_back(spec.name);
    const std::vector<std::string> kept = KernelsOfShard(request_.shard, names);
    KeepKernels(manifest_, {kept.begin(), kept.end()});
  }

  std::vector<OptimizedKernel> Detected() const {
    std::vector<OptimizedKernel> kernels;
    for (const auto& spec : manifest_.kernels) {
      OptimizedKernel kernel;
      kernel.name = spec.name;
      kernel.outcome = core::TaskOutcome::kDetected;
      kernel.message = spec.file + " " + spec.entry;
      kernels.push_back(std::move(kernel));
    }
    return kernels;
  }

  // Entries that the change since `changed_since` made slower: both revisions are timed in pairs, as in nightly runs.
  Status FindRegressions() {
    WW_ASSIGN(const std::string before, workspace_.repository().Resolve(request_.changed_since));
    WW_ASSIGN(const fs::path old_tree, workspace_.ExportTree(before));
    nights::NightTimer timer(services_.trusted.evaluator,
                             PairTiming(workspace_.device(), manifest_, tree_, services_.trusted.restart));
    for (const auto& spec : manifest_.kernels) {
      std::error_code error;
      if (!fs::exists(old_tree / spec.file, error)) continue;  // new
      progress_.step(spec.name + ": timing it against " + request_.changed_since);
      WW_ASSIGN(const core::SourceRef reference, judge::ReadSource(old_tree, spec));
      WW_ASSIGN(const core::SourceRef present, judge::ReadSource(tree_, spec));
      WW_ASSIGN(const auto timed, timer.Compare(spec, reference, present));
      const auto* comparison = std::get_if<nights::NightComparison>(&timed);
      if (comparison == nullptr || comparison->judgement.decision != nights::CodeDecision::kSlower) continue;
      const double slower = regressions_[spec.name] = std::exp(comparison->judgement.log_ratio);
      progress_.line(fmt::format("{}: {:.2f} times slower than in {}", spec.name, slower, request_.changed_since));
    }
    progress_.finish();
    return {};
  }

  OptimizedKernel OptimizeOne(const core::KernelSpec& spec, memory::Trajectory& trajectory) {
    auto done = RefineKernel(spec, trajectory);
    if (services_.deadline != nullptr) services_.deadline->Clear();
    progress_.finish();
    OptimizedKernel kernel = done ? std::move(*done) : Failed(spec, done.error());
    if (const auto slower = regressions_.find(spec.name); slower != regressions_.end()) {
      kernel.regression = kernel.summary.regression = slower->second;
      kernel.summary.slower_than = request_.changed_since;
    }
    Publish(spec, kernel);
    progress_.line(fmt::format("{}: {}{}", spec.name, Name(kernel.outcome),
                               kernel.outcome == core::TaskOutcome::kImproved ? fmt::format(", {:.2f}x", kernel.gain)
                                                                              : ": " + kernel.message));
    return kernel;
  }

  OptimizedKernel Failed(const core::KernelSpec& spec, const Error& error) const {
    OptimizedKernel failed = WithoutTask(spec, core::TaskOutcome::kError, error.Format());
    failed.error = error.code;
    return failed;
  }

  OptimizedKernel WithoutTask(const core::KernelSpec& spec, core::TaskOutcome outcome, std::string message) const {
    OptimizedKernel kernel;
    kernel.name = spec.name;
    kernel.outcome = outcome;
    kernel.message = std::move(message);
    const TargetDevice& device = workspace_.device();
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

  search::RefineTask TaskFor(const core::KernelSpec& spec, const core::SourceRef& original) const {
    search::RefineTask task{.spec = spec,
                            .original = original,
                            .policy = manifest_.policy,
                            .chip = workspace_.device().chip,
                            .device = workspace_.device().name,
                            .config_digest = {},
                            .toolchain = toolchain_,
                            .version = request_.version};
    if (request_.max_rounds > 0) task.policy.max_rounds = request_.max_rounds;
    if (request_.max_minutes > 0) task.policy.max_minutes = request_.max_minutes;
    base::Hasher inputs;
    inputs.Add(request_.version)
        .Add(toolchain_)
        .Add(skills_.digest)
        .Add(manifest_.digest)
        .Add(commit_)
        .Add(fmt::format("{} {}", task.policy.max_rounds, task.policy.min_speedup));
    if (!services_.team.digest.empty()) inputs.Add(services_.team.digest);
    task.config_digest = inputs.Finish();
    return task;
  }

  Result<OptimizedKernel> RefineKernel(const core::KernelSpec& spec, memory::Trajectory& trajectory) {
    WW_TRY(workspace_.repository().Read(commit_, spec.file));  // reports a file in a submodule or in Git LFS
    WW_ASSIGN(const core::SourceRef original, judge::ReadSource(tree_, spec));
    const search::RefineTask task = TaskFor(spec, original);
    if (request_.again)
      WW_TRY(Forget(trajectory, {.kernel = spec.name,
                                 .base_hash = base::Sha256(original.text),
                                 .device = task.device,
                                 .config_digest = task.config_digest}));

    const auto began = services_.clock.Steady();
    base::Deadline* const deadline = services_.deadline;
    if (deadline != nullptr)
      deadline->Set(began + std::chrono::milliseconds(std::llround(60'000 * task.policy.max_minutes)));
    const RestartableEvaluator& candidates = services_.candidates;
    // Once, for the judge and for the trajectory.
    LiftOnce lifted(workspace_.device(), spec, original, services_.trusted.evaluator, services_.another);
    const auto lift = [&] { return lifted.Get(); };
    const auto judge = MakeJudge({.device = workspace_.device(),
                                  .spec = spec,
                                  .original = original,
                                  .manifest = manifest_,
                                  .references = tree_,
                                  .toolchain = toolchain_,
                                  .fresh_worker = candidates.restart,
                                  .lift = lift,
                                  .draw_secret = services_.team.draw_secret,
                                  .another = services_.another},
                                 services_.trusted.evaluator);
    const auto spent_before = Spent();
    const fs::path references = tree_ / ".warpwright/references" / spec.name;
    if (!fs::exists(references)) {
      progress_.step(spec.name + ": recording references from " + commit_.substr(0, 12));
      if (const auto recorded = judge->Record(); !recorded) {
        std::error_code ignored;
        fs::remove_all(references, ignored);  // what is there is not all
        if (deadline == nullptr || !deadline->broke_off()) return Fail(recorded.error());
        return WithoutTask(spec, core::TaskOutcome::kUnchanged,
                           fmt::format("nothing was tried: the limit of {:g} minutes was over before references were "
                                       "recorded; {}",
                                       task.policy.max_minutes,
                                       WhereTimeWent(SpentSince(spent_before), 60 * task.policy.max_minutes)));
      }
    }
    // On a simulated device only where the repository asks for it: it is for trying out, and nvcc takes seconds.
    const bool asks_tools = workspace_.device().gpu || !task.policy.require.empty();
    const auto tools = [&](const core::SourceRef& winner, const core::Measured& measured) {
      return RunAcceptanceTools({.device = workspace_.device(),
                                 .spec = spec,
                                 .policy = task.policy,
                                 .original = task.original,
                                 .judge = *judge,
                                 .candidates = candidates.evaluator,
                                 .worker = services_.tools_worker ? &*services_.tools_worker : nullptr,
                                 .deadline = deadline},
                                winner, measured);
    };
    const search::RefineServices services{.judge = *judge,
                                          .candidates = candidates.evaluator,
                                          .skills = skills_,
                                          .experience = services_.experience,
                                          .trajectory = trajectory,
                                          .clock = services_.clock,
                                          .fresh_worker = candidates.restart,
                                          .progress = progress_.step,
                                          .lift = lift,
                                          .tools = asks_tools ? AskTools(tools) : AskTools(),
                                          .warn = progress_.line,
                                          .team = TeamFor(task),
                                          .deadline = deadline,
                                          .began = began};
    WW_ASSIGN(const search::RefineResult refined, search::Refine(task, services));
    WW_ASSIGN(const memory::TrajectoryView view, trajectory.View(refined.task));
    OptimizedKernel kernel = Outcome(spec, refined, spent_before);
    kernel.asked = llm::SpendingOf(view);
    WW_ASSIGN(const auto drafts, WriteDraftCards(trajectory, view, skills_, workspace_.state() / "drafts"));
    for (const fs::path& draft : drafts) {
      kernel.drafts.push_back(draft.string());
      progress_.line(
          fmt::format("{}: a new method; its draft, to be read and accepted (`warpwright skills accept`): {}",
                      spec.name, draft.string()));
    }
    const bool improved = kernel.outcome == core::TaskOutcome::kImproved;
    kernel.summary.explanation = ExplanationOf(spec, view, original.text, improved ? refined.text : std::string());
    if (improved && request_.make_branches) WW_TRY(MakeBranch(spec, refined, kernel));
    return kernel;
  }

  std::function<Result<agents::Team>(memory::Journal&)> TeamFor(const search::RefineTask& task) const {
    if (!services_.team.make) return {};
    const std::string account =
        base::Hasher().Add(task.spec.name).Add(task.original.text).Add(task.device).Add(task.config_digest).Finish();
    return [this, account](memory::Journal& journal) { return services_.team.make(account, journal); };
  }

  std::map<std::string, double> Spent() const {
    return services_.seconds ? services_.seconds() : std::map<std::string, double>();
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
    if (refined.out_of_time) kernel.message += "; " + WhereTimeWent(kernel.spent, kernel.seconds);
    if (refined.accepted) kernel.cases = CompareCases(refined);
    kernel.roofline_pct_before = refined.roofline_pct_before;
    kernel.roofline_pct_after = refined.roofline_pct_after;
    if (const auto& gpu = workspace_.device().gpu) {
      report::Provenance& provenance = kernel.summary.provenance;
      provenance.device_uuid = gpu->uuid;
      provenance.driver = DriverText(*gpu);
      provenance.gpu_minutes = kernel.seconds / 60;
    }
    return kernel;
  }

  report::Explanation ExplanationOf(const core::KernelSpec& spec, const memory::TrajectoryView& view,
                                    const std::string& original, const std::string& result) const {
    return report::Explain(view, {.file = spec.file,
                                  .entry = spec.entry,
                                  .chip = workspace_.device().chip,
                                  .base_commit = commit_,
                                  .version = request_.version,
                                  .toolchain = toolchain_,
                                  .allow = spec.allow,
                                  .tolerance = spec.tolerance,
                                  .original_text = original,
                                  .result_text = result,
                                  .models = ModelUseOf(view)});
  }

  Status MakeBranch(const core::KernelSpec& spec, const search::RefineResult& refined, OptimizedKernel& kernel) {
    const repo::BranchCommit request{.branch = "warpwright/" + spec.name,
                                     .base = commit_,
                                     .file = spec.file,
                                     .content = refined.text,
                                     .message = report::RenderCommitMessage(kernel.summary.explanation),
                                     .author = author_};
    WW_ASSIGN(const repo::PublishedBranch published, workspace_.repository().Publish(request));
    kernel.branch = published.branch;
    kernel.commit = published.commit;
    report::Provenance& provenance = kernel.summary.provenance;
    provenance.branch = published.branch;
    provenance.base_branch = request_.base_branch;
    provenance.candidate_commit = published.commit;
    WW_ASSIGN(const std::string diff, workspace_.repository().Diff(commit_, published.commit, spec.file));
    report::AddDiff(diff, provenance);
    return {};
  }

  void Publish(const core::KernelSpec& spec, OptimizedKernel& kernel) {
    if (!publisher_) return;
    progress_.step(spec.name + ": publishing");
    auto done = publisher_->Publish({.kernel = spec.name,
                                     .file = spec.file,
                                     .base_commit = commit_,
                                     .commit = kernel.commit,
                                     .explanation = kernel.summary.explanation,
                                     .provenance = kernel.summary.provenance,
                                     .policy = manifest_.pull_requests});
    progress_.finish();
    PublicationOutcome& outcome = kernel.publication;
    if (!done) {
      outcome.failed = true;
      outcome.message = done.error().Format();
      kernel.summary.publication_error = outcome.message;
      return;
    }
    outcome = std::move(*done);
    kernel.summary.pull_request_url = outcome.pull_request_url;
    kernel.summary.pull_request_operation = outcome.pull_request_operation;
  }

  Workspace& workspace_;
  const OptimizeRequest& request_;
  const OptimizeServices& services_;
  const ProgressCallbacks& progress_;
  std::unique_ptr<ResultPublisher> publisher_;
  std::map<std::string, double> regressions_;  // times slower, by kernel
  std::string commit_, toolchain_;
  core::Manifest manifest_;
  repo::Signature author_;
  fs::path tree_;
  skills::SkillLibrary skills_;
};

}  // namespace

Result<std::vector<OptimizedKernel>> OptimizeKernels(Workspace& workspace, const OptimizeRequest& request,
                                                     const OptimizeServices& services) {
  return Optimization(workspace, request, services).Run();
}

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
    const report::Explanation e = report::Explain(*view, {.chip = workspace.device().chip, .models = ModelUseOf(*view)});
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

std::string_view RunResult(const std::vector<OptimizedKernel>& kernels) {
  const auto any = [&](auto is) { return std::any_of(kernels.begin(), kernels.end(), is); };
  const auto came_out = [&](core::TaskOutcome outcome) {
    return any([&](const OptimizedKernel& k) { return k.outcome == outcome; });
  };
  if (kernels.empty() || came_out(core::TaskOutcome::kDetected)) return "skipped";
  if (any([](const OptimizedKernel& k) { return k.regression > 0; })) return "regression";
  if (any([](const OptimizedKernel& k) { return k.publication.failed; })) return "error";
  if (came_out(core::TaskOutcome::kImproved)) return "improved";
  return came_out(core::TaskOutcome::kError) ? "error" : "unchanged";
}

std::vector<report::KernelSummary> Summaries(const std::vector<OptimizedKernel>& kernels) {
  std::vector<report::KernelSummary> summaries;
  for (const OptimizedKernel& kernel : kernels) summaries.push_back(kernel.summary);
  return summaries;
}

}  // namespace warpwright::app
