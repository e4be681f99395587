#include "app/optimize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "app/carry_over.h"
#include "app/changed_entries.h"
#include "app/optimize_kernel.h"
#include "core/quantity.h"
#include "judge/source_file.h"

namespace warpwright::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeptTasksPerKernel = 100;

// Messages stand in tables and in lists, where a line break is a character that nobody can read.
std::string InOneLine(const std::string& message, const std::string& remedy) {
  return remedy.empty() ? message : message + "; remedy: " + remedy;
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
      : run_{.workspace = workspace, .request = request, .services = services}, progress_(services.progress) {}

  Result<std::vector<OptimizedKernel>> Run() {
    WW_ASSIGN(run_.commit, run_.workspace.repository().Resolve(run_.request.revision));
    WW_ASSIGN(run_.manifest, run_.workspace.ManifestAt(run_.commit));
    MentionUnanswered(run_.manifest, progress_);
    WW_ASSIGN(run_.author, AuthorOf(run_.workspace.repository(), run_.request.author));
    WW_ASSIGN(run_.tree, run_.workspace.ExportTree(run_.commit));
    WW_ASSIGN(run_.toolchain, run_.services.toolchain());
    WW_ASSIGN(run_.skills, run_.services.skills());
    WW_TRY(MentionUncommitted());
    if (!run_.request.changed_since.empty()) WW_TRY(KeepChanged());
    KeepShard();
    if (run_.request.detect_only) return Detected();
    std::vector<OptimizedKernel> kernels;
    if (!(run_.manifest.kernels.empty() && moved_.empty()) && run_.services.publisher) {
      WW_ASSIGN(publisher_, run_.services.publisher(run_.author));
      run_.author = publisher_->author();
      if (!run_.request.changed_since.empty()) DropOurMerged();
      for (const core::KernelSpec& spec : moved_) WW_TRY(CarryIfConflicting(spec, kernels));
    }
    if (!run_.request.changed_since.empty() && run_.request.find_regressions) WW_TRY(FindRegressions());
    WW_ASSIGN(memory::Trajectory trajectory, run_.workspace.OpenTrajectory());
    for (const auto& spec : run_.manifest.kernels) {
      if (run_.services.began) run_.services.began(spec.name);
      kernels.push_back(OptimizeOne(spec, trajectory));
    }
    WW_TRY(ForgetOldTasks(trajectory));
    return kernels;
  }

 private:
  // A commit is optimized, never the working tree; who edits there should know.
  Status MentionUncommitted() {
    const repo::Repository& repository = run_.workspace.repository();
    WW_ASSIGN(const std::string head, repository.bare() ? Result<std::string>("") : repository.Resolve("HEAD"));
    if (head != run_.commit) return {};
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

  // Drops the kernels that have the same meaning in the other revision, and notes those whose file is another one.
  Status KeepChanged() {
    WW_ASSIGN(const std::string before, run_.workspace.repository().Resolve(run_.request.changed_since));
    WW_ASSIGN(const auto changes, CompareEntries(run_.workspace, run_.manifest, {run_.commit, before, false},
                                                 run_.services.trusted.evaluator));
    std::set<std::string> changed;
    for (size_t i = 0; i < changes.size(); ++i) {
      const core::KernelSpec& spec = run_.manifest.kernels[i];
      if (changes[i].changed) {
        changed.insert(spec.name);
      } else {
        const auto then = run_.workspace.repository().Read(before, spec.file);
        const auto now = run_.workspace.repository().Read(run_.commit, spec.file);
        if (then && now && *then != *now) moved_.push_back(spec);
      }
    }
    KeepKernels(run_.manifest, changed);
    progress_.line(run_.manifest.kernels.empty()
                       ? "no kernel changed since " + run_.request.changed_since
                       : fmt::format("changed since {}: {}", run_.request.changed_since, fmt::join(changed, ", ")));
    return {};
  }

  void KeepShard() {
    std::vector<std::string> names;
    for (const auto& spec : run_.manifest.kernels) names.push_back(spec.name);
    for (const auto& spec : moved_) names.push_back(spec.name);
    const std::vector<std::string> shard = KernelsOfShard(run_.request.shard, names);
    const std::set<std::string> kept(shard.begin(), shard.end());
    KeepKernels(run_.manifest, kept);
    std::erase_if(moved_, [&](const core::KernelSpec& spec) { return kept.count(spec.name) == 0; });
  }

  // The publisher's mirror holds what was published, which a checkout need not.
  Result<Workspace> OnMirror(const std::string& kernel) const {
    WW_ASSIGN(repo::Repository mirror, publisher_->OpenMirror());
    return Workspace(std::move(mirror), run_.workspace.state(), run_.workspace.device(), {kernel});
  }

  // Of a kernel that means what our last result means, the change is that result, merged.
  void DropOurMerged() {
    std::erase_if(run_.manifest.kernels, [&](const core::KernelSpec& spec) {
      const bool merged = IsOurMergedResult(spec);
      if (merged)
        progress_.line(spec.name + ": what changed is warpwright's own result, merged; there is nothing to do");
      return merged;
    });
  }

  // Where that cannot be found out, it is optimized.
  bool IsOurMergedResult(const core::KernelSpec& spec) {
    const auto ours = publisher_->LastResult(spec.name);
    const auto published = OnMirror(spec.name);
    // Of a branch that was squashed and deleted the mirror lacks the commit.
    if (!ours || ours->empty() || !published || !published->repository().Resolve(*ours)) return false;
    core::Manifest one = run_.manifest;
    KeepKernels(one, {spec.name});
    const auto changes = CompareEntries(*published, one, {run_.commit, *ours, false}, run_.services.trusted.evaluator);
    return changes && !changes->front().changed;
  }

  // The pull request of an entry whose file changed around it: if the two conflict, its result is spliced into the new
  // file, verified there and pushed.
  Status CarryIfConflicting(const core::KernelSpec& spec, std::vector<OptimizedKernel>& kernels) {
    WW_ASSIGN(const std::string commit, publisher_->ConflictingResult(spec.name, run_.commit));
    if (commit.empty()) return {};
    progress_.line(spec.name + ": its pull request conflicts with the new " + spec.file + " and is carried over");
    if (run_.services.began) run_.services.began(spec.name);
    auto done = Carry(spec, commit);
    OptimizedKernel kernel = done ? std::move(*done) : Failed(spec, done.error());
    Finish(spec, kernel, /*carried=*/true);
    kernels.push_back(std::move(kernel));
    return {};
  }

  Result<OptimizedKernel> Carry(const core::KernelSpec& spec, const std::string& commit) {
    WW_ASSIGN(Workspace mirror, OnMirror(spec.name));
    WW_ASSIGN(OptimizedKernel kernel, CarryOver(mirror,
                                                {.revision = run_.commit,
                                                 .commit = commit,
                                                 .author = fmt::format("{} <{}>", run_.author.name, run_.author.email),
                                                 .version = run_.request.version},
                                                run_.services));
    // What cannot be carried over is no failure of the step, and says nothing about the kernel.
    if (kernel.outcome != core::TaskOutcome::kImproved)
      return WithoutTask(run_.workspace.device(), spec, core::TaskOutcome::kUnchanged, kernel.message);
    kernel.summary.provenance = ProvenanceOf(run_.workspace.device(), kernel.seconds);
    return kernel;
  }

  std::vector<OptimizedKernel> Detected() const {
    std::vector<OptimizedKernel> kernels;
    for (const auto& spec : run_.manifest.kernels) {
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
    WW_ASSIGN(const std::string before, run_.workspace.repository().Resolve(run_.request.changed_since));
    WW_ASSIGN(const fs::path old_tree, run_.workspace.ExportTree(before));
    nights::NightTimer timer(run_.services.trusted.evaluator, PairTiming(run_.workspace.device(), run_.manifest,
                                                                         run_.tree, run_.services.trusted.restart));
    for (const auto& spec : run_.manifest.kernels) {
      std::error_code error;
      if (!fs::exists(old_tree / spec.file, error)) continue;  // new
      progress_.step(spec.name + ": timing it against " + run_.request.changed_since);
      WW_ASSIGN(const core::SourceRef reference, judge::ReadSource(old_tree, spec));
      WW_ASSIGN(const core::SourceRef present, judge::ReadSource(run_.tree, spec));
      WW_ASSIGN(const auto timed, timer.Compare(spec, reference, present));
      const auto* comparison = std::get_if<nights::NightComparison>(&timed);
      if (comparison == nullptr || comparison->judgement.decision != nights::CodeDecision::kSlower) continue;
      const double slower = regressions_[spec.name] = std::exp(comparison->judgement.log_ratio);
      progress_.line(fmt::format("{}: {:.2f} times slower than in {}", spec.name, slower, run_.request.changed_since));
    }
    progress_.finish();
    return {};
  }

  OptimizedKernel OptimizeOne(const core::KernelSpec& spec, memory::Trajectory& trajectory) {
    auto done = OptimizeKernel(run_, spec, trajectory);
    if (run_.services.deadline != nullptr) run_.services.deadline->Clear();
    progress_.finish();
    OptimizedKernel kernel = done ? std::move(*done) : Failed(spec, done.error());
    if (const auto slower = regressions_.find(spec.name); slower != regressions_.end()) {
      kernel.regression = kernel.summary.regression = slower->second;
      kernel.summary.slower_than = run_.request.changed_since;
    }
    Finish(spec, kernel, /*carried=*/false);
    return kernel;
  }

  void Finish(const core::KernelSpec& spec, OptimizedKernel& kernel, bool carried) {
    Publish(spec, kernel, carried);
    progress_.line(fmt::format(
        "{}: {}{}", spec.name, Name(kernel.outcome),
        kernel.outcome == core::TaskOutcome::kImproved ? ", " + core::FormatGain(kernel.gain) : ": " + kernel.message));
    if (run_.services.ended) run_.services.ended(kernel);
  }

  // What the user's files are to blame for is said of the kernel; all else says nothing about it.
  OptimizedKernel Failed(const core::KernelSpec& spec, Error error) const {
    const bool users = error.code == ErrorCode::kConfig || error.code == ErrorCode::kUnsupported;
    const std::string remedy = std::exchange(error.remedy, {});
    OptimizedKernel failed = WithoutTask(
        run_.workspace.device(), spec, users ? core::TaskOutcome::kRefused : core::TaskOutcome::kError, error.Format());
    failed.error = error.code;
    failed.summary.explanation.remedy = remedy;
    failed.message = InOneLine(failed.message, remedy);
    return failed;
  }

  void Publish(const core::KernelSpec& spec, OptimizedKernel& kernel, bool carried) {
    if (!publisher_) return;
    progress_.step(spec.name + ": publishing");
    auto done = publisher_->Publish({.kernel = spec.name,
                                     .file = spec.file,
                                     .base_commit = run_.commit,
                                     .commit = kernel.commit,
                                     .explanation = kernel.summary.explanation,
                                     .provenance = kernel.summary.provenance,
                                     .policy = run_.manifest.pull_requests,
                                     .carried = carried});
    progress_.finish();
    PublicationOutcome& outcome = kernel.publication;
    if (!done) {
      outcome.failed = true;
      Error error = done.error();
      const std::string remedy = std::exchange(error.remedy, {});
      outcome.message = InOneLine(error.Format(), remedy);
      kernel.summary.publication_error = outcome.message;
      return;
    }
    outcome = std::move(*done);
    kernel.summary.pull_request_url = outcome.pull_request_url;
    kernel.summary.pull_request_operation = outcome.pull_request_operation;
  }

  OptimizeRun run_;
  const ProgressCallbacks& progress_;
  std::unique_ptr<ResultPublisher> publisher_;
  std::vector<core::KernelSpec> moved_;        // unchanged since then, in a file that changed
  std::map<std::string, double> regressions_;  // times slower, by kernel
};

}  // namespace

Result<std::vector<OptimizedKernel>> OptimizeKernels(Workspace& workspace, const OptimizeRequest& request,
                                                     const OptimizeServices& services) {
  return Optimization(workspace, request, services).Run();
}

}  // namespace warpwright::app
